//! Words that search treats specially. About English and command lines in general, not about any program.

/// Words that say nothing about what is wanted, sorted.
pub(super) const STOP_WORDS: &[&str] = &[
    "a", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for",
    "from", "has", "have", "how", "if", "in", "into", "is", "it", "its", "no", "not", "of", "on", "only", "or", "per",
    "so", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to",
    "use", "used", "using", "via", "was", "were", "what", "when", "which", "will", "with", "you", "your",
];

/// Words with which people ask and greet, or that stand for any text, and which say nothing about what is wanted either.
/// Tools are indexed with them. Sorted.
pub(super) const FRAME_WORDS: &[&str] = &[
    "about", "am", "anybody", "anyone", "bar", "baz", "because", "cheers", "could", "dear", "did", "didn", "doesn",
    "don", "foo", "had", "he", "hello", "help", "her", "here", "hey", "hi", "him", "his", "i", "isn", "just", "kindly",
    "let", "like", "ll", "may", "maybe", "me", "might", "mine", "must", "my", "myself", "need", "now", "ok", "okay",
    "our", "perhaps", "please", "pls", "qux", "re", "really", "shall", "she", "should", "since", "some", "somebody",
    "someone", "sorry", "thank", "thanks", "too", "us", "ve", "very", "want", "we", "won", "would", "yourself",
];

/// Words that are followed by the program that is to do it.
pub(super) const MEANS: &[&str] = &["using", "via", "with"];

/// Words that are followed by what is asked for.
pub(super) const ASKING_WORDS: &[&str] = &["please", "kindly"];

/// Pairs of words that are followed by what is asked for: one of the first list, then one of the second.
pub(super) const ASKING: &[(&[&str], &[&str])] = &[
    (
        &["can", "could", "may", "shall", "should", "will", "would"],
        &["anybody", "anyone", "i", "somebody", "someone", "we", "you"],
    ),
    (&["do"], &["i", "we"]),
    (&["i", "we", "you"], &["can", "could", "should"]),
    (&["help", "helping", "let", "lets"], &["me", "us"]),
    (&["find", "get", "give", "show", "tell"], &["me", "us"]),
    (&["you"], &["mind"]),
    (
        &[
            "able", "going", "has", "have", "how", "like", "love", "me", "need", "needs", "possible", "try", "trying",
            "us", "want", "wants", "way", "you",
        ],
        &["to"],
    ),
];

/// Words with which statements start, and commands hardly do.
pub(super) const STATEMENT_STARTS: &[&str] = &[
    "a",
    "after",
    "all",
    "already",
    "also",
    "although",
    "an",
    "and",
    "another",
    "as",
    "at",
    "because",
    "before",
    "between",
    "both",
    "but",
    "by",
    "currently",
    "during",
    "each",
    "even",
    "every",
    "everyone",
    "everything",
    "few",
    "five",
    "for",
    "four",
    "from",
    "he",
    "her",
    "here",
    "his",
    "however",
    "i",
    "if",
    "in",
    "it",
    "its",
    "last",
    "lately",
    "many",
    "meanwhile",
    "most",
    "my",
    "next",
    "no",
    "nobody",
    "nothing",
    "now",
    "of",
    "on",
    "once",
    "one",
    "only",
    "other",
    "others",
    "our",
    "over",
    "part",
    "recently",
    "several",
    "she",
    "since",
    "so",
    "some",
    "someone",
    "something",
    "sometimes",
    "still",
    "such",
    "thank",
    "thanks",
    "that",
    "the",
    "their",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "three",
    "today",
    "two",
    "under",
    "until",
    "usually",
    "we",
    "when",
    "while",
    "with",
    "within",
    "without",
    "yesterday",
    "you",
    "your",
];

/// Verbs of statements.
pub(super) const AUXILIARIES: &[&str] = &[
    "are", "can", "cannot", "could", "did", "does", "had", "has", "have", "is", "may", "might", "must", "should",
    "was", "were", "will", "would",
];

/// Words with which questions start that ask how things are, and requests that ask to see them.
pub(super) const QUESTION_STARTS: &[&str] = &[
    "am", "are", "did", "display", "do", "does", "had", "has", "have", "how", "is", "list", "see", "show", "view",
    "was", "were", "what", "when", "where", "which", "who", "whose", "why",
];

