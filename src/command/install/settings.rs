//! Changes one server in the text of settings, and keeps the rest, with its comments.

use std::fmt;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike};

/// The language of settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON, with comments and trailing commas.
    Json,
    Toml,
}

/// What happens to the entry of a server.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'a> {
    /// These keys get these values. Other keys of an entry stay.
    Set(&'a Map<String, Value>),
    Remove,
}

/// Why settings cannot be changed.
#[derive(Debug)]
pub(super) enum Problem {
    /// The text is not in the language of the settings.
    Syntax(String),
    /// A value is not an object, so that it cannot hold the entry. The path of keys leads to it.
    NoObject(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(f, "{error}"),
            Self::NoObject(path) if path.is_empty() => write!(f, "expected an object, found another value"),
            Self::NoObject(path) => write!(f, "expected an object in `{path}`, found another value"),
        }
    }
}

/// Returns the text of the settings after the change. Text that needs no change is returned as it is.
///
/// # Errors
/// The text is invalid, or holds something else where the servers belong.
pub(super) fn changed(
    format: Format,
    text: &str,
    (servers, name): (&str, &str),
    change: Change<'_>,
) -> Result<String, Problem> {
    match format {
        Format::Json => changed_json(text, servers, name, change),
        Format::Toml => changed_toml(text, servers, name, change),
    }
}

/// Returns the entry of a server; `None` if there is none.
///
/// # Errors
/// The text is invalid.
pub(super) fn entry(format: Format, text: &str, (servers, name): (&str, &str)) -> Result<Option<Value>, Problem> {
    match format {
        Format::Json => Ok(value(text)?.get(servers).and_then(|all| all.get(name)).cloned()),
        Format::Toml => {
            let document = toml_document(text)?;
            let own = document.get(servers).and_then(|all| all.get(name)).and_then(Item::as_table_like);
            let pairs = own.into_iter().flat_map(TableLike::iter);
            let words = pairs.filter_map(|(key, item)| Some((key.to_owned(), json_value(item.as_value()?))));
            Ok(own.map(|_| Value::Object(words.collect())))
        }
    }
}

/// Converts a value of a TOML text. Numbers and dates become texts, because no entry has one that is read.
fn json_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Array(items) => items.iter().map(json_value).collect(),
        toml_edit::Value::Boolean(bool) => (*bool.value()).into(),
        other => other.to_string().into(),
    }
}

/// JSON with comments and trailing commas, and no other liberties.
fn json_options() -> ParseOptions {
    ParseOptions {
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
        ..ParseOptions::default()
    }
}

fn toml_document(text: &str) -> Result<DocumentMut, Problem> {
    text.parse().map_err(|error: toml_edit::TomlError| Problem::Syntax(error.to_string().trim_end().to_owned()))
}

fn changed_json(text: &str, servers: &str, name: &str, change: Change<'_>) -> Result<String, Problem> {
    edited(text, |root| match change {
        Change::Set(entry) => set_json(root, servers, name, entry),
        Change::Remove => remove_json(root, servers, name),
    })
}

/// Returns the text of JSON settings after an edit of their tree.
///
/// # Errors
/// The text is invalid, or the edit finds something else than it needs.
pub(super) fn edited(text: &str, edit: impl FnOnce(&CstObject) -> Result<(), Problem>) -> Result<String, Problem> {
    let root = CstRootNode::parse(text, &json_options()).map_err(|error| Problem::Syntax(error.to_string()))?;
    let object = root.object_value_or_create().ok_or_else(|| Problem::NoObject(String::new()))?;
    edit(&object)?;
    let text = root.to_string();
    Ok(if text.ends_with('\n') { text } else { text + "\n" })
}

/// Returns the value of JSON settings.
///
/// # Errors
/// The text is invalid.
pub(super) fn value(text: &str) -> Result<Value, Problem> {
    let root = CstRootNode::parse(text, &json_options()).map_err(|error| Problem::Syntax(error.to_string()))?;
    Ok(root.to_serde_value().unwrap_or_default())
}

