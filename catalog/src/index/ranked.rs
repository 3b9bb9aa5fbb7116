//! The ranked index: BM25F with one impact per term and tool, computed when the catalog is made.
//!
//! Arithmetic is integers and IEEE basic operations only, so every machine ranks alike.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use super::sentence::is_content;
use super::tokens::{is_inflected, stem, stems, words};
use crate::offset::{Full, offset};
use crate::raise;
use crate::table::{Catalog, CheckedCli, CheckedTool, Ranked, Rows, Texts};
use crate::view::{CliView, ResolvedTool};

/// Saturation of term frequency (BM25's k₁).
const SATURATION: f64 = 2.0;
/// The largest impact, which stands for endless repetition.
const MAX_IMPACT: f64 = 255.0;

/// A field of a tool: how much a word in it counts, how much its length takes away (BM25's b), and how often a word counts
/// at most.
struct IndexedField {
    name: &'static str,
    weight: f64,
    length: f64,
    most: u32,
}

/// For fields in which each word counts as often as it stands there.
const EACH: u32 = u32::MAX;

const FIELDS: [IndexedField; 9] = [
    IndexedField { name: "name", weight: 2.4, length: 1.0, most: EACH },
    // It tells what the tool does.
    IndexedField { name: "last word of name", weight: 2.8, length: 0.0, most: EACH },
    IndexedField { name: "CLI name, category, tags", weight: 0.7, length: 0.5, most: EACH },
    IndexedField { name: "CLI description", weight: 0.35, length: 0.75, most: EACH },
    IndexedField { name: "description", weight: 2.0, length: 0.75, most: EACH },
    // They count in the whole description too.
    IndexedField { name: "start of description", weight: 0.45, length: 0.0, most: EACH },
    IndexedField { name: "args", weight: 1.0, length: 0.5, most: EACH },
    // A tool with a long list of subcommands is not about a word that many of them have, nor much about each of them.
    IndexedField { name: "enum values", weight: 1.45, length: 0.3, most: 2 },
    IndexedField { name: "phrases", weight: 2.0, length: 0.5, most: EACH },
];

impl IndexedField {
    /// What the length of the field in a tool divides its frequencies by.
    fn norm(&self, counts: &HashMap<String, u32>, average: f64) -> f64 {
        let length: u32 = counts.values().sum();
        1.0 - self.length + self.length * f64::from(length) / average
    }

    /// The weighted frequency of a word that stands so often in the field.
    fn frequency(&self, count: u32, norm: f64) -> f64 {
        self.weight * f64::from(count.min(self.most)) / norm
    }
}

/// Words of a description that count as its first ones.
const FIRST_WORDS: usize = 4;

/// How much a request must say of a word of a tool's name that tells where it belongs (`remote` in `git_remote_add`).
pub(super) const PLACE: u8 = 2;
/// The same for the last word, which tells what the tool does. Requests often use another word for that.
pub(super) const ACTION: u8 = 1;
/// [`Posting::named`] of a last word that is no command: the plural in `docker_images`.
const THINGS: u8 = 3;

/// Collects the words of tools, in catalog order.
#[derive(Default)]
pub(crate) struct Builder {
    tools: Vec<Entry>,
    /// Words in each field of all tools together.
    lengths: [u64; FIELDS.len()],
    cli: Shared,
}

/// The words of a tool.
struct Entry {
    fields: [HashMap<String, u32>; FIELDS.len()],
    /// [`PLACE`], [`ACTION`] or [`THINGS`] of each word of its name, without those of its CLI's name.
    name: HashMap<String, u8>,
    /// The words of content of each phrase, sorted, each once. Commas part phrases too.
    phrases: Vec<Vec<String>>,
}

/// Stems that all tools of the CLI that is being added share.
#[derive(Default)]
struct Shared {
    names: Vec<String>,
    discovery: Vec<String>,
    description: Vec<String>,
}

impl Builder {
    /// Starts the tools of a CLI.
    pub(crate) fn start(&mut self, cli: &CheckedCli) {
        let discovery = [&cli.name].into_iter().chain(&cli.category).chain(&cli.tags);
        self.cli = Shared {
            names: [&cli.name, &cli.stem].into_iter().flat_map(|text| name_stems(text)).collect(),
            discovery: discovery.flat_map(|text| name_stems(text)).collect(),
            description: stems(&cli.description).collect(),
        };
    }

    /// Adds a tool of the CLI that was started.
    pub(crate) fn add(&mut self, tool: &CheckedTool) {
        let given = || tool.args.iter().filter(|arg| !arg.from_user && arg.output.is_none() && arg.shown);
        let args = given().flat_map(|arg| [arg.name.as_str(), arg.description.as_str()]);
        let values = given().flat_map(|arg| arg.choices.iter().map(|choice| choice.value.as_str()));
        let name = name_stems(&tool.name);
        let fields = [
            name.clone(),
            name.last().cloned().into_iter().collect(),
            self.cli.discovery.clone(),
            self.cli.description.clone(),
            stems(&tool.description).collect(),
            stems(&tool.description).take(FIRST_WORDS).collect(),
            args.flat_map(stems).collect(),
            values.flat_map(stems).collect(),
            tool.phrases.iter().flat_map(|phrase| stems(phrase)).collect(),
        ];

        for (total, field) in self.lengths.iter_mut().zip(&fields) {
            *total += field.len() as u64;
        }

        let phrases = tool.phrases.iter().flat_map(|phrase| phrase.split(',')).map(phrase_stems);
        self.tools.push(Entry {
            fields: fields.map(counted),
            name: parts(&tool.name, name, &self.cli.names),
            phrases: phrases.filter(|phrase| !phrase.is_empty()).collect(),
        });
    }

