//! Usage lines: `prog add [-f] [--into <dir>] <name> [<file>...]`.

use super::grammar::{self, UsageItem};
use super::placeholder::{PLURALS, is_command, is_plural, is_rest};
use super::usage_group::{
    is_dashes, is_more_of, is_prose, noun_phrase, only_flags, option_with_words, starts_with_flag, two_spellings,
    value_of,
};
use super::values::{alternatives, are_kinds};
use super::{option, option_value, refine, shape};
use crate::command::{Flag, Group, Operand, Several, Sure, Value};

/// The most operands of one line.
const MAX_OPERANDS: usize = 12;

/// The content of a usage line.
#[allow(clippy::struct_excessive_bools, reason = "each is a trait of its own that a line shows")]
#[derive(Clone, Debug, Default)]
pub(super) struct Synopsis {
    /// The first plain word after the command: a subcommand, or (with some programs) the name of an operand.
    pub(super) literal: Option<String>,
    /// Whether the plain word is in brackets.
    pub(super) literal_optional: bool,
    /// Whether it stands in brackets of its own: `[file]`, which is an operand rather than a subcommand.
    pub(super) literal_alone: bool,
    /// Whether dots follow the plain word.
    pub(super) literal_repeated: bool,
    /// Whether a subcommand follows: `Some(true)` if it is required.
    pub(super) wants_command: Option<bool>,
    pub(super) operands: Vec<Operand>,
    pub(super) flags: Vec<Flag>,
    /// What excludes each other.
    pub(super) groups: Vec<Group>,
    /// Whether a sign stands among the operands, as the mark of the next one: `[TITLE] [:: TEXT]`.
    pub(super) has_sign: bool,
    /// Whether options stand behind the operands: `NAME [flags]`.
    pub(super) options_last: bool,
    pub(super) before_command: BeforeCommand,
}

/// How an operand that may be absent stands before the subcommand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BeforeCommand {
    #[default]
    No,
    /// `[NAME] [COMMAND]`.
    Beside,
    /// `[DEVICE [COMMAND]]`.
    Around,
}

/// Reads a usage line of the command `words`; `is_switch` returns whether an option takes no value.
pub(super) fn read(usage: &str, words: &[String], is_switch: &dyn Fn(&str) -> bool) -> Synopsis {
    // `prog < FILE` shows what a shell does.
    let usage = usage.split(" < ").next().unwrap_or(usage);
    let mut items = grammar::items(usage);
    // `npx prog add`, `python -m prog add`
    let is_launcher = |item: Option<&UsageItem>, names: &[&str]| matches!(item, Some(UsageItem::Word(word)) if names.contains(&word.as_str()));
    let program =
        if is_launcher(items.first(), &["python", "python3"]) && matches!(items.get(1), Some(UsageItem::Flag(_))) {
            3
        } else {
            1 + usize::from(is_launcher(items.first(), &["npx", "bunx", "pnpx", "sudo"]))
        };
    items.drain(..program.min(items.len()));

    let mut reader = SynopsisReader {
        out: Synopsis::default(),
        is_switch,
        pending: false,
        behind_dashes: false,
        depth: 0,
        operand_depth: 0,
    };
    for word in words {
        let is_own = |item: &UsageItem| matches!(item, UsageItem::Word(own) | UsageItem::Flag(own) if own == word);
        if let Some(at) = items.iter().position(is_own) {
            items.remove(at);
        }
    }

    if let Some(literal) = literal(&items) {
        reader.out.literal_optional = literal.optional;
        reader.out.literal_alone = literal.optional && literal.alone;
        reader.out.literal_repeated = literal.repeated;
        reader.out.literal = Some(literal.word);
    }

    reader.sequence(&items, true);
    reader.out.options_last &= !reader.out.operands.is_empty();

    reader.out
}

/// A plain word at the start of a line.
struct Literal {
    word: String,
    optional: bool,
    alone: bool,
    repeated: bool,
}