/// Numbers in words.
pub(super) const NUMBER_WORDS: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "dozen", "twenty",
    "fifty", "hundred", "thousand",
];

/// Words with others that mean the same everywhere: what is short for them, and what people say for them.
pub(super) const EQUAL_WORDS: &[(&str, &[&str])] = &[
    ("application", &["app"]),
    ("argument", &["arg"]),
    ("authentication", &["auth"]),
    ("certificate", &["cert"]),
    ("column", &["col"]),
    ("command", &["cmd"]),
    ("config", &["cfg", "conf", "configuration"]),
    ("connection", &["conn"]),
    ("container", &["ctr"]),
    ("database", &["db"]),
    ("delete", &["del"]),
    ("dependency", &["dep"]),
    ("development", &["dev"]),
    ("directory", &["dir", "folder"]),
    ("documentation", &["doc"]),
    ("duplicate", &["dup", "dupe"]),
    ("environment", &["env"]),
    ("execute", &["exec"]),
    ("format", &["fmt"]),
    ("image", &["img"]),
    ("information", &["info"]),
    ("kubernetes", &["k8s"]),
    ("last", &["latest", "newest", "recent"]),
    ("library", &["lib"]),
    ("management", &["mgmt"]),
    ("memory", &["mem"]),
    ("message", &["msg"]),
    ("number", &["num"]),
    ("package", &["pkg"]),
    ("parameter", &["param"]),
    ("password", &["pw", "passwd"]),
    ("performance", &["perf"]),
    ("permission", &["perm"]),
    ("picture", &["pic", "photo"]),
    ("pr", &["prs", "pullrequest"]),
    ("process", &["proc"]),
    ("production", &["prod"]),
    ("reference", &["ref"]),
    ("repository", &["repo"]),
    ("request", &["req"]),
    ("server", &["srv"]),
    ("service", &["svc"]),
    ("statistics", &["stats"]),
    ("system", &["sys"]),
    ("temporary", &["temp", "tmp"]),
    ("text", &["txt"]),
    ("user", &["usr"]),
    ("variable", &["var"]),
    ("version", &["ver"]),
    ("video", &["vid"]),
    // Two words that stand together are looked up as one too.
    ("vm", &["virtualmachine", "vms"]),
    ("volume", &["vol"]),
];

/// Words that start a clause within a command: `list what is running`.
pub(super) const RELATIVE_WORDS: &[&str] =
    &["how", "if", "that", "what", "when", "where", "whether", "which", "who", "whose", "why"];

/// Words that requests are full of and that say little: they count less.
pub(super) const WEAK_WORDS: &[&str] = &[
    "additional",
    "available",
    "certain",
    "corresponding",
    "current",
    "different",
    "entire",
    "existing",
    "given",
    "instead",
    "mode",
    "multiple",
    "particular",
    "specific",
    "specified",
    "without",
];

/// Words that stand for each other on command lines: a tool may say one where a request says another.
pub(super) const SYNONYMS: &[&[&str]] = &[
    &["remove", "delete", "rm", "erase", "uninstall", "drop"],
    &["list", "ls", "show", "display", "view", "print", "get"],
    &["create", "add", "new", "make", "init"],
    &["change", "modify", "edit", "update", "set", "configure"],
    &["start", "launch", "run", "execute"],
    &["stop", "kill", "terminate", "halt"],
    &["search", "find", "lookup", "query"],
    &["download", "fetch", "pull"],
    &["upload", "push", "publish", "send"],
    &["copy", "cp"],
    &["move", "mv", "rename"],
    &["config", "settings"],
    &["information", "details", "describe", "inspect"],
    &["check", "verify", "validate", "test"],
    &["enable", "activate"],
    &["disable", "deactivate"],
    &["login", "authenticate"],
];

#[cfg(test)]
mod tests {
    use super::{FRAME_WORDS, STOP_WORDS};

    #[test]
    fn lists_that_are_searched_by_halves_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert!(FRAME_WORDS.is_sorted());
    }
}
