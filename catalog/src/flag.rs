//! Flags of args: templates of words that hold places for a value.

use crate::model::Shape;

/// A template of the words of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagTemplate {
    words: Vec<Vec<Piece>>,
}

/// The words of an option that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagMatch<'w> {
    /// The key of a map; empty for others.
    pub key: &'w str,
    /// The value; empty if the option has none.
    pub value: &'w str,
    /// The number of words.
    pub words: usize,
    /// The bytes of the words that the template holds: the more, the more specific.
    pub literal_bytes: usize,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    /// The value.
    Value,
    /// The key of a map.
    Key,
}

impl FlagTemplate {
    /// Reads the words of a flag: `{}` is the value; the flags of maps have `{key}` and `{value}`.
    ///
    /// A flag without a place takes the value as a word of its own, or at its end if it ends in `=`. `is_bare` flags
    /// take no value.
    #[must_use]
    pub fn new(words: &[impl AsRef<str>], shape: Shape, is_bare: bool) -> Self {
        let is_map = matches!(shape, Shape::Map(_));
        let mut words: Vec<Vec<Piece>> = words.iter().map(|word| pieces(word.as_ref(), is_map)).collect();
        let has_place = words.iter().flatten().any(|piece| matches!(piece, Piece::Value | Piece::Key));
        if !has_place && !is_bare {
            let value = if is_map {
                vec![Piece::Key, Piece::Literal("=".to_owned()), Piece::Value]
            } else {
                vec![Piece::Value]
            };
            match words.last_mut() {
                Some(last) if matches!(last.last(), Some(Piece::Literal(text)) if text.ends_with('=')) => {
                    last.extend(value);
                }
                _ => words.push(value),
            }
        }

        Self { words }
    }