/// The plain word at the start of a line, after groups of options.
fn literal(items: &[UsageItem]) -> Option<Literal> {
    let of = |items: &[UsageItem], optional| match items {
        [UsageItem::Word(word), rest @ ..] if is_literal(word) => {
            let repeated = rest.first() == Some(&UsageItem::Dots);
            Some(Literal { word: word.clone(), optional, alone: rest.is_empty() || repeated, repeated })
        }
        _ => None,
    };
    for (at, item) in items.iter().enumerate() {
        match item {
            UsageItem::Group { alternatives, .. } if is_prose(alternatives) => {}
            UsageItem::Group { alternatives, .. } if noun_phrase(alternatives).is_some() => return None,
            UsageItem::Group { optional: true, alternatives } => match alternatives.as_slice() {
                [inner, ..] if matches!(inner.first(), Some(UsageItem::Flag(_))) => {}
                // `[files]` are operands.
                [inner] => return of(inner, true).filter(|literal| !is_plural(&literal.word)),
                _ => return None,
            },
            _ => return of(&items[at..], false),
        }
    }

    None
}

/// Whether a word is a sign that a call has as it stands: `::`, `@`.
fn is_sign(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| ":@=+/%".contains(c))
}

fn is_literal(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        && !is_rest(word)
        && !refine::is_program(word)
}

struct SynopsisReader<'a> {
    out: Synopsis,
    is_switch: &'a dyn Fn(&str) -> bool,
    /// Whether the next operand may be the value of the option before it.
    pending: bool,
    behind_dashes: bool,
    /// The number of brackets around what is read.
    depth: usize,
    /// The number of brackets around the last operand.
    operand_depth: usize,
}

