//! Args that most tools of a draft have, written once.

use std::collections::{HashMap, HashSet};

use super::tool::Tool;
use crate::arg::{ArgPlace, DraftArg};

/// The fewest tools that share an arg: of fewer, each reads better with args of its own.
const MIN_TOOLS: usize = 10;

/// Takes options that more than half of the tools have in the same words out of these, and returns each once.
///
/// What schemas publish stays, since it is chosen for each tool. A program such as rclone has 645 options for each of its
/// 75 commands.
pub(super) fn parted(tools: &mut [Tool]) -> Vec<DraftArg> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for tool in &*tools {
        for arg in tool.args.iter().filter(|arg| may_be_shared(tool, arg)) {
            *counts.entry(written(arg)).or_default() += 1;
        }
    }
    let of = tools.len();
    counts.retain(|_, count| *count >= MIN_TOOLS && 2 * *count > of);

    let mut shared = Vec::new();
    let mut taken = HashSet::new();
    let mut names: Vec<HashSet<String>> = Vec::new();
    for tool in &mut *tools {
        let args = std::mem::take(&mut tool.args);
        let (out, own): (Vec<_>, Vec<_>) =
            args.into_iter().partition(|arg| may_be_shared(tool, arg) && counts.contains_key(&written(arg)));
        names.push(out.iter().chain(&own).map(|arg| arg.name.clone()).collect());
        tool.args = own;
        shared.extend(out.into_iter().filter(|arg| taken.insert(arg.name.clone())));
    }
    for (tool, has) in tools.iter_mut().zip(names) {
        let lacks = shared.iter().map(|arg: &DraftArg| &arg.name).filter(|name| !has.contains(*name));
        tool.without = lacks.cloned().collect();
    }

    shared
}

/// Whether an arg is an option that no schema publishes and no group of its tool names.
fn may_be_shared(tool: &Tool, arg: &DraftArg) -> bool {
    arg.place == ArgPlace::Option && arg.is_hidden() && !tool.groups_name(&arg.name)
}

/// All that a draft says of an arg.
fn written(arg: &DraftArg) -> String {
    format!("{}{}{}", arg.lines("", ""), arg.guesses.join(" "), arg.source.unwrap_or_default())
}
