//! The options that a help page lists.

use std::collections::{HashMap, HashSet};

use super::alternatives;
use crate::command::{Flag, Several, Value};
use crate::page::{ListEntry, Section};
use crate::{option, prose, refine, shape, values};

/// The most options of one help page.
pub(super) const MAX_PAGE_OPTIONS: usize = 1000;

/// Phrases of pages whose options take one dash or two.
const BOTH_DASHES: [&str; 6] = [
    "with only one leading dash",
    "one or two dashes",
    "one or two leading dashes",
    "single or double dash",
    "either one dash or two",
    "either a single dash or",
];

/// Adds the spellings that a library takes beside those that it shows.
pub(super) fn add_dashes(options: &mut [Flag], text: &str) {
    let start = text.trim_start();
    if start.starts_with("Usage of ") {
        double_dashes(options);
    } else if start.starts_with("OVERVIEW:") && text.contains("\nGeneric Options:") {
        single_dashes(options);
    } else if says_both_dashes(text) {
        single_dashes(options);
        further_dashes(options);
    }
}

/// Whether a page says that its options take one dash or two.
fn says_both_dashes(text: &str) -> bool {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
    BOTH_DASHES.iter().any(|phrase| words.contains(phrase))
}

/// Adds `--name` to `-name`: Go's package `flag` takes both, and shows the one.
fn double_dashes(options: &mut [Flag]) {
    for flag in options {
        let long: Vec<String> =
            flag.spellings.iter().filter(|own| own.len() > 2).map(|own| format!("-{own}")).collect();
        flag.spellings.splice(0..0, long);
    }
}

/// Adds `--name` behind `-name`, which stays the first: not each program takes `--name=value` too.
fn further_dashes(options: &mut [Flag]) {
    for flag in options {
        let is_single = |own: &&String| own.len() > 2 && !own.starts_with("--");
        let double: Vec<String> = flag.spellings.iter().filter(is_single).map(|own| format!("-{own}")).collect();
        let new: Vec<String> = double.into_iter().filter(|own| !flag.spellings.contains(own)).collect();
        flag.spellings.extend(new);
    }
}

/// Adds `-name` to `--name`: the command lines of LLVM take both, and show the one.
fn single_dashes(options: &mut [Flag]) {
    for flag in options {
        let single: Vec<String> =
            flag.spellings.iter().filter_map(|own| own.strip_prefix('-')).map(str::to_owned).collect();
        let new: Vec<String> =
            single.into_iter().filter(|own| own.starts_with('-') && !flag.spellings.contains(own)).collect();
        flag.spellings.extend(new);
    }
}

/// The options that a page lists.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) options: Vec<Flag>,
    /// Spellings of switches whose line does not show where the option ends: `-d name is the key`.
    pub(super) unsure: HashSet<String>,
}

