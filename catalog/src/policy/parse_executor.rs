//! The policy format of executors: where programs run.

use strum::{Display, EnumString, VariantArray};

use super::keys::{CONTAINER_KEYS, EXECUTOR_KEYS, LIMIT_KEYS, SANDBOX_KEYS};
use super::{Container, Executor, Sandbox};
use crate::diagnostic::Code;
use crate::model::SandboxLimits;
use crate::read::walk::{Fields, Walker};
use crate::read::yaml::{self, Node};
use crate::source::Spanned;

/// The values of an executor's `type`.
#[derive(Clone, Copy, PartialEq, Eq, Display, EnumString, VariantArray, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
enum ExecutorType {
    Local,
    Docker,
    Sandbox,
}

impl ExecutorType {
    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Local => &[],
            Self::Docker => CONTAINER_KEYS,
            Self::Sandbox => SANDBOX_KEYS,
        }
    }
}

/// Reads `executor`.
pub(super) fn executor(walker: &mut Walker<'_>, node: &Node) -> Option<Executor> {
    let mut fields = walker.mapping(node, "`executor`", EXECUTOR_KEYS)?;
    let kind = if fields.has("type") { fields.word(walker, "type")? } else { ExecutorType::Local };
    for (key, span) in fields.remaining().filter(|(key, _)| !kind.keys().contains(key)).collect::<Vec<_>>() {
        let others: Vec<_> = ExecutorType::VARIANTS.iter().filter(|other| other.keys().contains(&key)).collect();
        let owner = others.iter().map(|other| format!("`type: {other}`")).collect::<Vec<_>>().join(" or ");
        if !owner.is_empty() {
            // Ignoring the key would run programs on the host that the policy puts into a container.
            let message = format!("`{key}` has no meaning for an executor of type {kind}");
            walker.report(Code::MisplacedKey, span, message, &format!("write {owner}, or remove `{key}`"));
        }
    }

    match kind {
        ExecutorType::Local => Some(Executor::Local),
        ExecutorType::Docker => container(walker, &mut fields),
        ExecutorType::Sandbox => Some(sandbox(walker, &mut fields)),
    }
}

fn container(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Option<Executor> {
    let image = fields
        .required(walker, "image", "the image that containers are made of")
        .and_then(|node| walker.string(node, "image"));
    let volumes = texts(walker, fields, "volumes");
    replaceable_mounts(walker, &volumes);
    let container = Container {
        runtime: fields.word(walker, "runtime").unwrap_or_default(),
        image: String::new(),
        volumes: volumes.into_iter().map(|volume| volume.value).collect(),
        working_dir: fields.optional_string(walker, "working_dir").map(|text| text.value),
        network: fields.optional("network").and_then(|node| network(walker, node)),
    };
    let image = image?;

    if image.value.is_empty() || image.value.starts_with('-') {
        let message = format!("`{}` is no name of an image", image.value);
        walker.report(Code::IllegalName, image.span, message, "write a name such as `alpine:3.20`");
    }

    Some(Executor::Container(Container { image: image.value, ..container }))
}

/// Reads the name of a container's network.
///
/// Words that YAML 1.1 reads as booleans are refused even in quotes: as a name, `no` would not mean no network.
fn network(walker: &mut Walker<'_>, node: &Node) -> Option<String> {
    const SWITCHES: [&str; 6] = ["true", "false", "yes", "no", "on", "off"];
    if let yaml::NodeKind::Scalar(scalar) = &node.kind
        && SWITCHES.iter().any(|word| scalar.text.eq_ignore_ascii_case(word))
    {
        let help = "write `network: none` for no network, or leave the key out for the usual one; only a sandbox has a \
                    boolean here";
        walker.wrong_type(node, "network", "the name of a network", help);
        return None;
    }

    walker.string(node, "network").map(|text| text.value)
}

/// Reports mounts whose source the container can replace.
fn replaceable_mounts(walker: &mut Walker<'_>, volumes: &[Spanned<String>]) {
    let source = |volume: &Spanned<String>| {
        let path = volume.value.split(':').next().unwrap_or_default();
        Spanned { value: path.to_owned(), span: volume.span }
    };
    let is_changeable = |volume: &&Spanned<String>| {
        !volume.value.rsplit(':').next().is_some_and(|last| last.split(',').any(|one| one == "ro"))
    };
    let changeable: Vec<_> = volumes.iter().filter(is_changeable).map(source).collect();
    let all = volumes.iter().map(source).collect::<Vec<_>>();

    replaceable(walker, &all, &changeable, "mount the outer one alone, or with `:ro`");
}

/// Reports paths inside of writable directories: a program can replace such a path by a link to any other.
fn replaceable(walker: &mut Walker<'_>, all: &[Spanned<String>], changeable: &[Spanned<String>], help: &str) {
    for path in all {
        let inner = path.value.trim_end_matches('/');
        for outer in changeable.iter().map(|outer| outer.value.trim_end_matches('/')) {
            if inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/')) {
                let message = format!("`{inner}` can be replaced, since it is below `{outer}`, which can be changed");
                walker.report(Code::Replaceable, path.span, message, help);
            }
        }
    }
}

fn sandbox(walker: &mut Walker<'_>, fields: &mut Fields<'_>) -> Executor {
    let mut limits = SandboxLimits::default();
    let node = fields.optional("limits");
    if let Some(mut fields) = node.and_then(|node| walker.mapping(node, "`limits`", LIMIT_KEYS)) {
        let mut bound = |key| fields.optional_number(walker, key).and_then(|number| whole(walker, key, &number));
        limits = SandboxLimits {
            memory_mb: bound("memory_mb"),
            cpu_s: bound("cpu_s"),
            processes: bound("processes"),
            file_mb: bound("file_mb"),
        };
    }

    let paths = ["read", "write"].map(|key| texts(walker, fields, key));
    for path in paths.iter().flatten().filter(|path| !path.value.starts_with(['/', '~', '$'])) {
        let message = format!("`{}` is relative, and to a directory that the call chooses", path.value);
        walker.report(Code::RelativePath, path.span, message, "write an absolute path; `~` and `$VAR` expand");
    }

    let [read, write] = &paths;
    let all: Vec<_> =
        read.iter().chain(write).map(|path| Spanned { value: path.value.clone(), span: path.span }).collect();
    replaceable(walker, &all, write, "name the outer one alone, or not under `write`");
    let [read, write] = paths.map(|paths| paths.into_iter().map(|path| path.value).collect());

    Executor::Sandbox(Sandbox {
        read,
        write,
        network: fields.boolean(walker, "network").is_some_and(|network| network.value),
        limits,
    })
}

/// Reads a list of texts.
pub(super) fn texts(walker: &mut Walker<'_>, fields: &mut Fields<'_>, key: &'static str) -> Vec<Spanned<String>> {
    let what = format!("an item of `{key}`");
    fields.list(walker, key, |walker, node| walker.string(node, &what))
}

/// Reads a limit: a whole number from 1.
fn whole(walker: &mut Walker<'_>, key: &str, number: &Spanned<f64>) -> Option<u32> {
    let is_whole = number.value.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&number.value);
    if !is_whole {
        let message = format!("`{key}` must be a whole number from 1 to {}", u32::MAX);
        walker.report(Code::IllegalRange, number.span, message, "leave the key out for no bound");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
    is_whole.then_some(number.value as u32)
}
