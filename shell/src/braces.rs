//! Brace expansion: `{a,b}` and `{1..3}`.
//!
//! Source: bash(1), "Brace Expansion".

use crate::tree::{Command, List, Part, Word};

/// Maximum number of words that the braces of a text stand for. The words of commands in them count too.
pub(crate) const MAX_WORDS: usize = 20_000;

/// Maximum length of the words that the braces of a text stand for, in bytes: each counts as long as what it comes from.
pub(crate) const MAX_WORD_BYTES: usize = 1 << 20;

/// Maximum number of braces in one word.
pub(crate) const MAX_BRACES: usize = 64;

/// A piece of a word between braces.
#[derive(Clone)]
enum Piece {
    Open,
    Close,
    Comma,
    Part(Part),
}

impl Word {
    /// Returns the words that its braces stand for, in order; itself if it has none.
    ///
    /// `None` if it has more than 64 braces, or if they stand for more than 20,000 words, or 1 MiB of them: [`parse`]
    /// refuses such a word.
    ///
    /// [`parse`]: crate::parse
    #[must_use]
    pub fn braces(&self) -> Option<Vec<Self>> {
        let has_brace = |part: &Part| matches!(part, Part::Text(text) if text.contains('{'));
        if !self.parts.iter().any(has_brace) {
            return Some(vec![self.clone()]);
        }
        let pieces = pieces(&self.parts);
        if pieces.iter().filter(|piece| matches!(piece, Piece::Open)).count() > MAX_BRACES {
            return None;
        }

        let (words, bytes) = self.size();
        let words = expanded(&pieces, (MAX_WORDS / words).min(MAX_WORD_BYTES / bytes)).ok()?;
        Some(words.into_iter().map(|parts| Self { parts: joined(parts), range: self.range.clone() }).collect())
    }

    /// The number of words that a copy of it has, which are itself and those of the commands in it, and their length in
    /// bytes; each at least 1.
    pub(crate) fn size(&self) -> (usize, usize) {
        let mut lists = Vec::new();
        self.parts.iter().for_each(|part| part.add_lists(&mut lists));
        let inner = lists.into_iter().flat_map(List::commands).flat_map(Command::words);
        let add = |(words, bytes), word: &Self| (words + 1, bytes + word.range.len());
        inner.fold((1, self.range.len().max(1)), add)
    }
}

/// The error of braces that stand for too many words.
struct TooMany;

fn pieces(parts: &[Part]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in parts {
        let Part::Text(text) = part else {
            pieces.push(Piece::Part(part.clone()));
            continue;
        };
        for piece in text.split_inclusive(['{', ',', '}']) {
            let (own, mark) = match piece.chars().next_back() {
                Some(mark @ ('{' | ',' | '}')) => (&piece[..piece.len() - 1], Some(mark)),
                _ => (piece, None),
            };
            if !own.is_empty() {
                pieces.push(Piece::Part(Part::Text(own.to_owned())));
            }
            pieces.extend(mark.map(|mark| match mark {
                '{' => Piece::Open,
                ',' => Piece::Comma,
                _ => Piece::Close,
            }));
        }
    }
    pieces
}

/// Returns the words of some pieces, at most `most`.
fn expanded(pieces: &[Piece], most: usize) -> Result<Vec<Vec<Part>>, TooMany> {
    let Some((open, close)) = first_braces(pieces) else { return Ok(vec![pieces.iter().map(literal).collect()]) };
    let before: Vec<Part> = pieces[..open].iter().map(literal).collect();
    let inside = &pieces[open + 1..close];
    let middle: Vec<Vec<Part>> = if inside.iter().any(|piece| matches!(piece, Piece::Comma)) {
        let mut all = Vec::new();
        for one in alternatives(inside) {
            all.extend(expanded(one, most)?);
            if all.len() > most {
                return Err(TooMany);
            }
        }
        all
    } else if let Some(words) = sequence(inside, most)? {
        words.into_iter().map(|word| vec![Part::Text(word)]).collect()
    } else {
        vec![pieces[open..=close].iter().map(literal).collect()]
    };
    let after = expanded(&pieces[close + 1..], most)?;
    if middle.len().saturating_mul(after.len()) > most {
        return Err(TooMany);
    }

    let join = |own: &Vec<Part>, end: &Vec<Part>| before.iter().chain(own).chain(end).cloned().collect();
    Ok(middle.iter().flat_map(|own| after.iter().map(move |end| join(own, end))).collect())
}

