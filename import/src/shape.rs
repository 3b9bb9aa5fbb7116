//! How many values an option or operand takes, and in which form.

use crate::command::Several;

/// Names of values that are lists in the help of Go programs: types of their own, too.
const SLICES: [&str; 13] = [
    "strings",
    "stringarray",
    "stringslice",
    "list",
    "stringtostring",
    "map",
    "intslice",
    "ints",
    "filters",
    "filter",
    "mount",
    "ulimit",
    "stringlist",
];
/// Phrases of options that may stand several times.
const REPEATED: [&str; 18] = [
    "multiple times",
    "several times",
    "more than once",
    "can be repeated",
    "may be repeated",
    "be repeated",
    "repeatable",
    "once for each",
    "once per",
    "many times",
    "occurrence",
    "multi-allowed",
    "multiple options specify",
    "multiple values allowed",
    "specify multiple ",
    "used repeatedly",
    "given repeatedly",
    "this option repeatedly",
];
/// Phrases of options whose value holds several, with commas.
const SEPARATED: [&str; 9] = [
    "comma-separated",
    "comma separated",
    "separated by comma",
    "separated by a comma",
    "comma-delimited",
    "delimited by comma",
    "separated with comma",
    "specified with comma",
    "given with comma",
];
/// Returns how an option takes several values, by the name of its value and by its description.
pub(super) fn in_text(name: &str, text: &str) -> Several {
    let name = name.to_ascii_lowercase();
    let lower = text.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    // Several rules in one value are no several values.
    let is_multiple =
        |sentence: &str| sentence.contains("multiple") && ["can be", "may be"].iter().any(|may| sentence.contains(may));
    let noun = name.rsplit(['-', '_', ' ']).next().unwrap_or_default();
    let is_list = ["list of ", "a list of ", "lists of "].iter().any(|start| lower.starts_with(start));
    let is_plural = noun.len() > 2
        && ["the given ", "the specified ", "these "].iter().any(|article| {
            lower.split(article).skip(1).any(|rest| rest.split(' ').take(3).any(|word| is_plural_of(word, noun)))
        });
    if name == "fields" || says(&SEPARATED) && (is_list || !says(&REPEATED)) {
        return Several::Joined(',');
    }

    if is_list || is_plural || SLICES.contains(&name.as_str()) || says(&REPEATED) || lower.split(". ").any(is_multiple)
    {
        Several::Each
    } else if says(&SEPARATED) {
        Several::Joined(',')
    } else {
        Several::No
    }
}

fn is_plural_of(word: &str, noun: &str) -> bool {
    word.strip_prefix(noun).is_some_and(|ending| matches!(ending, "s" | "es"))
}

/// Whether a description shows an option twice with values: "-x soup=hot -x meal=cold".
pub(super) fn stands_twice(spellings: &[String], text: &str) -> bool {
    let words: Vec<&str> = text.split(' ').map(|word| word.trim_start_matches(['(', '"', '\'', '`'])).collect();
    let is_own = |word: &str| spellings.iter().any(|own| own == word);
    // "Multiple `-x/--extra` invocations".
    let is_multiple = |pair: &[&str]| {
        pair[0].eq_ignore_ascii_case("multiple")
            && pair[1].trim_end_matches(['`', '\'', '"']).split(['/', '`']).any(is_own)
    };
    words.windows(2).any(is_multiple)
        || words.windows(3).any(|part| is_own(part[0]) && part[0] == part[2] && !part[1].starts_with('-'))
}

/// Whether a description marks the noun of an option or of its value as one or several: "Specific event(s)".
pub(super) fn is_open(spellings: &[String], name: &str, text: &str) -> bool {
    let noun = |name: &str| {
        let last = name.rsplit(['-', '_', ' ']).next().unwrap_or_default();
        last.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase()
    };
    let nouns: Vec<String> =
        spellings.iter().filter(|own| own.len() > 2).map(|own| noun(own)).chain([noun(name)]).collect();
    let start = text.split('.').next().unwrap_or_default().to_ascii_lowercase();
    start.split([' ', ',']).filter_map(|word| word.strip_suffix("(s)")).any(|word| nouns.iter().any(|own| own == word))
}

