//! Words that search treats specially. About English and command lines in general, not about any program.

/// Words that say nothing about what is wanted.
pub(super) const STOP_WORDS: &[&str] = &[
    "a", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "do", "does", "for",
    "from", "has", "have", "how", "if", "in", "into", "is", "it", "its", "no", "not", "of", "on", "only", "or", "per",
    "so", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to",
    "use", "used", "using", "via", "was", "were", "what", "when", "which", "will", "with", "your", "you",
];

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
    &["directory", "folder", "dir"],
    &["repository", "repo"],
    &["copy", "cp", "duplicate"],
    &["move", "mv", "rename"],
    &["config", "configuration", "settings"],
    &["info", "information", "details", "describe", "inspect"],
    &["environment", "env"],
    &["check", "verify", "validate", "test"],
    &["enable", "activate"],
    &["disable", "deactivate"],
    &["login", "authenticate", "auth"],
];
