//! What tells two catalogs apart.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::index::ToolIndex;
use crate::policy::{Executor, Policy};
use crate::view::ArgView;

/// SHA-256, in hexadecimal, over everything that is served and how: entries, command lines, limits, risks, approval, where
/// programs run; in the order of the tools.
///
/// The same configs and policy give the same digest on every machine, whatever their formatting. That of a compiled-in
/// catalog was computed when it was compiled in.
#[must_use]
pub fn digest<'a>(index: &'a ToolIndex, policy: &Policy) -> Cow<'a, str> {
    let finished = index.whole().filter(|catalog| policy.adds_nothing_to(catalog)).and_then(|catalog| catalog.digest);
    finished.map_or_else(|| computed(index, policy).into(), Cow::Borrowed)
}

fn computed(index: &ToolIndex, policy: &Policy) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for tool in index.tools() {
        let cli = tool.cli();
        add(tool.entry().as_json());
        add(tool.risk().as_str());
        add(&tool.timeout_ms().to_string());
        add(if policy.asks(tool) { "asks" } else { "" });
        add(tool.output().unwrap_or_default());
        add(tool.confirm_message().unwrap_or_default());
        add(tool.resource().unwrap_or_default());
        add(tool.title().unwrap_or_default());
        for question in tool.questions() {
            [question.name(), question.message()].into_iter().chain(question.args()).chain(["\0"]).for_each(&mut add);
        }
        for resolve in tool.resolves() {
            add(resolve.name());
            add(&resolve.timeout_ms().to_string());
            resolve.words().chain(["\0"]).for_each(&mut add);
            resolve.args().flat_map(|(name, value)| [name, value]).for_each(&mut add);
        }
        cli.words().chain(["\0"]).chain(tool.words()).for_each(&mut add);
        tool.args().chain(cli.global_args()).for_each(|arg| add_arg(arg, &mut add));
        cli.env().flat_map(|(name, value)| [name, value]).for_each(&mut add);
        add(cli.working_dir().unwrap_or_default());
    }
    for prompt in index.prompts() {
        add(&prompt.name);
        add(&prompt.to_json());
    }
    add(policy.headless().as_str());
    for text in executor(policy.executor()) {
        add(&text);
    }
    hex::encode(hash.finalize())
}

fn add_arg(arg: ArgView<'_>, add: &mut impl FnMut(&str)) {
    let dash = if arg.leading_dash() == Some(true) { "-" } else { "" };
    for text in [arg.name(), arg.place().as_str(), arg.flag(), arg.default().unwrap_or_default(), dash] {
        add(text);
    }
    if let Some(output) = arg.output() {
        [output.mime, output.file].into_iter().for_each(&mut *add);
    }
    if arg.is_asked() {
        // The schema says nothing of it.
        [arg.kind().as_str(), arg.description()].into_iter().chain(arg.values()).for_each(add);
    }
}

fn executor(executor: &Executor) -> Vec<String> {
    match executor {
        Executor::Local => vec!["local".to_owned()],
        Executor::Container(container) => {
            let image = [container.runtime.as_str(), &container.image].map(str::to_owned);
            let optional = [&container.working_dir, &container.network].map(|text| text.clone().unwrap_or_default());
            image.into_iter().chain(optional).chain(container.volumes.iter().cloned()).collect()
        }
        Executor::Sandbox(sandbox) => {
            let limits = sandbox.limits;
            let limits = [limits.memory_mb, limits.cpu_s, limits.processes, limits.file_mb];
            let limits = limits.map(|limit| limit.map(|limit| limit.to_string()).unwrap_or_default());
            let fixed = ["sandbox".to_owned(), sandbox.network.to_string()].into_iter().chain(limits);
            fixed
                .chain(sandbox.read.iter().cloned())
                .chain(["\0".to_owned()])
                .chain(sandbox.write.iter().cloned())
                .collect()
        }
    }
}