    /// Checks that a flag has the places of its shape.
    ///
    /// # Errors
    /// A sentence with the places that are wrong.
    pub(crate) fn check(&self, shape: Shape) -> Result<(), &'static str> {
        let count = |wanted: &Piece| self.words.iter().flatten().filter(|piece| *piece == wanted).count();
        let has_other_place = |piece: &Piece| matches!(piece, Piece::Literal(text) if text.contains("{}"));
        match shape {
            Shape::Map(_) if self.words.iter().flatten().any(has_other_place) => {
                Err("`{}` is no place of a map, whose key and value are `{key}` and `{value}`")
            }
            Shape::Map(_) if count(&Piece::Key) != 1 || count(&Piece::Value) != 1 => {
                Err("the flag of a map has `{key}` and `{value}` once each")
            }
            Shape::Count if count(&Piece::Value) > 0 => Err("the flag of a count has no place for a value"),
            Shape::Single | Shape::List(_) if count(&Piece::Value) > 1 => Err("a flag has one place for the value"),
            _ => Ok(()),
        }
    }

    /// Returns whether the program could take the value for an option: it starts a word that follows no flag.
    #[must_use]
    pub fn starts_with_value(&self) -> bool {
        matches!(self.words.first().and_then(|word| word.first()), Some(Piece::Value | Piece::Key))
    }

    /// Returns the text between key and value of a map, such as `=`; empty if they are in different words.
    #[must_use]
    pub fn separator(&self) -> &str {
        let word = self.words.iter().find(|word| word.contains(&Piece::Key));
        let text = match word.map(Vec::as_slice) {
            Some(word) => word.windows(3).find_map(|three| match three {
                [Piece::Key, Piece::Literal(text), Piece::Value] => Some(text.as_str()),
                _ => None,
            }),
            None => None,
        };

        text.unwrap_or_default()
    }

    /// Returns the words for one value. `key` is empty except for maps.
    #[must_use]
    pub fn filled(&self, key: &str, value: &str) -> Vec<String> {
        self.words.iter().map(|word| fill(word, key, value)).collect()
    }

    /// Returns the words for several values: the words before the value once, then the word of the value for each.
    #[must_use]
    pub fn filled_once<'v>(&self, pairs: impl Iterator<Item = (&'v str, &'v str)>) -> Vec<String> {
        let is_fixed = |word: &&Vec<Piece>| word.iter().all(|piece| matches!(piece, Piece::Literal(_)));
        let fixed = self.words.iter().take_while(is_fixed).map(|word| fill(word, "", ""));
        let places: Vec<_> = self.words.iter().skip_while(is_fixed).collect();
        let values = pairs.flat_map(|(key, value)| places.iter().map(move |word| fill(word, key, value)));
        let values: Vec<String> = values.collect();
        fixed.chain(values).collect()
    }

    /// Returns the other ways in which programs take the same option: `--x=V` for `--x V`, and `-xV` for `-x V`.
    ///
    /// An option whose value may be absent takes it attached only, so its callers must not use these.
    #[must_use]
    pub fn equivalents(&self) -> Vec<Self> {
        let has_value = |word: &[Piece]| word.iter().any(|piece| !matches!(piece, Piece::Literal(_)));
        match self.words.as_slice() {
            [name, value] if has_value(value) => match name.as_slice() {
                [Piece::Literal(name)] if name.starts_with('-') && name.len() > 1 => {
                    let joint = if is_short(name) { name.clone() } else { format!("{name}=") };
                    let word = [vec![Piece::Literal(joint)], value.clone()].concat();
                    vec![Self { words: vec![word] }]
                }
                _ => Vec::new(),
            },
            [word] if has_value(word) => match word.as_slice() {
                [Piece::Literal(name), value @ ..] if name.starts_with('-') => {
                    let bare = name.strip_suffix('=').unwrap_or(name).to_owned();
                    if bare.len() < 2 || (bare == *name && !is_short(name)) {
                        return Vec::new();
                    }
                    vec![Self { words: vec![vec![Piece::Literal(bare)], value.to_vec()] }]
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Returns `-x=V` for `-x V` and `-xV`; `None` if it is no letter with a value.
    ///
    /// Programs that read options by pflag, clap or argparse take it for the same. To those that read them by getopt, the
    /// `=` is a part of the value.
    #[must_use]
    pub fn with_equals(&self) -> Option<Self> {
        self.short()?;
        let (name, value) = match self.words.as_slice() {
            [name, value] => (name.first()?, value.as_slice()),
            [word] => word.split_first()?,
            _ => return None,
        };
        match name {
            Piece::Literal(name) if !value.is_empty() => {
                let word = [&[Piece::Literal(format!("{name}="))], value].concat();
                Some(Self { words: vec![word] })
            }
            _ => None,
        }
    }

    /// Reads the words of one value, the inverse of [`Self::filled`]; `None` if the first words are others.
    #[must_use]
    pub fn read<'w>(&self, words: &[&'w str]) -> Option<FlagMatch<'w>> {
        let mut found = FlagMatch { key: "", value: "", words: self.words.len(), literal_bytes: 0 };
        if words.len() < self.words.len() {
            return None;
        }

        for (pieces, word) in self.words.iter().zip(words) {
            let mut rest = *word;
            for (at, piece) in pieces.iter().enumerate() {
                let end = match pieces.get(at + 1) {
                    Some(Piece::Literal(next)) if *piece == Piece::Key => rest.find(next.as_str())?,
                    Some(Piece::Literal(next)) => rest.rfind(next.as_str())?,
                    _ => rest.len(),
                };
                match piece {
                    Piece::Literal(text) => {
                        rest = rest.strip_prefix(text.as_str())?;
                        found.literal_bytes += text.len();
                        continue;
                    }
                    Piece::Key => found.key = &rest[..end],
                    Piece::Value => found.value = &rest[..end],
                }
                rest = &rest[end..];
            }
            if !rest.is_empty() {
                return None;
            }
        }

        Some(found).filter(|found| !self.lacks_value(found))
    }

    /// Whether nothing follows a name that an attached value would follow, such as in `-j`.
    fn lacks_value(&self, found: &FlagMatch<'_>) -> bool {
        let is_attached = matches!(
            self.words.as_slice(),
            [word] if matches!(word.as_slice(), [Piece::Literal(name), Piece::Value] if !name.ends_with('='))
        );
        is_attached && found.value.is_empty()
    }

    /// Returns the words that stand before the value, such as `--label`; `None` if a value stands in the first one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self.words.first()?.first()? {
            Piece::Literal(text) => Some(text),
            Piece::Value | Piece::Key => None,
        }
    }

    /// Returns the number of words before those of the value; all of them if there is no value.
    #[must_use]
    pub fn fixed_words(&self) -> usize {
        let is_fixed = |word: &&Vec<Piece>| word.iter().all(|piece| matches!(piece, Piece::Literal(_)));
        self.words.iter().take_while(is_fixed).count()
    }

    /// Returns whether the option has no place for a value.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.fixed_words() == self.words.len()
    }

    /// Returns whether the value stands behind the name in one word, such as `--label=V` or `-j4`.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        matches!(self.words.as_slice(), [word] if word.len() > 1)
    }

    /// Returns whether it is a dash and one character, which may stand in a cluster such as `-la`.
    #[must_use]
    pub fn short(&self) -> Option<char> {
        let name = self.name()?;
        let is_whole = self.words[0].len() == 1 || matches!(self.words[0].get(1), Some(Piece::Value | Piece::Key));
        name.chars().nth(1).filter(|_| is_whole && is_short(name))
    }

    /// Returns the words with `<NAME>` for the value, and `<KEY>` and `<VALUE>` for those of maps.
    #[must_use]
    pub fn described(&self, name: &str) -> String {
        let is_map = self.words.iter().flatten().any(|piece| *piece == Piece::Key);
        let value = if is_map { "<VALUE>".to_owned() } else { format!("<{name}>") };
        self.filled("<KEY>", &value).join(" ")
    }
}

