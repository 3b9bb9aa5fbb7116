//! The command of a tool in each of its spellings.

use climax_catalog::{CommandPart, ResolvedTool, quoted_words};

/// One spelling of a tool's command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) parts: Vec<Part>,
    /// The number of parts that are those of the config's base command.
    pub(super) base: usize,
}

/// A part of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A word that is no option: the program or a subcommand.
    Word(String),
    /// An option, with its value if a word follows that is no option.
    Option(Vec<String>),
    /// `--`.
    Dashes,
    /// The place of an arg.
    Arg(String),
    /// The place of the options that have none of their own.
    Options,
}

impl Command {
    /// Returns every spelling of a tool's command, its own first.
    pub(super) fn all(tool: ResolvedTool<'_>) -> Vec<Self> {
        let (base, own) = (parts(tool.cli().parts()), parts(tool.parts()));
        let owns = std::iter::once(own.clone()).chain(tool.aliases().map(|text| respelled(&own, text)));
        owns.map(|own| Self { parts: [base.clone(), own].concat(), base: base.len() }).collect()
    }

    /// The number of its words, with those of options.
    pub(super) fn len(&self) -> usize {
        let length = |part: &Part| match part {
            Part::Word(_) => 1,
            Part::Option(words) => words.len(),
            Part::Dashes | Part::Arg(_) | Part::Options => 0,
        };
        self.parts.iter().map(length).sum()
    }

    /// The words that are no options.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| if let Part::Word(word) = part { Some(word.as_str()) } else { None })
    }
}

/// Whether a program could take a word for an option.
pub(super) fn is_option(word: &str) -> bool {
    word.starts_with('-') && word.len() > 1
}

fn parts<'p>(views: impl Iterator<Item = CommandPart<'p>>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for view in views {
        match (view, parts.last_mut()) {
            (CommandPart::Options, _) => parts.push(Part::Options),
            (CommandPart::Arg(name), _) => parts.push(Part::Arg(name.to_owned())),
            (CommandPart::Word("--"), _) => parts.push(Part::Dashes),
            (CommandPart::Word(word), _) if is_option(word) => parts.push(Part::Option(vec![word.to_owned()])),
            (CommandPart::Word(word), Some(Part::Option(option))) if option.len() == 1 => option.push(word.to_owned()),
            (CommandPart::Word(word), _) => parts.push(Part::Word(word.to_owned())),
        }
    }

    parts
}

/// Replaces the first words of a command by those of another spelling. A spelling with options, such as `tag -d`,
/// replaces the options behind these words too.
fn respelled(own: &[Part], text: &str) -> Vec<Part> {
    let words = quoted_words(text);
    let words = parts(words.iter().map(|word| CommandPart::Word(word)));
    let has_options = words.iter().any(|part| matches!(part, Part::Option(_)));
    let is_replaced = |part: &Part| matches!(part, Part::Word(_)) || has_options && matches!(part, Part::Option(_));
    let start = own.iter().position(|part| matches!(part, Part::Word(_))).unwrap_or(own.len());
    let end = own[start..].iter().position(|part| !is_replaced(part)).map_or(own.len(), |length| start + length);
    own[..start].iter().cloned().chain(words).chain(own[end..].iter().cloned()).collect()
}
