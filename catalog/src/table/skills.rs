//! Skills as a catalog holds them.

use std::borrow::Cow;

/// The skills of a catalog: their files one after the other, and the rest as JSON that is parsed when a server starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedSkills {
    /// The names, the front matter, the tools, and the paths, digests and sizes of the files.
    pub manifest: Cow<'static, str>,
    /// The contents of all files.
    pub contents: Cow<'static, [u8]>,
}