/// Returns whether a name is a dash and one character.
fn is_short(name: &str) -> bool {
    name.starts_with('-') && name != "--" && name.chars().count() == 2
}

fn fill(word: &[Piece], key: &str, value: &str) -> String {
    let texts = word.iter().map(|piece| match piece {
        Piece::Literal(text) => text.as_str(),
        Piece::Value => value,
        Piece::Key => key,
    });
    texts.collect()
}

/// Reads the pieces of a word. Other braces stand for themselves: programs have them in formats.
fn pieces(word: &str, is_map: bool) -> Vec<Piece> {
    let places: &[(&str, Piece)] =
        if is_map { &[("{key}", Piece::Key), ("{value}", Piece::Value)] } else { &[("{}", Piece::Value)] };
    let mut pieces = Vec::new();
    let mut rest = word;

    while !rest.is_empty() {
        let next = places.iter().filter_map(|(text, piece)| Some((rest.find(text)?, *text, piece)));
        let Some((at, text, piece)) = next.min_by_key(|(at, ..)| *at) else {
            pieces.push(Piece::Literal(rest.to_owned()));
            break;
        };
        if at > 0 {
            pieces.push(Piece::Literal(rest[..at].to_owned()));
        }
        pieces.push(piece.clone());
        rest = &rest[at + text.len()..];
    }

    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Spread;

    const MAP: Shape = Shape::Map(Spread::Repeat);

    #[test]
    fn value_goes_to_its_place() {
        for (words, shape, expected) in [
            (vec!["--label"], Shape::Single, vec!["--label", "v"]),
            (vec!["--label="], Shape::Single, vec!["--label=v"]),
            (vec!["-j{}"], Shape::Single, vec!["-j1"]),
            (vec!["--set"], MAP, vec!["--set", "k=v"]),
            (vec!["--set="], MAP, vec!["--set=k=v"]),
            (vec!["--arg", "{key}", "{value}"], MAP, vec!["--arg", "k", "v"]),
            (vec!["-D{key}:{value}", "{x}"], MAP, vec!["-Dk:v", "{x}"]),
        ] {
            let value = if words == ["-j{}"] { "1" } else { "v" };
            assert_eq!(FlagTemplate::new(&words, shape, false).filled("k", value), expected);
        }
        assert_eq!(FlagTemplate::new(&["--all"], Shape::Single, true).filled("", "true"), ["--all"]);
    }

    #[test]
    fn one_flag_takes_several_words() {
        let flag = FlagTemplate::new(&["--filters"], MAP, false);
        assert_eq!(flag.filled_once([("a", "1"), ("b", "2")].into_iter()), ["--filters", "a=1", "b=2"]);
        assert_eq!(flag.separator(), "=");
    }

    #[test]
    fn places_of_other_shapes_are_errors() {
        for (word, shape) in [("--set {key}", MAP), ("-D{}", MAP), ("-v{}", Shape::Count), ("{}={}", Shape::Single)] {
            let words: Vec<&str> = word.split(' ').collect();
            assert!(FlagTemplate::new(&words, shape, false).check(shape).is_err(), "{word}");
        }
    }
}
