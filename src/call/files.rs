//! The tools by which redirections of lines read and write files.

use std::sync::OnceLock;

use climax_catalog::{Layer, ResolvedTool, Source, ToolIndex, compile};

use super::refusal::Refusal;

/// The null device.
pub(crate) const NULL: &str = "/dev/null";

/// What a redirection that writes would do to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum WriteMode {
    /// It makes it.
    Create,
    /// It adds to it.
    Append,
    /// It replaces it.
    Replace,
    /// It replaces one that the session has made.
    Rewrite,
    /// It writes a file that other programs load, or one outside of the project and of the temporary files.
    Protected,
}

/// What a redirection does with its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// It reads it: `<`.
    Read,
    /// It writes it from its start: `>`.
    Write,
    /// It writes behind what is there: `>>`.
    Append,
}

impl FileUse {
    /// Returns whether it writes the file.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Append)
    }
}

/// A path of a redirection that names no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// The null device.
    Null,
    /// The standard input of the command itself.
    Input,
    /// Its standard output.
    Output,
    /// Its standard error.
    Errors,
    /// A device from which zeros or random bytes are read.
    Source,
}

/// The special paths that a redirection may read.
const READ: [(&str, Special); 6] = [
    (NULL, Special::Null),
    ("/dev/stdin", Special::Input),
    ("/dev/fd/0", Special::Input),
    ("/dev/zero", Special::Source),
    ("/dev/random", Special::Source),
    ("/dev/urandom", Special::Source),
];

/// The special paths that a redirection may write.
const WRITTEN: [(&str, Special); 5] = [
    (NULL, Special::Null),
    ("/dev/stdout", Special::Output),
    ("/dev/fd/1", Special::Output),
    ("/dev/stderr", Special::Errors),
    ("/dev/fd/2", Special::Errors),
];

/// Whether a path names a stream of the command itself, or none.
pub(crate) fn is_stream(path: &str) -> bool {
    READ.iter().chain(&WRITTEN).any(|(own, special)| *own == path && *special != Special::Source)
}

/// Returns what the path of a redirection stands for, if it names no file.
///
/// # Errors
/// It is a device or a descriptor that is not opened.
pub(crate) fn special(path: &str, file_use: FileUse) -> Result<Option<Special>, Refusal> {
    let known: &[(&str, Special)] = if file_use.writes() { &WRITTEN } else { &READ };
    if let Some((_, special)) = known.iter().find(|(own, _)| *own == path) {
        return Ok(Some(*special));
    }
    if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
        let problem = format!("No such file as `{path}`: bash would connect to a host");
        return Err(Refusal::new(problem, "let a program connect, such as curl or nc"));
    }
    let is_descriptor = path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
    let is_file = path.starts_with("/dev/shm/") || path.starts_with("/dev/mqueue/") || path == "/dev/";
    if is_descriptor || READ.iter().chain(&WRITTEN).any(|(own, _)| *own == path) {
        let problem = format!("`{path}` is not opened by this redirection");
        return Err(Refusal::new(problem, "write `>&1` or `>&2` for the streams of the command, or name a file"));
    }
    if path.starts_with("/dev/") && !is_file {
        let remedy = "use a pipe or a file";
        return Err(Refusal::new(format!("`{path}` would be a device, which a redirection does not open"), remedy));
    }
    Ok(None)
}

/// Returns the tool that reads files.
pub(crate) fn reading() -> Option<ResolvedTool<'static>> {
    index()?.get("file_read")
}

/// Returns the tool that writes files.
pub(crate) fn writing() -> Option<ResolvedTool<'static>> {
    index()?.get("file_write")
}

/// The index of both tools, which no config of a user changes.
fn index() -> Option<&'static ToolIndex> {
    static INDEX: OnceLock<Option<ToolIndex>> = OnceLock::new();

    let index = INDEX.get_or_init(|| {
        let source = Source::new("files.yaml", include_bytes!("files.yaml").to_vec()).ok()?;
        Some(ToolIndex::from_configs(vec![Layer::loaded(compile(&[source]).ok()?.catalog)]))
    });
    index.as_ref()
}

#[cfg(test)]
mod tests {
    use climax_catalog::Risk;

    use super::*;

    #[test]
    fn both_tools_are_there_with_their_risks() {
        assert_eq!(reading().unwrap().written_risk(), Some(Risk::Read));
        assert_eq!(writing().unwrap().written_risk(), Some(Risk::Write));
    }
}
