//! The tools by which redirections of lines read and write files.

use std::sync::OnceLock;

use climax_catalog::{Layer, ResolvedTool, Source, ToolIndex, compile};

/// The null device.
pub(crate) const NULL: &str = "/dev/null";

/// What a redirection would do to a file.
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

/// Whether a path names a stream of the command itself, or none.
pub(crate) fn is_stream(path: &str) -> bool {
    [NULL, "/dev/stdin", "/dev/stdout", "/dev/stderr"].contains(&path)
}

/// Returns the tool that reads files.
pub(crate) fn reading() -> Option<ResolvedTool<'static>> {
    index()?.get("file_read")
}

/// Returns the tool that writes files.
pub(crate) fn writing() -> Option<ResolvedTool<'static>> {
    index()?.get("file_write")
}

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
