//! The standard input of a command in a line.

/// The standard input of a command in a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input<'t> {
    /// It has none.
    #[default]
    Nothing,
    /// This text.
    Text(&'t str),
    /// The output of the command before it.
    Pipe,
}