fn set_json(root: &CstObject, servers: &str, name: &str, entry: &Map<String, Value>) -> Result<(), Problem> {
    let no_object = |path: String| move || Problem::NoObject(path);
    let all = root.object_value_or_create(servers).ok_or_else(no_object(servers.to_owned()))?;
    let own = all.object_value_or_create(name).ok_or_else(no_object(format!("{servers}.{name}")))?;

    for (key, value) in entry {
        match own.get(key) {
            Some(found) if found.to_serde_value().as_ref() == Some(value) => {}
            Some(found) => found.set_value(input(value)),
            None => drop(own.append(key, input(value))),
        }
    }

    Ok(())
}

fn remove_json(root: &CstObject, servers: &str, name: &str) -> Result<(), Problem> {
    let Some(property) = root.get(servers) else { return Ok(()) };
    let all = property.object_value().ok_or_else(|| Problem::NoObject(servers.to_owned()))?;
    if let Some(own) = all.get(name) {
        own.remove();
        if all.properties().is_empty() {
            property.remove();
        }
    }

    Ok(())
}

/// Converts a value for the tree of a JSON text.
pub(super) fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(bool) => CstInputValue::Bool(*bool),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            CstInputValue::Object(map.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

fn changed_toml(text: &str, servers: &str, name: &str, change: Change<'_>) -> Result<String, Problem> {
    let mut document = toml_document(text)?;
    match change {
        Change::Set(entry) => set_toml(&mut document, servers, name, entry)?,
        Change::Remove => remove_toml(&mut document, servers, name)?,
    }
    Ok(document.to_string())
}

fn set_toml(root: &mut Table, servers: &str, name: &str, entry: &Map<String, Value>) -> Result<(), Problem> {
    let mut parent = Table::new();
    parent.set_implicit(true);
    let all = root.entry(servers).or_insert(Item::Table(parent));
    let all = all.as_table_like_mut().ok_or_else(|| Problem::NoObject(servers.to_owned()))?;
    let own = all.entry(name).or_insert(Item::Table(Table::new()));
    let own: &mut dyn TableLike =
        own.as_table_like_mut().ok_or_else(|| Problem::NoObject(format!("{servers}.{name}")))?;

    for (key, value) in entry {
        let mut new = toml_value(value);
        match own.get_mut(key).and_then(Item::as_value_mut) {
            Some(found) if is_equal(found, &new) => {}
            Some(found) => {
                *new.decor_mut() = found.decor().clone();
                *found = new;
            }
            None => drop(own.insert(key, Item::Value(new))),
        }
    }

    Ok(())
}

fn remove_toml(root: &mut Table, servers: &str, name: &str) -> Result<(), Problem> {
    let Some(all) = root.get_mut(servers) else { return Ok(()) };
    let all = all.as_table_like_mut().ok_or_else(|| Problem::NoObject(servers.to_owned()))?;
    let is_removed = all.remove(name).is_some();
    if is_removed && all.is_empty() {
        root.remove(servers);
    }
    Ok(())
}

/// Converts a value for the tree of a TOML text, which has no null: entries hold none.
fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(bool) => (*bool).into(),
        Value::Array(items) => items.iter().map(toml_value).collect::<Array>().into(),
        Value::String(text) => text.as_str().into(),
        other => other.to_string().into(),
    }
}

/// Whether two values are equal, however they are written.
fn is_equal(left: &toml_edit::Value, right: &toml_edit::Value) -> bool {
    match (left.as_array(), right.as_array()) {
        (Some(left), Some(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right))
        }
        _ => match (left.as_str(), right.as_str()) {
            (Some(left), Some(right)) => left == right,
            _ => left.as_bool().is_some() && left.as_bool() == right.as_bool(),
        },
    }
}
