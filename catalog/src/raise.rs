//! Views → checked configs. A policy changes them, and they are lowered again.

use crate::checked::{
    self, CheckedArg, CheckedChoice, CheckedCli, CheckedGroup, CheckedOutput, CheckedOutputFile, CheckedQuestion,
    CheckedResolve, CheckedTool, DefaultValue,
};
use crate::executor::{Container, Executor, Sandbox};
use crate::json::json_string;
use crate::model::Type;
use crate::source::{Span, Spanned};
use crate::table::{Catalog, ExecutorDef, Rows};
use crate::view::{ArgView, ChoiceView, CliView, CommandPart, QuestionView, ResolveView, ResolvedTool, RuleView};

/// The span of a value that comes from no file.
const NOWHERE: Span = Span { start: 0, end: 0 };

/// Raises a CLI, without its tools.
pub(crate) fn cli(view: CliView<'_>) -> CheckedCli {
    CheckedCli {
        path: view.stem().to_owned(),
        name: view.name().to_owned(),
        name_span: None,
        stem: view.stem().to_owned(),
        description: view.description().to_owned(),
        category: view.category().map(str::to_owned),
        tags: owned(view.tags()),
        words: view.parts().map(part).collect(),
        programs: view.programs().map(|(spelling, words)| (spelling.to_owned(), words.to_owned())).collect(),
        always: owned(view.always()),
        env: view.env().map(|(name, value)| (name.to_owned(), value.encoded().into_owned())).collect(),
        needs: view.needs(),
        working_dir: view.working_dir().map(str::to_owned),
        global_args: view.global_args().map(arg).collect(),
        tools: Vec::new(),
        prompts: view.prompts().map(|value| Spanned { value, span: NOWHERE }).collect(),
    }
}

/// Raises a tool.
pub(crate) fn tool(view: ResolvedTool<'_>) -> CheckedTool {
    CheckedTool {
        name: view.name().to_owned(),
        name_span: NOWHERE,
        title: view.title().map(str::to_owned),
        description: view.description().to_owned(),
        words: view.parts().map(part).collect(),
        aliases: owned(view.aliases()),
        always: owned(view.always()),
        args: view.args().map(arg).collect(),
        withheld: view.withheld_args().map(arg).collect(),
        groups: view.groups().map(|group| CheckedGroup { kind: group.kind(), args: owned(group.args()) }).collect(),
        timeout_ms: view.timeout_ms(),
        is_long: view.is_long(),
        risk: view.written_risk(),
        needs: view.own_needs(),
        approval_from: view.approval_from(),
        exit_codes: view.exit_codes().map(|(code, meaning)| (code, meaning.to_owned())).collect(),
        phrases: owned(view.phrases()),
        output: view
            .output()
            .map(|mime| CheckedOutput { mime: mime.to_owned(), schema: view.output_schema().map(str::to_owned) }),
        resource: view.resource().map(|uri| Spanned { value: uri.to_owned(), span: NOWHERE }),
        questions: view.questions().map(question).collect(),
        confirm_message: view.confirm_message().map(str::to_owned),
        resolve: view.resolves().map(resolve).collect(),
    }
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
        rules: view.rules().filter(|rule| rule.is_from_policy()).map(RuleView::to_rule).collect(),
        leading_dash: view.leading_dash(),
        asked: view.is_from_user(),
        output: view
            .output()
            .map(|output| CheckedOutputFile { mime: output.mime.to_owned(), file: output.file.to_owned() }),
    }
}

fn choice(view: ChoiceView<'_>) -> CheckedChoice {
    let [title, words] = [view.title, view.written()].map(|text| text.map(str::to_owned));
    CheckedChoice { value: view.value.to_owned(), title, words }
}

fn part(view: CommandPart<'_>) -> checked::CommandPart {
    match view {
        CommandPart::Word(word) => checked::CommandPart::Word(word.to_owned()),
        CommandPart::Arg(name) => checked::CommandPart::Arg(name.to_owned()),
        CommandPart::Options => checked::CommandPart::Options,
    }
}

fn question(view: QuestionView<'_>) -> CheckedQuestion {
    CheckedQuestion { name: view.name().to_owned(), message: view.message().to_owned(), args: owned(view.args()) }
}

fn resolve(view: ResolveView<'_>) -> CheckedResolve {
    CheckedResolve {
        name: view.name().to_owned(),
        words: owned(view.words()),
        args: pairs(view.args()),
        timeout_ms: view.timeout_ms(),
    }
}

fn owned<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    texts.map(str::to_owned).collect()
}

fn pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Raises an executor.
pub(crate) fn executor(catalog: &Catalog, def: ExecutorDef) -> Executor {
    let text = |id| catalog.texts.get(id).to_owned();
    let list = |rows: Rows| catalog.list(rows).map(str::to_owned).collect();
    match def {
        ExecutorDef::Local => Executor::Local,
        ExecutorDef::Container { runtime, image, volumes, working_dir, network } => Executor::Container(Container {
            runtime,
            image: text(image),
            volumes: list(volumes),
            working_dir: working_dir.map(text),
            network: network.map(text),
        }),
        ExecutorDef::Sandbox { read, write, network, limits } => {
            Executor::Sandbox(Sandbox { read: list(read), write: list(write), network, limits })
        }
    }
}
