//! The permitted tools, with the rules of a policy in their args.

use super::{ArgPolicy, DIRECTORY, Policy, gets_directory};
use crate::checked::{CheckedArg, CheckedChoice, CommandPart};
use crate::diagnostic::Diagnostics;
use crate::index::{Layer, ToolIndex};
use crate::lower::lower;
use crate::model::{Access, ArgRisk, Order, Place, Risk, Sensitive, Shape, Type};
use crate::prompt::Prompt;
use crate::raise;
use crate::source::Spanned;
use crate::table::{Catalog, CheckedCli, CheckedGroup, CheckedTool};
use crate::view::{ArgView, ResolvedTool};

/// Lowers the permitted tools; the catalog holds the policy `for_good` if there is one.
pub(super) fn lowered(policy: &Policy, index: &ToolIndex, for_good: Option<&Policy>) -> Result<Catalog, Diagnostics> {
    lower(&narrowed(policy, index), for_good.map(Policy::to_checked).as_ref()).map_err(|overflow| {
        let mut all = Diagnostics::default();
        all.push(overflow.diagnostic());
        all
    })
}

/// Returns whether the policy changes anything about the index.
pub(super) fn changes(policy: &Policy, index: &ToolIndex) -> bool {
    let is_changed = |tool: ResolvedTool<'_>| {
        let mut entries = policy.entries(tool.name());
        entries.any(|entry| entry.rule.description.is_some() || !entry.rule.args.is_empty())
            || tool.args().any(|arg| !policy.permits_arg(tool, arg))
    };
    policy.withholds_tools() || index.tools().any(is_changed)
}

/// Returns the index where cages are missing: tools that name one have the risk that they have without it.
///
/// # Errors
/// The tools no longer fit one catalog.
pub fn without_cages(index: &ToolIndex) -> Result<ToolIndex, Diagnostics> {
    let raised = |tool: ResolvedTool<'_>| {
        let needs = tool.needs().filter(|needs| needs.cage.is_some());
        let without = needs.map(|needs| needs.without.unwrap_or(Risk::Destructive));
        let own = raise::tool(tool);
        CheckedTool { risk: own.risk.max(without), ..own }
    };
    let clis = index.groups().map(|(cli, tools)| CheckedCli { tools: tools.map(raised).collect(), ..raise::cli(cli) });
    let catalog = lower(&clis.collect::<Vec<_>>(), None).map_err(|overflow| {
        let mut all = Diagnostics::default();
        all.push(overflow.diagnostic());
        all
    })?;
    Ok(ToolIndex::from_configs(vec![Layer::loaded(catalog)]))
}

/// Returns the permitted tools, with their rules and descriptions.
fn narrowed(policy: &Policy, index: &ToolIndex) -> Vec<CheckedCli> {
    let clis = index.groups().filter_map(|(cli, tools)| {
        let permits = |prompt: &Spanned<Prompt>| policy.permits_prompt(&prompt.value.name);
        let permitted: Vec<CheckedTool> =
            tools.filter(|tool| policy.permits(*tool)).map(|tool| restricted(tool, policy)).collect();
        let was_empty = cli.tool_rows().range().is_empty() && policy.access == Access::Enabled;
        (was_empty || !permitted.is_empty()).then(|| {
            let cli = raise::cli(cli);
            let prompts = cli.prompts.into_iter().filter(permits).collect();
            CheckedCli { tools: permitted, prompts, ..cli }
        })
    });
    clis.collect()
}

/// Adds the rules of a policy to a tool. Rules of an earlier policy remain.
fn restricted(view: ResolvedTool<'_>, policy: &Policy) -> CheckedTool {
    let tool = raise::tool(view);
    let description = policy.entries(view.name()).filter_map(|entry| entry.rule.description.clone()).last();
    let forbidden: Vec<&str> = view.args().filter(|arg| !policy.permits_arg(view, *arg)).map(ArgView::name).collect();
    let permits = |name: &str| !forbidden.contains(&name);
    let group = |mut group: CheckedGroup| {
        group.args.retain(|name| permits(name));
        (group.args.len() > 1).then_some(group)
    };
    let has_place = |part: &CommandPart| !matches!(part, CommandPart::Arg(name) if !permits(name));
    let (permitted, forbidden): (Vec<CheckedArg>, Vec<CheckedArg>) =
        tool.args.into_iter().partition(|arg| permits(&arg.name));
    let args = permitted.into_iter().chain(directory(view, policy));

    CheckedTool {
        approval_from: policy.approval_from(view),
        description: description.unwrap_or(tool.description),
        args: args.map(|arg| with_rules(&policy.arg_policies(view, &arg.name), arg)).collect(),
        withheld: tool.withheld.into_iter().chain(forbidden).collect(),
        groups: tool.groups.into_iter().filter_map(group).collect(),
        words: tool.words.into_iter().filter(has_place).collect(),
        ..tool
    }
}

/// Adds rules to an arg.
fn with_rules(rules: &[&ArgPolicy], mut arg: CheckedArg) -> CheckedArg {
    for own in rules {
        narrow_choices(own, &mut arg);
        arg.rules.extend(Some(own.rule.clone()).filter(|rule| !rule.is_empty()));
        arg.shown = own.shown.unwrap_or(arg.shown || own.required) && own.rule.fixed.is_none();
        if own.required || own.rule.fixed.is_some() {
            arg.required = own.required;
            arg.default = None;
        }
    }

    let allowed = rules.iter().map(|own| own.allow_leading_dash).reduce(|one, other| one || other);
    arg.leading_dash = Some(match arg.leading_dash {
        None => allowed.unwrap_or(false),
        Some(before) => before && allowed.unwrap_or(true),
    });

    arg
}

/// Narrows the values that the schema publishes.
fn narrow_choices(own: &ArgPolicy, arg: &mut CheckedArg) {
    let values = &own.rule.values;
    if values.is_empty() {
        return;
    }

    if !arg.choices.is_empty() {
        arg.choices.retain(|choice| values.contains(&choice.value));
    } else if arg.kind != Type::Boolean && arg.shape != Shape::Count && arg.place != Place::Stdin {
        let choice = |value: &String| CheckedChoice { value: value.clone(), title: None, words: None };
        arg.choices = values.iter().map(choice).collect();
    }
}

/// Returns the arg for the directory, if the policy has a rule for it and the tool has no such arg.
///
/// The schema does not have it. Where the config sets the directory no agent gives it; its rules hold for that directory.
fn directory(tool: ResolvedTool<'_>, policy: &Policy) -> Option<CheckedArg> {
    let is_ruled = !policy.arg_policies(tool, DIRECTORY).is_empty();
    (is_ruled && gets_directory(tool, DIRECTORY)).then(|| CheckedArg {
        name: DIRECTORY.to_owned(),
        description: "Directory to run in".to_owned(),
        kind: Type::String,
        required: false,
        default: None,
        place: Place::Cwd,
        flag: String::new(),
        shape: Shape::Single,
        separator: None,
        aliases: Vec::new(),
        off: None,
        variable: None,
        choices: Vec::new(),
        constraint: super::ArgRule::default(),
        min_items: None,
        max_items: None,
        shown: false,
        order: Order::Defined,
        risk: ArgRisk::OfTool,
        sensitive: Sensitive::Never,
        rules: Vec::new(),
        leading_dash: None,
        from_user: tool.cli().working_dir().is_some(),
        output: None,
    })
}