impl SynopsisReader<'_> {
    fn sequence(&mut self, items: &[UsageItem], required: bool) {
        if let Some(option) = option_with_words(items).filter(|_| !required) {
            return self.flag(&option, None, required, false);
        }
        for (at, item) in items.iter().enumerate() {
            let repeated = matches!(items.get(at + 1), Some(UsageItem::Dots));
            match item {
                UsageItem::Flag(text) if is_cluster(text, self.is_switch) => self.cluster(text),
                UsageItem::Flag(text) => self.flag(text, items.get(at + 1), required, items.len() == 2),
                UsageItem::Word(word) if word == "--" => self.behind_dashes = true,
                UsageItem::Word(word) | UsageItem::Angle(word) => {
                    let is_angle = matches!(item, UsageItem::Angle(_));
                    self.operand(word, is_angle, required, repeated);
                }
                UsageItem::Choice(inner) => self.choice(inner, required),
                UsageItem::Group { optional: true, alternatives } if is_dashes(alternatives) => {
                    self.behind_dashes = true;
                }
                UsageItem::Group { alternatives, .. } if is_prose(alternatives) => self.described(alternatives),
                UsageItem::Group { alternatives, .. } if let Some(noun) = noun_phrase(alternatives) => {
                    let value = Value { several: Several::Each, ..Value::default() };
                    self.out.operands.push(Operand { name: noun, value, ..Operand::default() });
                }
                // `[-j [JOBS]]`: the value of the option.
                UsageItem::Group { alternatives, .. }
                    if at == 1
                        && items.len() == 2
                        && value_of(alternatives).is_some()
                        && matches!(items[0], UsageItem::Flag(_)) => {}
                // `--into DIR [DIR ...]`: more values of the option.
                UsageItem::Group { alternatives, .. }
                    if at > 1
                        && matches!(items[at - 2], UsageItem::Flag(_))
                        && is_more_of(&items[at - 1], alternatives) =>
                {
                    if let Some(value) = self.out.flags.last_mut().and_then(|flag| flag.value.as_mut()) {
                        value.several = Several::Words;
                    }
                }
                UsageItem::Group { optional, alternatives } => {
                    self.depth += 1;
                    self.group(alternatives, required && !optional, repeated);
                    self.depth -= 1;
                    // `(-m | --message) <text>`
                    let has_value = matches!(items.get(at + 1), Some(UsageItem::Word(_) | UsageItem::Angle(_)));
                    self.pending = !optional && has_value && alternatives.len() > 1 && only_flags(alternatives);
                }
                UsageItem::Dots => {
                    if let Some(last) = self.out.operands.last_mut() {
                        last.value.several = Several::Each;
                    }
                }
            }
        }
    }

    /// `[files or paths]`: operands in words.
    fn described(&mut self, alternatives: &[Vec<UsageItem>]) {
        let is_noun = |item: &&UsageItem| matches!(item, UsageItem::Word(word) if PLURALS.contains(&word.as_str()));
        if let Some(UsageItem::Word(noun)) = alternatives.iter().flatten().find(is_noun) {
            let value = Value { several: Several::Each, ..Value::default() };
            self.out.operands.push(Operand { name: noun.clone(), value, ..Operand::default() });
        }
    }

    /// `-abC`: a switch for each letter.
    fn cluster(&mut self, text: &str) {
        let switch = |letter: char| Flag { spellings: vec![format!("-{letter}")], ..Flag::default() };
        self.out.flags.extend(text.chars().skip(1).map(switch));
    }

    fn group(&mut self, alternatives: &[Vec<UsageItem>], required: bool, repeated: bool) {
        let operands = self.out.operands.len();
        let is_one_of_several = alternatives.len() > 1;
        // `--output=plain|rich`: a plain word is a value here.
        let has_flag = alternatives.iter().any(|items| starts_with_flag(items));
        let is_value = |items: &[UsageItem]| has_flag && matches!(items, [UsageItem::Word(word)] if is_literal(word));
        let is_options = |items: &[UsageItem]| matches!(items, [UsageItem::Word(word)] if is_rest(word));
        let is_plain = |items: &Vec<UsageItem>| !starts_with_flag(items) && !is_value(items);
        let first_plain = alternatives.iter().position(|items| is_plain(items) && !is_options(items));
        let first_plain = first_plain.or_else(|| alternatives.iter().position(is_plain));
        // `[SACK] | REQUEST [FILE]...`: the one that has more.
        let longest = |first: usize| {
            let mut best = first;
            for (at, items) in alternatives.iter().enumerate().filter(|(_, items)| is_plain(items)) {
                if items.len() > alternatives[best].len() {
                    best = at;
                }
            }
            best
        };
        let first_plain = first_plain.map(longest);
        let mut members = Vec::new();
        let mut rest = alternatives.iter().enumerate().peekable();

        while let Some((at, items)) = rest.next() {
            let (flags, known) = (self.out.flags.len(), self.out.operands.len());
            let both = rest.peek().and_then(|(_, next)| two_spellings(items, next));
            if let Some(both) = both {
                rest.next();
                self.flag(&both, None, required && alternatives.len() == 2, false);
            } else if Some(at) == first_plain || starts_with_flag(items) {
                // Of alternative operands the first is taken; options are taken from all alternatives.
                self.sequence(items, required && !is_one_of_several);
            }
            let new_flags = self.out.flags[flags..].iter().map(|flag| flag.spellings[0].clone());
            let new_operands = self.out.operands[known..].iter().map(|operand| operand.name.clone());
            members.push(new_flags.chain(new_operands).collect::<Vec<_>>());
        }

        if is_one_of_several {
            self.exclude(&members, required, has_flag);
            for (at, operand) in self.out.operands[operands..].iter_mut().enumerate() {
                operand.guesses.push("one of several forms");
                operand.required |= required && !has_flag && at == 0;
            }
        }

        if repeated {
            for operand in &mut self.out.operands[operands..] {
                operand.value.several = Several::Each;
            }
        }
    }

    /// Notes that alternatives exclude each other, if each of them is one option or operand.
    fn exclude(&mut self, alternatives: &[Vec<String>], required: bool, has_flag: bool) {
        let members: Vec<String> = alternatives.iter().filter_map(|members| members.first().cloned()).collect();
        if has_flag && members.len() > 1 && alternatives.iter().all(|members| members.len() == 1) {
            self.out.groups.push(Group { required, members });
        }
    }

    /// Takes an option; what follows it in the line may be its value. In a pair it is.
    fn flag(&mut self, text: &str, next: Option<&UsageItem>, required: bool, is_pair: bool) {
        let value = match next {
            Some(UsageItem::Angle(name)) => Some(format!("<{name}>")),
            Some(UsageItem::Choice(inner)) if is_pair => Some(format!("{{{inner}}}")),
            Some(UsageItem::Group { alternatives, .. }) if is_pair => value_of(alternatives),
            Some(UsageItem::Word(name)) if (is_pair || !is_rest(name)) && name != "--" => Some(name.clone()),
            _ => None,
        };
        self.pending = value.is_some();
        let Some(term) = option::term(text, true) else { return };
        let mut flag = term.flag;
        let is_known = (self.is_switch)(flag.spellings.first().map_or("", String::as_str));

        if is_known || flag.value.is_some() {
            self.pending = false;
        } else if let Some(value) = value
            && let Some(with_value) = option::term(&format!("{text} {value}"), true)
        {
            flag = with_value.flag;
        }
        flag.required = required;

        self.out.flags.push(flag);
    }

    fn choice(&mut self, inner: &str, required: bool) {
        if std::mem::take(&mut self.pending) {
            return;
        }
        let Some(values) = alternatives(inner, ',').or_else(|| alternatives(inner, '|')) else {
            return self.braced(inner, required);
        };
        let value = Value { values: Some(Sure::Said(values)), ..Value::default() };
        self.out.operands.push(Operand { required, value, ..Operand::default() });
    }

    /// `{sack}`, and `{sack ...}` for any number of them.
    fn braced(&mut self, inner: &str, required: bool) {
        let name = inner.trim_end_matches(['.', ' ']);
        if name.contains(' ') {
            return self.described(&[name.split(' ').map(|word| UsageItem::Word(word.to_owned())).collect()]);
        }
        let is_repeated = inner.ends_with("..");
        self.operand(name, true, required && !is_repeated, is_repeated);
    }

    fn operand(&mut self, word: &str, is_angle: bool, required: bool, repeated: bool) {
        if std::mem::take(&mut self.pending) {
            return;
        }

        self.out.has_sign |= !is_angle && is_sign(word);
        let lower = word.to_ascii_lowercase();
        if is_command(&lower) {
            if !required && self.out.operands.last().is_some_and(|operand| !operand.required) {
                let is_around = self.depth > self.operand_depth;
                self.out.before_command = if is_around { BeforeCommand::Around } else { BeforeCommand::Beside };
            }
            self.out.wants_command.get_or_insert(required);
        }

        let is_literal_here = !is_angle && is_literal(word) && Some(word) == self.out.literal.as_deref();
        self.out.literal_repeated |= is_literal_here && repeated;
        let is_path = word.starts_with('/') && word.rsplit('/').next().is_some_and(|name| name.len() > 2);
        let is_name = is_path
            || word.starts_with(|c: char| c.is_alphanumeric())
            || is_angle
            || word.starts_with('[') && word.contains(']');
        let is_rest = is_rest(&lower);
        self.out.options_last |= is_rest && !self.out.operands.is_empty();
        // `COMMAND [flags]`: they are the program's own.
        if is_rest && !required && self.out.operands.last().is_some_and(|operand| refine::is_program(&operand.name)) {
            let value = Value { several: Several::Each, ..Value::default() };
            self.out.options_last = false;
            self.out.operands.push(Operand { name: "args".to_owned(), value, ..Operand::default() });
        }

        if is_rest || is_literal_here || !is_name || self.out.operands.len() >= MAX_OPERANDS {
            return;
        }

        let core = option_value::core(word);
        let name = core.split(['[', '(', '<', '|']).next().filter(|name| !name.is_empty()).unwrap_or(&core);
        let name = name.trim_end_matches("..");
        // `/path/to/mount` stands for a path.
        let name = if is_path { name.rsplit('/').next().unwrap_or(name) } else { name };
        // `[sack(s)]`
        let is_plural = is_plural(name) || core.strip_prefix(name).is_some_and(|rest| rest.starts_with("(s)"));
        // `[spec..]` is the form of yargs.
        let is_open = name.ends_with("-specific");
        let several =
            if repeated || is_plural || is_open || word.ends_with("..") { Several::Each } else { Several::No };
        let mut value = Value { several, pair: shape::is_pair(word), ..Value::default() };
        if is_angle && word.chars().any(|c| c.is_ascii_lowercase()) {
            value.values = alternatives(word, '|').filter(|values| !are_kinds(values)).map(Sure::Guessed);
        }

        let behind_dashes = self.behind_dashes;
        self.operand_depth = self.depth;
        self.out.operands.push(Operand { name: name.to_owned(), required, behind_dashes, value, ..Operand::default() });
    }
}

/// Whether `-abC` stands for several switches: no letter twice, in the order of the alphabet or of both cases.
fn is_cluster(text: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
    let Some(letters) = text.strip_prefix('-').filter(|letters| letters.len() > 2 && !is_known(text)) else {
        return false;
    };
    let is_letters = letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'?');
    let is_distinct = letters.bytes().enumerate().all(|(at, byte)| !letters.as_bytes()[..at].contains(&byte));
    let has = |is: fn(&u8) -> bool| letters.as_bytes().iter().any(is);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) || has(u8::is_ascii_digit);
    let is_sorted = letters.as_bytes().is_sorted_by_key(u8::to_ascii_lowercase);
    is_letters && is_distinct && (is_mixed || is_sorted)
}

#[cfg(test)]
mod tests;
