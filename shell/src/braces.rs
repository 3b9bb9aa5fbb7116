//! Brace expansion: `{a,b}` and `{1..3}`.
//!
//! Source: bash(1), "Brace Expansion".

use crate::tree::{Part, Word};

/// Maximum number of words that one word becomes.
const MAX_WORDS: usize = 10_000;

/// Maximum number of braces in one word.
const MAX_BRACES: usize = 64;

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
    /// More than 10,000 are not made, nor are more than 64 braces read: they stay as they are.
    #[must_use]
    pub fn braces(&self) -> Vec<Self> {
        let has_brace = |part: &Part| matches!(part, Part::Text(text) if text.contains('{'));
        if !self.parts.iter().any(has_brace) {
            return vec![self.clone()];
        }
        let pieces = pieces(&self.parts);
        if pieces.iter().filter(|piece| matches!(piece, Piece::Open)).count() > MAX_BRACES {
            return vec![self.clone()];
        }
        let Some(words) = expanded(&pieces) else { return vec![self.clone()] };
        words.into_iter().map(|parts| Self { parts: joined(parts), range: self.range.clone() }).collect()
    }
}

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

/// Returns the words of some pieces; `None` if they are too many.
fn expanded(pieces: &[Piece]) -> Option<Vec<Vec<Part>>> {
    let Some((open, close)) = first_braces(pieces) else { return Some(vec![pieces.iter().map(literal).collect()]) };
    let before: Vec<Part> = pieces[..open].iter().map(literal).collect();
    let inside = &pieces[open + 1..close];
    let middle: Vec<Vec<Part>> = if inside.iter().any(|piece| matches!(piece, Piece::Comma)) {
        let mut all = Vec::new();
        for one in alternatives(inside) {
            all.extend(expanded(one)?);
        }
        all
    } else if let Some(words) = sequence(inside) {
        words.into_iter().map(|word| vec![Part::Text(word)]).collect()
    } else {
        vec![pieces[open..=close].iter().map(literal).collect()]
    };
    let after = expanded(&pieces[close + 1..])?;
    if middle.len().saturating_mul(after.len()) > MAX_WORDS {
        return None;
    }

    let join = |own: &Vec<Part>, end: &Vec<Part>| before.iter().chain(own).chain(end).cloned().collect();
    Some(middle.iter().flat_map(|own| after.iter().map(move |end| join(own, end))).collect())
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

/// Returns the words of `1..3`, `01..10..2` or `a..e`.
fn sequence(pieces: &[Piece]) -> Option<Vec<String>> {
    let [Piece::Part(Part::Text(text))] = pieces else { return None };
    let bounds: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match bounds.as_slice() {
        [first, last] => (*first, *last, 1),
        [first, last, step] => (*first, *last, step.parse::<i64>().ok()?.checked_abs()?.max(1)),
        _ => return None,
    };

    if let (Ok(from), Ok(to)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let is_padded =
            |text: &str| text.trim_start_matches('-').starts_with('0') && text.trim_start_matches('-').len() > 1;
        let width = if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
        return counted(from, to, step).map(|all| all.into_iter().map(|number| format!("{number:0width$}")).collect());
    }
    let letter = |text: &str| text.chars().next().filter(|c| c.is_ascii_alphabetic() && text.len() == 1);
    let all = counted(i64::from(u32::from(letter(first)?)), i64::from(u32::from(letter(last)?)), step)?;
    Some(all.into_iter().filter_map(|code| u8::try_from(code).ok()).map(|code| char::from(code).to_string()).collect())
}

/// The numbers from one to another; `None` if they are too many.
fn counted(from: i64, to: i64, step: i64) -> Option<Vec<i64>> {
    let count = from.abs_diff(to) / step.unsigned_abs() + 1;
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_WORDS)?;
    let sign = if from <= to { step } else { -step };
    Some((0..count).filter_map(|at| from.checked_add(sign.checked_mul(i64::try_from(at).ok()?)?)).collect())
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
