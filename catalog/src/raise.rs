//! Rows → checked configs. A policy changes them, and they are lowered again.

use crate::checked::{CheckedArg, CheckedChoice, CheckedOutputFile, DefaultValue};
use crate::executor::{Container, Executor, Sandbox};
use crate::json::json_string;
use crate::model::Type;
use crate::source::Spanned;
use crate::table::{Catalog, CheckedCli, CheckedTool, ExecutorDef, NOWHERE, Stored};
use crate::view::{ArgView, ChoiceView, CliView, ResolvedTool, RuleView};

/// Raises a CLI, without its tools.
pub(crate) fn cli(view: CliView<'_>) -> CheckedCli {
    let path = view.stem().to_owned();
    let prompts = view.prompts().map(|value| Spanned { value, span: NOWHERE }).collect();
    CheckedCli::from_row(view.def(), view.catalog(), path, None, Vec::new(), prompts)
}

/// Raises a tool.
pub(crate) fn tool(view: ResolvedTool<'_>) -> CheckedTool {
    CheckedTool::from_row(view.def(), view.catalog(), NOWHERE)
}

/// Raises an arg.
pub(crate) fn arg(view: ArgView<'_>) -> CheckedArg {
    let default = view.default().map(|word| DefaultValue {
        word: word.to_owned(),
        // Defaults of other types are the same text in JSON.
        json: if view.kind() == Type::String { json_string(word) } else { word.to_owned() },
    });
    CheckedArg {
        name: view.name().to_owned(),
        description: view.description().to_owned(),
        kind: view.kind(),
        required: view.required(),
        default,
        place: view.place(),
        flag: view.flag().to_owned(),
        shape: view.shape(),
        separator: Some(view.separator().to_owned()).filter(|text| !text.is_empty()),
        aliases: owned(view.aliases()),
        off: view.off().map(str::to_owned),
        variable: view.variable().map(str::to_owned),
        choices: view.choices().map(choice).collect(),
        constraint: view.rules().find(|rule| !rule.is_from_policy()).map(RuleView::to_rule).unwrap_or_default(),
        min_items: view.min_items(),
        max_items: view.max_items(),
        shown: view.is_shown(),
        order: view.order(),
        risk: view.risk(),
        sensitive: view.sensitive(),
        rules: view.rules().filter(|rule| rule.is_from_policy()).map(RuleView::to_rule).collect(),
        leading_dash: view.leading_dash(),
        from_user: view.is_from_user(),
        output: view
            .output()
            .map(|output| CheckedOutputFile { mime: output.mime.to_owned(), file: output.file.to_owned() }),
    }
}

fn choice(view: ChoiceView<'_>) -> CheckedChoice {
    let [title, words] = [view.title, view.written()].map(|text| text.map(str::to_owned));
    CheckedChoice { value: view.value.to_owned(), title, words }
}

fn owned<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    texts.map(str::to_owned).collect()
}

/// Raises an executor.
pub(crate) fn executor(catalog: &Catalog, def: ExecutorDef) -> Executor {
    match def {
        ExecutorDef::Local => Executor::Local,
        ExecutorDef::Container { runtime, image, volumes, working_dir, network } => Executor::Container(Container {
            runtime,
            image: String::load(image, catalog),
            volumes: Stored::load(volumes, catalog),
            working_dir: Stored::load(working_dir, catalog),
            network: Stored::load(network, catalog),
        }),
        ExecutorDef::Sandbox { read, write, network, limits } => Executor::Sandbox(Sandbox {
            read: Stored::load(read, catalog),
            write: Stored::load(write, catalog),
            network,
            limits,
        }),
    }
}
