//! Reference pages that are made from the program: the command line, and the codes of mistakes and failures.
//!
//! `UPDATE_GOLDEN=1 cargo test --test it _page` writes them again.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use climax::catalog::{CliView, Code, Explanation, Layer, Needs, Phase, ResolvedTool, Risk, Severity, ToolIndex};
use serde_json::Value;
use syn::{Expr, Item, Lit, Meta};

use crate::support::{assert_page, climax, has_default_features, run};

const COMMANDS: &str = "docs/reference/commands.md";
const CODES: &str = "docs/reference/codes.md";
const PROGRAMS: &str = "docs/reference/programs.md";

fn help(words: &[&str]) -> String {
    let (status, said, _) = run(climax().args(words).arg("--help").env_remove("COLUMNS"));
    assert_eq!(status, 0, "{words:?}");
    said.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The names of the subcommands that a help page lists.
fn subcommands(page: &str) -> Vec<&str> {
    let listed = page.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").collect()
}

#[test]
#[cfg_attr(not(has_code), ignore = "the page is that of builds with climax_code")]
fn commands_page_has_the_help_of_each_command() {
    // The page is that of a build with default features.
    if !has_default_features() {
        return;
    }
    let first = help(&[]);
    let mut page = "# Command line\n\nWhat `--help` prints. `cargo test --test it commands_page` checks this page against the program.\n\
        [The contract](../contract.md#command-line) says what commands print and how they exit.\n"
        .to_owned();
    let names = subcommands(&first);
    assert!(names.len() > 10, "{names:?}");
    let _ = write!(page, "\n## climax\n\n```text\n{first}\n```\n");
    // `climax run` is `climax` with the same options.
    for name in names.into_iter().filter(|name| *name != "run") {
        let _ = write!(page, "\n## climax {name}\n\n```text\n{}\n```\n", help(&[name]));
    }
    assert_page(COMMANDS, &page);
}

/// The doc comment of a variant, as one line.
fn doc(attributes: &[syn::Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match &doc.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value().trim().to_owned()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// The codes of failed calls with their descriptions, from the enum that names them.
fn outcomes() -> Vec<(String, String)> {
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/call/outcome.rs")).unwrap();
    let items = syn::parse_file(&source).unwrap().items;
    let codes = items.into_iter().find_map(|item| match item {
        Item::Enum(item) if item.ident == "ErrorCode" => Some(item),
        _ => None,
    });
    let snake = |name: &str| {
        let mut text = String::new();
        for (at, letter) in name.char_indices() {
            if at > 0 && letter.is_uppercase() {
                text.push('_');
            }
            text.extend(letter.to_lowercase());
        }
        text
    };
    codes.unwrap().variants.iter().map(|variant| (snake(&variant.ident.to_string()), doc(&variant.attrs))).collect()
}

fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[test]
fn codes_page_explains_every_code() {
    let mut page = "# Codes\n\nStable words of results and messages, which scripts may rely on. `cargo test --test it codes_page`\n\
        checks this page against the code.\n\n## Failed calls\n\nThe `code` of a failed call's `structuredContent`. [The contract](../contract.md#errors) has the\n\
        texts and the `details`.\n\n| code | when |\n|---|---|\n"
        .to_owned();
    for (code, when) in outcomes() {
        let _ = writeln!(page, "| `{code}` | {} |", cell(&when));
    }
    page += "\n## Mistakes in configs and policies\n\nThe code of a mistake stands in brackets behind its message. `climax validate --explain CODE` adds\n\
        an example. An error cannot be silenced; a warning can, by `x-allow: [CODE]` or `--allow CODE`.\n";
    let kinds = [
        ("Errors", Severity::Error, Phase::Check),
        ("Warnings", Severity::Warning, Phase::Check),
        ("Advice of `--lint`", Severity::Warning, Phase::Lint),
    ];
    for (title, severity, phase) in kinds {
        let _ = write!(page, "\n### {title}\n\n| code | means | why it matters | what to do |\n|---|---|---|---|\n");
        for code in Code::ALL.iter().filter(|code| code.severity() == severity && code.phase() == phase) {
            let Explanation { meaning, why, remedy, .. } = code.explanation();
            let _ = writeln!(page, "| `{code}` | {} | {} | {} |", cell(meaning), cell(why), cell(remedy));
        }
    }
    assert_page(CODES, &page);
}

/// Words in code quotes; a dash if there are none.
fn listed<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.map(|word| format!("`{}`", word.replace('|', "\\|"))).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(" ") }
}

/// What a program needs in any of its reading tools: hosts and sockets, then files and directories.
fn needs_of_reading(cli: CliView<'_>) -> [String; 2] {
    let needs: Vec<Needs> =
        cli.tools().filter(|tool| tool.written_risk() == Some(Risk::Read)).filter_map(ResolvedTool::needs).collect();
    let all = |part: fn(&Needs) -> &Vec<String>| {
        let items: BTreeSet<&str> = needs.iter().flat_map(|needs| part(needs).iter().map(String::as_str)).collect();
        listed(items.into_iter())
    };
    [all(|needs| &needs.network), all(|needs| &needs.write)]
}

/// Reading tools without needs: their programs have rights of their own, which confinement takes away.
const WITH_OWN_RIGHTS: [&str; 63] = [
    "arping_host",
    "at_list",
    "at_show",
    "blkid_show",
    "blockdev_show",
    "chage_show",
    "conntrack_list",
    "crontab_list",
    "dmidecode_show",
    "dumpe2fs_show",
    "e2fsck_check",
    "fdisk_list",
    "hwclock_show",
    "ip6tables_list",
    "ip6tables_rules",
    "ip6tables_save",
    "iptables_list",
    "iptables_rules",
    "iptables_save",
    "lastb_show",
    "lshw_list",
    "lvdisplay_show",
    "lvs_list",
    "mdadm_show",
    "mtr_report",
    "nft_check",
    "nft_get",
    "nft_list",
    "nvidia_smi_show",
    "nvidia_smi_topology",
    "nvme_show",
    "parted_list",
    "parted_print",
    "passwd_status",
    "ping_host",
    "pvdisplay_show",
    "pvs_list",
    "rfkill_list",
    "rfkill_table",
    "screen_list",
    "service_list",
    "service_status",
    "sfdisk_show",
    "sgdisk_show",
    "smartctl_scan",
    "smartctl_show",
    "tcpdump_capture",
    "tcpdump_interfaces",
    "tcpdump_read",
    "tmux_capture",
    "tmux_has",
    "tmux_list",
    "tmux_message",
    "tmux_settings",
    "tune2fs_show",
    "ufw_show",
    "ufw_status",
    "vgdisplay_show",
    "vgs_list",
    "wg_overview",
    "wg_show",
    "wg_showconf",
    "wipefs_show",
];

#[test]
fn programs_page_says_how_each_program_is_held_to_reading() {
    let mut page = "# Bundled programs\n\nTools of each program by risk. The other columns say how tools that only read are restricted: words\n\
        in every command line, variables that are set, and the network and files that confinement permits.\n\
        Tools of risk `write` and `destructive` are confined only with `--confine all`, or in the cage that\n\
        they name.\n\
        [Security](../../SECURITY.md) says what was done against hostile directories.\n\
        `cargo test --test it programs_page` checks this page against the configs.\n\n\
        | program | read | write | destructive | words | variables | network | writes |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    for (cli, _) in index.groups() {
        let [read, write, destructive] = [Risk::Read, Risk::Write, Risk::Destructive]
            .map(|risk| cli.tools().filter(|tool| tool.written_risk() == Some(risk)).count());
        let is_held = |tool: ResolvedTool<'_>| {
            tool.written_risk() != Some(Risk::Read) || tool.needs().is_some() || WITH_OWN_RIGHTS.contains(&tool.name())
        };
        assert!(cli.tools().all(is_held), "a reading tool of {} has no needs", cli.name());
        let words = listed(cli.always());
        let variables: BTreeSet<&str> = cli.env().map(|(name, _)| name).collect();
        let variables = listed(variables.into_iter());
        let [network, writes] = needs_of_reading(cli);
        let name = cli.name();
        let _ = writeln!(
            page,
            "| {name} | {read} | {write} | {destructive} | {words} | {variables} | {network} | {writes} |"
        );
    }
    assert_page(PROGRAMS, &page);
}

/// The keys of one table of a format, by the name of its definition.
fn keys<'a>(schema: &'a Value, table: &str) -> impl Iterator<Item = &'a str> {
    schema["$defs"][table]["properties"].as_object().unwrap().keys().map(String::as_str)
}

#[test]
fn contract_names_every_key_of_configs_and_policies() {
    let contract = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/contract.md")).unwrap();
    let (configs, policies) = contract.split_once("\n## Policy\n").unwrap();
    let schema = |format: &str| -> Value { serde_json::from_str(&run(climax().args(["schema", format])).1).unwrap() };
    let mut missing = Vec::new();
    for (text, format, tables) in [
        (configs, "config", &["config", "tool", "arg", "question", "resolve", "prompt"][..]),
        (policies, "policy", &["policy", "tool", "arg", "approval", "executor", "limits"]),
    ] {
        let schema = schema(format);
        for table in tables {
            let is_named = |key: &str| {
                text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)).any(|code| {
                    code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).any(|word| word == key)
                })
            };
            missing.extend(keys(&schema, table).filter(|key| !is_named(key)).map(|key| format!("{table}.{key}")));
        }
    }
    assert!(missing.is_empty(), "docs/contract.md does not name these keys: {}", missing.join(", "));
}
