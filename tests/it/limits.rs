//! `docs/reference/limits.md`: every limit, read from the constants beside their owners.
//!
//! `UPDATE_GOLDEN=1 cargo test --test it limits` writes the page again.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use syn::{BinOp, Expr, ExprLit, ItemConst, Lit, Meta};

use crate::support::assert_page;
use crate::tidy::sources;

const PAGE: &str = "docs/reference/limits.md";

/// The rooms of limits, in the order of the page, with the sources that belong to each.
const ROOMS: [(&str, &[&str]); 10] = [
    ("Calls and programs", &["src/call", "src/exec"]),
    ("The language of lines", &["shell/src"]),
    ("Programs in JavaScript", &["src/code", "src/mcp/code", "src/mcp/surface/code.rs"]),
    ("Messages of the protocol", &["src/mcp"]),
    (
        "Standard input and output",
        &["src/transport/stdio.rs", "src/transport/in_flight.rs", "src/transport/mod.rs", "src/transport/streams.rs"],
    ),
    ("HTTP", &["src/transport/http"]),
    ("Serving and reloading", &["src/serving", "src/command/run"]),
    ("Commands", &["src/command"]),
    ("Importing", &["import/src"]),
    ("Configs, policies and search", &["catalog/src"]),
];

/// Whether a constant of this name is a limit.
fn is_limit(name: &str) -> bool {
    let starts = ["MAX_", "MIN_", "DEFAULT_", "FREE_", "SPARE_"];
    let ends = ["_LIMIT", "_INTERVAL", "_GRACE", "_TTL_MS", "_AGE", "_RETRY", "_SKEW", "_PER_PROGRAM"];
    let is_flag = name.ends_with("_BIT");
    !is_flag && (starts.iter().any(|start| name.starts_with(start)) || ends.iter().any(|end| name.ends_with(end)))
}

/// A constant's value.
#[derive(Clone, Copy)]
enum Value {
    Number(u128),
    Milliseconds(u128),
}

/// Evaluates the arithmetic that limits are written in; `known` holds the constants of the package.
fn evaluate(expression: &Expr, known: &BTreeMap<String, ItemConst>) -> Option<Value> {
    let number = |expression: &Expr| match evaluate(expression, known)? {
        Value::Number(number) => Some(number),
        Value::Milliseconds(_) => None,
    };
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Int(digits), .. }) => digits.base10_parse().ok().map(Value::Number),
        Expr::Paren(inner) => evaluate(&inner.expr, known),
        Expr::Cast(inner) => evaluate(&inner.expr, known),
        Expr::Path(path) => evaluate(&known.get(&path.path.get_ident()?.to_string())?.expr, known),
        Expr::Binary(binary) => {
            let (left, right) = (number(&binary.left)?, number(&binary.right)?);
            Some(Value::Number(match binary.op {
                BinOp::Shl(_) => left << right,
                BinOp::Mul(_) => left * right,
                BinOp::Add(_) => left + right,
                BinOp::Sub(_) => left - right,
                BinOp::Div(_) => left / right,
                _ => return None,
            }))
        }
        // `NonZero::new(N).expect(…)` is N.
        Expr::MethodCall(call) if call.method == "expect" => evaluate(&call.receiver, known),
        Expr::Call(call) => {
            let Expr::Path(function) = &*call.func else { return None };
            let value = number(call.args.first()?)?;
            Some(match function.path.segments.last()?.ident.to_string().as_str() {
                "from_millis" => Value::Milliseconds(value),
                "from_secs" => Value::Milliseconds(1_000 * value),
                "from_mins" => Value::Milliseconds(60_000 * value),
                "from_hours" => Value::Milliseconds(3_600_000 * value),
                "new" => Value::Number(value),
                _ => return None,
            })
        }
        _ => None,
    }
}

/// A value with its unit, as people read it: `64 MiB`, `10 min`, `1,000`.
fn readable(name: &str, value: Value) -> String {
    match value {
        Value::Number(bytes) if name.contains("BYTES") => match bytes {
            _ if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
            _ if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{} KiB", bytes >> 10),
            _ => format!("{} bytes", grouped(bytes)),
        },
        Value::Number(ms) if name.ends_with("_MS") => readable("", Value::Milliseconds(ms)),
        Value::Number(seconds) if name.ends_with("_S") => readable("", Value::Milliseconds(1_000 * seconds)),
        Value::Number(number) => grouped(number),
        Value::Milliseconds(ms) => match ms {
            _ if ms >= 3_600_000 && ms % 3_600_000 == 0 => format!("{} h", ms / 3_600_000),
            _ if ms >= 60_000 && ms % 60_000 == 0 => format!("{} min", ms / 60_000),
            _ if ms >= 1_000 && ms % 1_000 == 0 => format!("{} s", ms / 1_000),
            _ => format!("{ms} ms"),
        },
    }
}

/// Digits in groups of three.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The doc comment of a constant up to its first empty line.
fn description(item: &ItemConst) -> String {
    let lines = item.attrs.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// All constants of the product by file, and all by name.
fn constants() -> (Vec<(String, ItemConst)>, BTreeMap<String, ItemConst>) {
    let mut all = Vec::new();
    for directory in ["src", "shell/src", "import/src", "catalog/src"] {
        for (file, text) in sources(directory) {
            let items = syn::parse_file(&text).unwrap().items;
            all.extend(items.into_iter().filter_map(|item| match item {
                syn::Item::Const(item) => Some((file.clone(), item)),
                _ => None,
            }));
        }
    }
    all.sort_by(|(file, one), (other, two)| (file, &one.ident).cmp(&(other, &two.ident)));
    let known = all.iter().map(|(_, item)| (item.ident.to_string(), item.clone())).collect();
    (all, known)
}

fn page() -> String {
    let (all, known) = constants();
    let mut rooms: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for (file, item) in &all {
        let name = item.ident.to_string();
        let Some(value) = evaluate(&item.expr, &known).filter(|_| is_limit(&name)) else { continue };
        let room = ROOMS.iter().position(|(_, sources)| sources.iter().any(|source| file.starts_with(source)));
        let room = room.unwrap_or_else(|| panic!("{file} belongs to no room of the page"));
        let description = description(item);
        assert!(!description.is_empty(), "{file}: {name} has no description");
        let row = format!("| {} | {description} | `{name}` |", readable(&name, value));
        rooms.entry(room).or_default().push(row);
    }
    let mut page =
        "# Limits\n\nEvery bound that is compiled in. `cargo test --test it limits` checks this page against the\n\
        constants, which stand beside the code that they bound.\n"
            .to_owned();
    for (room, rows) in rooms {
        let _ = write!(
            page,
            "\n## {}\n\n| limit | of what | constant |\n|---|---|---|\n{}\n",
            ROOMS[room].0,
            rows.join("\n")
        );
    }
    page
}

#[test]
fn the_reference_page_lists_every_limit() {
    assert_page(PAGE, &page());
}
