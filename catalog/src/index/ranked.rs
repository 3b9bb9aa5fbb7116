//! The ranked index: BM25F with one impact per term and tool, computed when the catalog is made.
//!
//! Arithmetic is integers and IEEE basic operations only, so every machine ranks alike.

use std::collections::{BTreeMap, HashMap};

use super::tokens::{stem, stems, words};
use crate::checked::{Cli, Tool};
use crate::lower::{Full, offset};
use crate::table::{Ranked, Texts};

/// Saturation of term frequency (BM25's k₁).
const SATURATION: f64 = 2.5;
/// The largest impact, which stands for endless repetition.
const MAX_IMPACT: f64 = 255.0;

/// A field of a tool: how much a word in it counts, and how much its length takes away (BM25's b).
struct Field {
    weight: f64,
    length: f64,
}

const FIELDS: [Field; 7] = [
    // The tool's name.
    Field { weight: 4.0, length: 1.0 },
    // The last word of its name: what it does.
    Field { weight: 2.0, length: 0.0 },
    // The CLI's name, category and tags.
    Field { weight: 0.5, length: 0.0 },
    // The CLI's description.
    Field { weight: 0.6, length: 0.3 },
    // The tool's description.
    Field { weight: 2.0, length: 0.75 },
    // Names and descriptions of args.
    Field { weight: 0.7, length: 0.5 },
    // Enum values.
    Field { weight: 0.6, length: 0.5 },
];

/// Collects the words of tools, in catalog order.
#[derive(Default)]
pub(crate) struct Builder {
    tools: Vec<[HashMap<String, u32>; FIELDS.len()]>,
    /// Words in each field of all tools together.
    lengths: [u64; FIELDS.len()],
    /// What all tools of the CLI that is being added share: stems of its name, category and tags, and of its description.
    cli: (Vec<String>, Vec<String>),
}

impl Builder {
    /// Starts the tools of a CLI.
    pub(crate) fn start(&mut self, cli: &Cli) {
        let discovery = [&cli.name].into_iter().chain(&cli.category).chain(&cli.tags);
        self.cli = (discovery.flat_map(|text| name_stems(text)).collect(), stems(&cli.description).collect());
    }

    /// Adds a tool of the CLI that was started.
    pub(crate) fn add(&mut self, tool: &Tool) {
        let given = || tool.args.iter().filter(|arg| !arg.asked && arg.output.is_none());
        let args = given().flat_map(|arg| [arg.name.as_str(), arg.description.as_str()]);
        let values = given().flat_map(|arg| arg.values.iter().map(String::as_str));
        let name = name_stems(&tool.name);
        let fields = [
            name.clone(),
            name.last().cloned().into_iter().collect(),
            self.cli.0.clone(),
            self.cli.1.clone(),
            stems(&tool.description).collect(),
            args.flat_map(stems).collect(),
            values.flat_map(stems).collect(),
        ];
        for (total, field) in self.lengths.iter_mut().zip(&fields) {
            *total += field.len() as u64;
        }
        self.tools.push(fields.map(counted));
    }

    /// Computes every impact.
    ///
    /// # Errors
    /// A table would need offsets of more than `max`.
    pub(crate) fn finish(self, max: u32) -> Result<Ranked, Full> {
        #[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
        let average = self.lengths.map(|total| (total as f64 / self.tools.len().max(1) as f64).max(1.0));
        let mut postings: BTreeMap<String, Vec<(u32, u8)>> = BTreeMap::new();
        for (row, fields) in (0..).zip(&self.tools) {
            for (term, impact) in impacts(fields, &average) {
                postings.entry(term.to_owned()).or_default().push((row, impact));
            }
        }
        let (mut text, mut text_ends, mut bytes, mut ends) = (String::new(), Vec::new(), Vec::new(), Vec::new());
        for (term, list) in &postings {
            text.push_str(term);
            text_ends.push(offset(text.len(), max, "bytes of terms")?);
            encode(list, &mut bytes);
            ends.push(offset(bytes.len(), max, "bytes of postings")?);
        }
        let terms = Texts { text: text.into(), ends: text_ends.into() };
        Ok(Ranked { terms, postings: bytes.into(), ends: ends.into() })
    }
}

/// Names are all words, also those that would be stop words in a sentence.
fn name_stems(name: &str) -> Vec<String> {
    words(name).map(|word| stem(&word).into_owned()).collect()
}

fn counted(words: Vec<String>) -> HashMap<String, u32> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// The impact of each term of a tool, from 1 to 255.
fn impacts<'a>(fields: &'a [HashMap<String, u32>; FIELDS.len()], average: &[f64; FIELDS.len()]) -> Vec<(&'a str, u8)> {
    let mut frequency: BTreeMap<&str, f64> = BTreeMap::new();
    for ((counts, field), average) in fields.iter().zip(&FIELDS).zip(average) {
        let length: u32 = counts.values().sum();
        let norm = 1.0 - field.length + field.length * f64::from(length) / average;
        for (term, count) in counts {
            *frequency.entry(term).or_default() += field.weight * f64::from(*count) / norm;
        }
    }
    let quantised = |tf: f64| {
        let impact = (tf / (tf + SATURATION) * MAX_IMPACT).round().clamp(1.0, MAX_IMPACT);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
        let byte = impact as u8;
        byte
    };
    frequency.into_iter().map(|(term, tf)| (term, quantised(tf))).collect()
}

/// Writes the postings of a term as [`Ranked::postings`] has them.
fn encode(list: &[(u32, u8)], bytes: &mut Vec<u8>) {
    write_number(u32::try_from(list.len()).expect("tools have rows of 32 bits"), bytes);
    let mut before = 0;
    for (row, impact) in list {
        write_number(row - before, bytes);
        bytes.push(*impact);
        before = *row;
    }
}

/// Writes a number in groups of seven bits, the lowest first; the top bit says that another group follows.
fn write_number(mut number: u32, bytes: &mut Vec<u8>) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            bytes.push(low & 0x7F);
            return;
        }
        bytes.push(low | 0x80);
    }
}

fn read_number(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

/// The tools that a term stands in, with its impact there.
#[derive(Clone)]
pub(super) struct Postings<'a> {
    bytes: &'a [u8],
    row: u32,
    left: u32,
}

impl Iterator for Postings<'_> {
    type Item = (u32, u8);

    fn next(&mut self) -> Option<Self::Item> {
        let distance = read_number(&mut self.bytes)?;
        let (impact, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        self.row += distance;
        self.left = self.left.saturating_sub(1);
        Some((self.row, *impact))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Postings<'_> {}

impl Ranked {
    /// The number of a term.
    pub(super) fn find(&self, term: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.terms.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.term(middle).cmp(term) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    pub(super) fn term(&self, number: usize) -> &str {
        self.terms.get(crate::table::Str(u32::try_from(number).expect("terms are counted in 32 bits")))
    }

    pub(super) fn terms(&self) -> impl Iterator<Item = &str> {
        (0..self.terms.ends.len()).map(|number| self.term(number))
    }

    pub(super) fn postings(&self, number: usize) -> Postings<'_> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let mut bytes = &self.postings[start..self.ends[number] as usize];
        let left = read_number(&mut bytes).unwrap_or_default();
        Postings { bytes, row: 0, left }
    }
}