/// Reads the options of a page.
pub(super) fn options(entries: &[ListEntry], is_manual: bool) -> Listed {
    let mut seen = HashSet::new();
    let mut listed = Listed::default();
    // Spellings in lines of their own above the one that is described.
    let mut above: Vec<Flag> = Vec::new();
    // Where yargs marks switches, what has no mark takes a value.
    let marks_switches = entries.iter().any(|entry| entry.text.iter().any(|line| line.contains("[boolean]")));
    let own = own_spellings(entries);
    let takes_words = is_clap(entries);
    let is_click = is_click(entries);
    let glues_names = option::glues_names(entries);
    let mut companions: Vec<Flag> = Vec::new();
    for entry in alternatives::parted(entries).iter().filter(|entry| entry.term.starts_with('-')) {
        // There is a second column, or the text is below: the first column is the option alone. So are two columns of
        // spellings.
        let mut parts = entry.term.split("  ").map(str::trim).filter(|part| !part.is_empty());
        let is_spelled = entry.text.is_empty() && parts.clone().count() > 1 && parts.all(|part| part.starts_with('-'));
        // `--all Dump all of it. This …` has its description behind one space.
        let is_sentence =
            entry.term.split(' ').skip(1).any(|word| word.len() > 2 && word.ends_with('.') && !word.ends_with(".."));
        let is_whole = (!entry.text.is_empty() || is_spelled) && !entry.term.contains("> ") && !is_sentence;
        let spelled = entry.term.strip_suffix(':').filter(|spelled| !spelled.contains('=')).unwrap_or(&entry.term);
        let Some(term) = option::term(spelled, is_whole) else { continue };
        let mut flag = term.flag;
        if entry.text.is_empty() && flag.value.is_some() {
            companions.extend(companions_in(&term.rest));
        }
        join_name(&mut flag, &entry.text.join(" "));
        // `JSON ARRAY` is one name, and `<TEXT TEXT>...` are two.
        if is_click && !entry.term.contains('<') {
            flag.more.clear();
        }
        if let Some((_, name)) = entry.term.split_once(" --").filter(|_| names_option(&entry.term, &own)) {
            flag.spellings.truncate(1);
            flag.value = Some(Value { name: name.to_owned(), ..Value::default() });
        }
        part_shared(&mut flag, &own, &listed);
        let is_repeated = || shape::in_text("", &entry.text.join(" ")) == Several::Each;
        if let Some(value) =
            flag.value.as_mut().filter(|_| takes_words && entry.term.ends_with(">...") && !is_repeated())
        {
            value.several = Several::Words;
        }

        if entry.section == Section::Valued {
            flag.value.get_or_insert_default();
            flag.counts = false;
        }

        if is_manual && entry.text.is_empty() && term.rest.is_empty() {
            above.push(flag);
            continue;
        }
        if entry.text.is_empty() && flag.value.is_none() {
            listed.unsure.extend(flag.spellings.clone());
        }
        option::part_quoted(&mut flag, &entry.text.join(" "));
        if glues_names {
            option::part_named(&mut flag, &entry.text.join(" "));
        }
        listed.take_above(&mut above, &mut flag, &mut seen);
        let mut text = entry.text.clone();
        if !is_whole && !term.rest.is_empty() {
            text.insert(0, term.rest);
        }

        let joined = text.join(" ").to_ascii_lowercase();
        flag.required |=
            ["(required)", "[required]"].iter().any(|note| joined.contains(note)) || joined.starts_with("required.");
        add_alias(&mut flag, &mut text);
        let is_switch = ["[boolean]", "[count]"].iter().any(|mark| joined.contains(mark));
        if marks_switches && flag.value.is_none() && !is_switch && !entry.text.is_empty() {
            let several = if joined.contains("[array]") { Several::Each } else { Several::No };
            // What has no mark of a type either takes a value that follows it, and needs none.
            let optional = !joined.contains('[') && refine::is_switching(&joined);
            flag.value = Some(Value { several, optional, ..Value::default() });
        }

        let counts = shape::counts(&flag.spellings, &text.join(" ")) || joined.contains("(repeat for more)");
        if flag.value.as_ref().is_some_and(|value| value.name == "count") && counts {
            // The type of the library pflag that counts.
            flag.value = None;
            flag.counts = true;
        }
        match &mut flag.value {
            // "specify several times, or a level by --verbose=n"
            Some(value)
                if text.join(" ").contains(&format!("{}={}", flag.spellings[0], value.name))
                    && shape::counts(&flag.spellings, &text.join(" ")) =>
            {
                value.optional = true;
                value.attached = true;
            }
            Some(value) => {
                values::complete(value, &text);
                let (own, joined) = (&flag.spellings, text.join(" "));
                let is_repeated = shape::stands_twice(own, &joined)
                    || shape::is_one_of(own, &joined)
                    || shape::is_open(own, &value.name, &joined)
                    || shape::gathers(own) && value.kind.is_none();
                if is_repeated && value.several == Several::No && value.values.is_none() {
                    value.several = Several::Each;
                }
            }
            None => complete_switch(&mut flag, &text.join(" ")),
        }
        flag.about = prose::shorten(&text);
        listed.add(flag, &mut seen);
    }
    for flag in above.into_iter().chain(companions) {
        listed.add(flag, &mut seen);
    }

    listed
}

