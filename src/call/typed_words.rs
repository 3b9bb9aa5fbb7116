//! The words of a command as a line types them, and where the words of the config go among them.

/// The words of a command that was read from a line: what runs, in the order in which it was typed.
///
/// Reading finds out which tool and which arguments the words are and changes none of them, because programs decide by
/// order, spelling and repetition. What the operator adds to every call is inserted at the places that are named here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypedWords {
    /// The words, the program first.
    pub words: Vec<String>,
    /// The place of the words that belong to the base command.
    pub base_at: usize,
    /// The number of words up to the last one of the command.
    pub command_end: usize,
    /// The place of options.
    pub options_at: usize,
    /// The place of the first `--`; the number of words if there is none.
    pub operands_end: usize,
    /// The places of operands, with the names of their args.
    pub operands: Vec<(usize, String)>,
    /// Options of the base command that the line lacks. Variables in them are not expanded yet.
    pub base_options: Vec<String>,
    /// Words of the config's `always` that the line lacks.
    pub base_always: Vec<String>,
    /// Words of the tool's `always` that the line lacks.
    pub always: Vec<String>,
}

impl TypedWords {
    /// Returns the words with others inserted, each group at a place between 0 and the number of words. Groups of the same
    /// place keep their order.
    pub(super) fn with(&self, mut groups: Vec<(usize, Vec<String>)>) -> Vec<String> {
        groups.sort_by_key(|(at, _)| *at);

        let mut all = Vec::with_capacity(self.words.len());
        let mut done = 0;
        for (at, words) in groups {
            all.extend_from_slice(&self.words[done..at]);
            all.extend(words);
            done = at;
        }
        all.extend_from_slice(&self.words[done..]);
        all
    }
}