/// Whether a description speaks of several of what the name of its option is: `--sack`, "Sacks to mend".
pub(super) fn is_one_of(spellings: &[String], text: &str) -> bool {
    let noun = spellings.first().and_then(|own| own.rsplit('-').next()).unwrap_or_default();
    let first = text.split(' ').next().unwrap_or_default().to_ascii_lowercase();
    if noun.len() > 3 && is_plural_of(&first, noun) {
        return true;
    }
    let plural = match noun {
        "dir" | "directory" => "directories",
        "path" => "paths",
        _ => return false,
    };
    text.split(' ').take(4).any(|word| word.trim_end_matches([',', '.']) == plural)
}

/// Verbs of options that gather what each of them adds: `--exclude PATTERN`.
const GATHERING: [&str; 4] = ["exclude", "include", "ignore", "define"];
/// What these verbs may have for an object.
const GATHERED: [&str; 9] = ["dir", "directory", "file", "path", "pattern", "glob", "regex", "ext", "type"];

/// Whether an option adds to what others of its name gave, by that name: `--exclude`, `--ignore-dir`.
pub(super) fn gathers(spellings: &[String]) -> bool {
    spellings.iter().filter_map(|own| own.strip_prefix("--")).any(|name| {
        let (verb, object) = name.split_once('-').map_or((name, None), |(verb, object)| (verb, Some(object)));
        GATHERING.contains(&verb) && object.is_none_or(|object| GATHERED.contains(&object))
    })
}

/// Whether a description says that the value is a name with a value: "specified as `KEY=VALUE` pairs".
pub(super) fn speaks_of_pairs(text: &str) -> bool {
    let quoted = text.split(['"', '`', '\'']).skip(1).step_by(2);
    quoted.into_iter().any(|part| !part.contains(' ') && is_pair(part) && !part.starts_with('-'))
        && [" pair", " style", " form"].iter().any(|word| text.contains(word))
}

/// Whether a switch counts how often it stands, by its spellings and its description.
pub(super) fn counts(spellings: &[String], text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let doubled = spellings.iter().filter(|spelling| spelling.len() == 2).any(|spelling| {
        let letter = &spelling[1..];
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').any(|word| word == format!("-{letter}{letter}"))
    });
    let phrases = [
        "twice",
        "repeating th",
        "multiple times",
        "several times",
        "more than once",
        "be repeated",
        "up to three times",
    ];
    // "use up to 4 times".
    let is_limited =
        lower.split("up to ").skip(1).any(|rest| rest.split(' ').nth(1).is_some_and(|word| word.starts_with("times")));
    doubled || is_limited || phrases.iter().any(|phrase| lower.contains(phrase))
}

/// How the name of a value shows several: `FILE...`, `A,B,...`, `A[,B]`.
pub(super) fn of_name(name: &str) -> Several {
    let separated = [",...", "[,", ", ...", ",…"].iter().any(|sign| name.contains(sign));
    if separated {
        Several::Joined(',')
    } else if name.contains(" ...") {
        Several::Words
    } else if name.contains("...") {
        Several::Each
    } else {
        Several::No
    }
}

/// Whether the name of a value says that it is a name with a value: `KEY=VALUE`, `<name>=<value>`.
pub(super) fn is_pair(name: &str) -> bool {
    // `NAME[=VALUE]` needs no value.
    if name.contains("[=") {
        return false;
    }
    let Some((key, value)) = name.split_once('=') else { return name.eq_ignore_ascii_case("stringToString") };
    let is_name = |part: &str| {
        let part = part.trim_matches(['<', '>', '[', ']', '.']);
        !part.is_empty() && part.len() <= 20 && part.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    is_name(key) && is_name(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_written_twice_counts() {
        let spellings = ["--stir".to_owned(), "-s".to_owned()];
        assert!(counts(&spellings, "Stir; -ss stirs more"));
        assert!(!counts(&spellings, "Stir once"));
        assert!(counts(&spellings, "Stir (use up to 4 times; twice is enough)"));
    }
}