/// The options with values that a line shows behind its own one: `-u <rye>` of `--put <sack> -u <rye> [-w <way>]`.
fn companions_in(text: &str) -> Vec<Flag> {
    let mut found = Vec::new();
    let mut rest = text.trim_matches(['[', ']', ' ']).to_owned();
    while let Some(term) = option::term(&rest, false).filter(|term| term.flag.value.is_some()) {
        found.push(term.flag);
        term.rest.trim_matches(['[', ']', ' ']).clone_into(&mut rest);
    }
    found
}

/// How often each spelling is the long one of an entry.
fn own_spellings(entries: &[ListEntry]) -> HashMap<String, usize> {
    let mut own = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.term.starts_with('-')) {
        let spelled = entry.term.split(", ").filter_map(|part| part.split([' ', '=', '[']).next());
        for spelling in spelled.filter(|part| part.starts_with("--")) {
            *own.entry(spelling.to_owned()).or_default() += 1;
        }
    }
    own
}

/// Whether an entry has the form of the library clap from version 4 on, in which `<NAME>...` takes several words each time.
fn is_clap(entries: &[ListEntry]) -> bool {
    let asks = |entry: &&ListEntry| entry.term == "-h, --help";
    entries.iter().find(asks).is_some_and(|entry| {
        entry.text.first().is_some_and(|text| text == "Print help" || text.starts_with("Print help (see "))
    })
}

/// Whether an entry has the form of the library click.
fn is_click(entries: &[ListEntry]) -> bool {
    let says =
        |entry: &ListEntry| entry.text.first().is_some_and(|text| text.starts_with("Show this message and exit"));
    entries.iter().any(|entry| entry.term.ends_with("--help") && says(entry))
}

/// Whether a term is an option with the name of another one for its value: `--iname --name`, where `--name` is listed.
///
/// Source: `UnquoteUsage` of the library pflag, which takes what stands in back quotes in a description for that name.
fn names_option(term: &str, own: &HashMap<String, usize>) -> bool {
    term.split_once(' ').is_some_and(|(first, second)| {
        first.starts_with("--") && !first.ends_with(',') && second != first && own.contains_key(second)
    })
}

/// Parts `-m, --mode mix` from other lines about `--mode` with other values: `-m` takes none, and stands for one of them.
fn part_shared(flag: &mut Flag, own: &HashMap<String, usize>, listed: &Listed) {
    let is_shared = |spelling: &String| own.get(spelling).is_some_and(|count| *count > 2);
    let is_value = |value: &Value| value.name.starts_with(|c: char| c.is_ascii_lowercase());
    let Some(long) = flag.spellings.iter().find(|spelling| is_shared(spelling)).cloned() else { return };
    if !flag.value.as_ref().is_some_and(is_value) || flag.spellings.len() < 2 {
        return;
    }
    if listed.options.iter().any(|known| known.spellings.contains(&long)) {
        flag.spellings.retain(|spelling| *spelling != long);
        flag.value = None;
        flag.more.clear();
    }
}

/// Joins the names of values that are one in the description: `--file pathname or URL`, "pathname or URL of a file".
///
/// Source: `UnquoteUsage` of the library pflag, which takes the name out of the description.
fn join_name(flag: &mut Flag, text: &str) {
    let Some(value) = flag.value.as_mut().filter(|_| !flag.more.is_empty()) else { return };
    let name = [value.name.clone()].into_iter().chain(flag.more.clone()).collect::<Vec<_>>().join(" ");
    if text.to_ascii_lowercase().contains(&name.to_ascii_lowercase()) {
        value.name = name.replace(' ', "-");
        flag.more.clear();
    }
}

impl Listed {
    /// Gives an option the spellings above it, if they take what it takes; the others are options of their own.
    fn take_above(&mut self, above: &mut Vec<Flag>, flag: &mut Flag, seen: &mut HashSet<String>) {
        let name = |flag: &Flag| flag.value.as_ref().map(|value| value.name.clone());
        for other in above.drain(..) {
            if name(&other) == name(flag) && flag.more.is_empty() && other.more.is_empty() {
                flag.spellings.extend(other.spellings);
            } else {
                self.add(other, seen);
            }
        }
        flag.spellings.sort_by_key(|spelling| !spelling.starts_with("--"));
    }