    /// The average number of words in each field.
    #[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
    fn averages(&self) -> [f64; FIELDS.len()] {
        self.lengths.map(|total| (total as f64 / self.tools.len().max(1) as f64).max(1.0))
    }

    /// Computes every impact.
    ///
    /// # Errors
    /// A table would need offsets of more than `max`.
    pub(crate) fn finish(self, max: u32) -> Result<Ranked, Full> {
        let average = self.averages();
        let mut postings: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
        for (row, tool) in (0..).zip(&self.tools) {
            for (term, impact) in impacts(&tool.fields, &average) {
                let named = tool.name.get(term).copied().unwrap_or_default();
                postings.entry(term.to_owned()).or_default().push(Posting { row, impact, named });
            }
        }

        let names =
            self.tools.iter().map(|tool| tool.name.values().fold(0, |sum: u8, part| sum.saturating_add(said(*part))));
        let (mut text, mut text_ends, mut bytes, mut ends) = (String::new(), Vec::new(), Vec::new(), Vec::new());
        for (term, list) in &postings {
            text.push_str(term);
            text_ends.push(offset(text.len(), max, "bytes of terms")?);
            encode(list, &mut bytes);
            ends.push(offset(bytes.len(), max, "bytes of postings")?);
        }

        let numbers: HashMap<&str, u64> = postings.keys().map(String::as_str).zip(0..).collect();
        let (mut phrases, mut phrase_ends) = (Vec::new(), Vec::new());
        for tool in &self.tools {
            tool.phrases.iter().for_each(|phrase| encode_phrase(phrase, &numbers, &mut phrases));
            phrase_ends.push(offset(phrases.len(), max, "bytes of phrases")?);
        }

        Ok(Ranked {
            terms: Texts { text: text.into(), ends: text_ends.into() },
            postings: bytes.into(),
            ends: ends.into(),
            names: names.collect(),
            phrases: phrases.into(),
            phrase_ends: phrase_ends.into(),
        })
    }
}

/// The words in each field of the tools of a catalog, for explanations: an index has one impact for all fields of a tool.
pub(super) struct FieldWords {
    tools: Vec<Entry>,
    average: [f64; FIELDS.len()],
}

impl FieldWords {
    /// Reads the tools of a catalog anew.
    pub(super) fn of(catalog: &Catalog) -> Self {
        let mut builder = Builder::default();
        for cli in (0..).take(catalog.clis.len()).map(|row| CliView::new(catalog, row)) {
            builder.start(&raise::cli(cli));
            let Rows(first, end) = cli.tool_rows();
            (first..end).for_each(|row| builder.add(&raise::tool(ResolvedTool::new(catalog, row))));
        }
        Self { average: builder.averages(), tools: builder.tools }
    }

    /// The fields of a tool that have a term, each with the term's weighted frequency in it.
    pub(super) fn frequencies(&self, row: u32, term: &str) -> Vec<(&'static str, f64)> {
        let fields = &self.tools[row as usize].fields;
        let found = fields.iter().zip(&FIELDS).zip(&self.average).filter_map(|((counts, field), average)| {
            let count = *counts.get(term)?;
            Some((field.name, field.frequency(count, field.norm(counts, *average))))
        });
        found.collect()
    }
}

/// Names are all words, also those that would be stop words in a sentence.
fn name_stems(name: &str) -> Vec<String> {
    words(name).map(|word| stem(&word).into_owned()).collect()
}

/// The stems of a phrase's words of content, sorted, each once.
fn phrase_stems(phrase: &str) -> Vec<String> {
    let stems: BTreeSet<_> =
        words(phrase).filter(|word| is_content(word)).map(|word| stem(&word).into_owned()).collect();
    stems.into_iter().collect()
}

