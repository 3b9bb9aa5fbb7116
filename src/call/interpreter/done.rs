//! What a builtin has to say.

/// What a builtin prints, and its status.
#[derive(Default)]
pub(super) struct Done {
    pub(super) output: Vec<u8>,
    pub(super) errors: String,
    pub(super) status: i32,
}

impl Done {
    pub(super) fn status(status: i32) -> Self {
        Self { status, ..Self::default() }
    }

    pub(super) fn printed(output: impl Into<Vec<u8>>) -> Self {
        Self { output: output.into(), ..Self::default() }
    }

    pub(super) fn failed(status: i32, message: impl std::fmt::Display) -> Self {
        Self { errors: format!("climax: {message}\n"), status, ..Self::default() }
    }
}