    /// Adds an option with the spellings that no other one has; the first of them must be free.
    fn add(&mut self, mut flag: Flag, seen: &mut HashSet<String>) {
        let known = self.options.iter_mut().find(|known| known.spellings.contains(&flag.spellings[0]));
        if let Some(known) = known {
            // `--lid: close it` in a list, and `--lid=size` above what it says of it.
            if let (None, Some(value)) = (&known.value, flag.value.clone())
                && flag.spellings[0].starts_with("--")
                && !known.counts
            {
                known.value = Some(Value { optional: true, attached: true, ..value });
                return;
            }
            // `-R --recurse:` beside `-r --recurse`: what is left is an option of its own.
            flag.spellings.retain(|spelling| !seen.contains(spelling));
            if flag.spellings.is_empty() {
                return;
            }
        }

        if self.options.len() >= MAX_PAGE_OPTIONS || self.options.iter().any(|known| is_example(&flag, known)) {
            return;
        }
        flag.spellings.retain(|spelling| seen.insert(spelling.clone()));
        self.options.push(flag);
    }
}

/// Takes a spelling in brackets from a description: `-b   (-binary)   Print bytes`, `Arguments (Alias: --ppa)`.
fn add_alias(flag: &mut Flag, text: &mut [String]) {
    let joined = text.join(" ");
    if let Some((_, rest)) = joined.split_once("(Alias: -")
        && let Some((alias, _)) = rest.split_once(')')
        && !alias.contains(' ')
    {
        flag.spellings.push(format!("-{alias}"));
    }
    let Some(first) = text.first_mut() else { return };
    let Some((alias, rest)) = option::in_brackets(first) else { return };
    if alias.len() > 2 && !rest.is_empty() {
        flag.spellings.push(alias);
        *first = rest.to_owned();
    }
}

/// Completes a switch from its description.
fn complete_switch(flag: &mut Flag, text: &str) {
    flag.is_on |= values::default(text).as_deref() == Some("true");
    flag.counts |= shape::counts(&flag.spellings, text);
    if flag.off.is_none() {
        flag.off = flag.spellings.first().and_then(|spelling| refine::opposite_in(spelling, text));
    }
}

/// Starts of descriptions that refer to another option.
const LIKES: [&str; 7] =
    ["like ", "same as ", "similar to ", "alternative for ", "alternative to ", "alias for ", "synonym for "];

/// Gives options that are "like `--x`, but …" the values of `--x`, and those that are "the same as `-x`" its value.
pub(super) fn copy_likes(options: &mut [Flag]) {
    for at in 0..options.len() {
        let about = &options[at].about;
        let Some(start) = LIKES.iter().find(|start| about.to_ascii_lowercase().starts_with(*start)) else { continue };
        let rest = about[start.len()..].trim_matches(['`', '\'', '"']);
        let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next();
        let is_all = name.is_some_and(|name| rest.trim_end_matches(['.', '`', '\'', '"']) == name);
        let model = options.iter().find(|flag| flag.spellings.iter().any(|own| Some(own.as_str()) == name));
        let Some(model) = model.and_then(|flag| flag.value.clone()) else { continue };
        if is_all && *start != "like " && options[at].value.is_none() {
            options[at].value = Some(model.clone());
        }
        if let Some(value) = options[at].value.as_mut().filter(|value| value.several == Several::No) {
            value.several = model.several;
            value.pair |= model.pair;
        }
    }
}

/// Whether an option is another one with a value: `-o5` beside `-o <level>`, `-Tpng` beside `-T{format}`.
pub(crate) fn is_example(flag: &Flag, known: &Flag) -> bool {
    let [spelling] = flag.spellings.as_slice() else { return false };
    let Some(value) = known.value.as_ref().filter(|_| !spelling.starts_with("--")) else { return false };
    known.spellings.iter().filter(|own| own.len() == 2).any(|own| {
        let tail = spelling.strip_prefix(own.as_str()).filter(|tail| !tail.is_empty());
        tail.is_some_and(|tail| value.attached || tail.bytes().all(|byte| byte.is_ascii_digit()))
    })
}