/// [`PLACE`], [`ACTION`] or [`THINGS`] of each word of a tool's name, whose stems are `stems`.
fn parts(name: &str, stems: Vec<String>, cli: &[String]) -> HashMap<String, u8> {
    let is_command = words(name).last().is_some_and(|word| !is_inflected(&word));
    let mut own: Vec<String> = stems.into_iter().filter(|word| !cli.contains(word)).collect();
    let action = own.pop().map(|word| (word, if is_command { ACTION } else { THINGS }));
    action.into_iter().chain(own.into_iter().map(|word| (word, PLACE))).collect()
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
        let norm = field.norm(counts, *average);
        for (term, count) in counts {
            *frequency.entry(term).or_default() += field.frequency(*count, norm);
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
fn encode(list: &[Posting], bytes: &mut Vec<u8>) {
    write_number(list.len() as u64, bytes);
    let mut before = 0;
    for posting in list {
        write_number(u64::from(posting.row - before) << NAMED_BITS | u64::from(posting.named), bytes);
        bytes.push(posting.impact);
        before = posting.row;
    }
}

/// Writes the terms of a phrase as [`Ranked::phrases`] has them. Terms are sorted, and so are their numbers.
fn encode_phrase(phrase: &[String], numbers: &HashMap<&str, u64>, bytes: &mut Vec<u8>) {
    write_number(phrase.len() as u64, bytes);
    let mut before = 0;
    for number in phrase.iter().map(|term| numbers[term.as_str()]) {
        write_number(number - before, bytes);
        before = number;
    }
}

/// Writes a number in groups of seven bits, the lowest first; the top bit says that another group follows.
fn write_number(mut number: u64, bytes: &mut Vec<u8>) {
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

fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
    }
}

/// Bits of a distance that hold [`Posting::named`].
const NAMED_BITS: u32 = 2;

/// A tool that a term stands in.
#[derive(Clone, Copy)]
pub(super) struct Posting {
    pub(super) row: u32,
    pub(super) impact: u8,
    /// [`PLACE`], [`ACTION`] or [`THINGS`] if the term is a word of the tool's name, else 0.
    pub(super) named: u8,
}

/// How much of a tool's name is said with a word of it.
fn said(named: u8) -> u8 {
    if named == THINGS { ACTION } else { named }
}

impl Posting {
    /// How much the term is what the tool is about, from 0 to 1.
    pub(super) fn strength(self) -> f64 {
        (f64::from(self.impact) / MAX_IMPACT).sqrt()
    }

    /// How much of the tool's name is said with the term.
    pub(super) fn said(self) -> u8 {
        said(self.named)
    }

    /// Whether the term is what the tool's name commands.
    pub(super) fn is_command(self) -> bool {
        self.named == ACTION
    }
}

/// The tools that a term stands in, in catalog order.
#[derive(Clone)]
pub(super) struct Postings<'a> {
    bytes: &'a [u8],
    row: u32,
    left: usize,
}

impl Iterator for Postings<'_> {
    type Item = Posting;

    fn next(&mut self) -> Option<Self::Item> {
        let number = read_number(&mut self.bytes)?;
        let (impact, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        #[expect(clippy::cast_possible_truncation, reason = "rows have 32 bits")]
        let distance = (number >> NAMED_BITS) as u32;
        let [low, ..] = number.to_le_bytes();
        self.row += distance;
        self.left = self.left.saturating_sub(1);

        Some(Posting { row: self.row, impact: *impact, named: low & ((1 << NAMED_BITS) - 1) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Postings<'_> {}

impl Ranked {
    /// The number of a term.
    pub(super) fn find(&self, term: &str) -> Option<usize> {
        let number = self.first_from(term);
        (number < self.terms.ends.len() && self.term(number) == term).then_some(number)
    }

    /// The number of the first term that is not before a text.
    fn first_from(&self, text: &str) -> usize {
        let (mut low, mut high) = (0, self.terms.ends.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.term(middle) < text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }

        low
    }

    /// The terms that start with a text.
    pub(super) fn starting_with<'a>(&'a self, start: &'a str) -> impl Iterator<Item = &'a str> {
        let terms = (self.first_from(start)..self.terms.ends.len()).map(|number| self.term(number));
        terms.take_while(move |term| term.starts_with(start))
    }

    /// The terms whose bytes are as many as a range has them.
    pub(super) fn of_length(&self, lengths: RangeInclusive<usize>) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(&0).chain(self.terms.ends.iter());
        let spans = starts.zip(self.terms.ends.iter()).map(|(start, end)| *start as usize..*end as usize);
        spans.filter(move |span| lengths.contains(&span.len())).map(|span| &self.terms.text[span])
    }

    fn term(&self, number: usize) -> &str {
        self.terms.get(crate::table::Str(u32::try_from(number).expect("terms are counted in 32 bits")))
    }

    pub(super) fn postings(&self, number: usize) -> Postings<'_> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let mut bytes = &self.postings[start..self.ends[number] as usize];
        let left =
            read_number(&mut bytes).map_or(0, |count| usize::try_from(count).expect("tools have rows of 32 bits"));
        Postings { bytes, row: 0, left }
    }

    /// The phrases of a tool, each as the numbers of its terms.
    pub(super) fn phrases(&self, row: u32) -> impl Iterator<Item = Vec<usize>> {
        let end_of = |row: u32| self.phrase_ends[row as usize] as usize;
        let mut bytes = &self.phrases[row.checked_sub(1).map_or(0, end_of)..end_of(row)];
        std::iter::from_fn(move || {
            let count = read_number(&mut bytes)?;
            let distances = (0..count).map_while(|_| usize::try_from(read_number(&mut bytes)?).ok());
            let numbers = distances.scan(0, |number, distance| {
                *number += distance;
                Some(*number)
            });
            Some(numbers.collect())
        })
    }
}