/// The first pair of braces that belong together. `{}` at the start of a word is not one.
fn first_braces(pieces: &[Piece]) -> Option<(usize, usize)> {
    let is_empty = matches!(pieces, [Piece::Open, Piece::Close, ..]);
    let opens = pieces.iter().enumerate().skip(usize::from(is_empty));
    opens
        .filter(|(_, piece)| matches!(piece, Piece::Open))
        .find_map(|(open, _)| closing(&pieces[open + 1..]).map(|length| (open, open + 1 + length)))
}

/// Finds the brace that ends what these pieces begin with: one outside of inner braces, after a comma or two periods there.
/// A brace that ends nothing is text.
fn closing(pieces: &[Piece]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_divided = false;
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Open => depth += 1,
            Piece::Close if depth > 0 => depth -= 1,
            Piece::Close if is_divided => return Some(at),
            Piece::Comma => is_divided |= depth == 0,
            Piece::Part(Part::Text(text)) => {
                let is_last = matches!(pieces.get(at + 1), Some(Piece::Close));
                let periods = text.find("..").filter(|found| !is_last || found + 2 < text.len());
                is_divided |= depth == 0 && periods.is_some();
            }
            Piece::Close | Piece::Part(_) => {}
        }
    }
    None
}

/// Splits pieces at the commas that stand in no braces of their own.
fn alternatives(pieces: &[Piece]) -> Vec<&[Piece]> {
    let mut depth = 0_usize;
    let is_end = |piece: &Piece| {
        match piece {
            Piece::Open => depth += 1,
            Piece::Close => depth = depth.saturating_sub(1),
            Piece::Comma => return depth == 0,
            Piece::Part(_) => {}
        }
        false
    };
    pieces.split(is_end).collect()
}

/// Returns the words of `1..3`, `01..10..2` or `a..e`, at most `most`; `None` if the pieces are no such sequence.
fn sequence(pieces: &[Piece], most: usize) -> Result<Option<Vec<String>>, TooMany> {
    let [Piece::Part(Part::Text(text))] = pieces else { return Ok(None) };
    let Some((ends, step)) = ends_and_step(text) else { return Ok(None) };

    if let [Ok(from), Ok(to)] = ends.map(str::parse::<i64>) {
        let is_padded = |text: &str| {
            let digits = text.trim_start_matches('-');
            digits.starts_with('0') && digits.len() > 1
        };
        let width = if ends.into_iter().any(is_padded) { ends[0].len().max(ends[1].len()) } else { 0 };
        let numbers = counted(from, to, step, most)?;
        return Ok(Some(numbers.into_iter().map(|number| format!("{number:0width$}")).collect()));
    }

    let letter = |text: &str| text.bytes().next().filter(|byte| byte.is_ascii_alphabetic() && text.len() == 1);
    let [Some(from), Some(to)] = ends.map(letter) else { return Ok(None) };
    let codes = counted(from.into(), to.into(), step, most)?;
    let letters = codes.into_iter().filter_map(|code| u8::try_from(code).ok()).map(|code| char::from(code).to_string());
    Ok(Some(letters.collect()))
}

/// Splits `1..9..2` into its ends and its step.
fn ends_and_step(text: &str) -> Option<([&str; 2], i64)> {
    let parts: Vec<&str> = text.split("..").collect();
    match parts.as_slice() {
        [first, last] => Some(([first, last], 1)),
        [first, last, step] => Some(([first, last], step.parse::<i64>().ok()?.checked_abs()?.max(1))),
        _ => None,
    }
}

/// The numbers from one to another. Their distance must be below 2⁶²: near 2⁶³ bash leaves the braces as they are.
fn counted(from: i64, to: i64, step: i64, most: usize) -> Result<Vec<i64>, TooMany> {
    let distance = i64::try_from(from.abs_diff(to)).ok().filter(|distance| *distance < 1 << 62).ok_or(TooMany)?;
    let steps = usize::try_from(distance / step).ok().filter(|steps| *steps < most).ok_or(TooMany)?;
    let step = if from <= to { step } else { -step };
    Ok(std::iter::successors(Some(from), |number| number.checked_add(step)).take(steps + 1).collect())
}

fn literal(piece: &Piece) -> Part {
    match piece {
        Piece::Open => Part::Text("{".to_owned()),
        Piece::Close => Part::Text("}".to_owned()),
        Piece::Comma => Part::Text(",".to_owned()),
        Piece::Part(part) => part.clone(),
    }
}

/// Joins texts that stand side by side.
fn joined(parts: Vec<Part>) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match (all.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(own)) => before.push_str(&own),
            (_, part) => all.push(part),
        }
    }
    all
}
