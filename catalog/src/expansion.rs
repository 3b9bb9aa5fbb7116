//! `~` and `$VAR` in words of a config.
//!
//! Pure: the caller passes the environment. A word is expanded once and not split afterwards.

/// Looks up an environment variable.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Expands a leading `~` and every `$VAR` and `${VAR}` of a command word; an unset variable stays as it is written.
#[must_use]
pub fn command_word(word: &str, env: Lookup<'_>) -> String {
    match below_home(word, env) {
        Some((home, rest)) => home + &variables(rest, env).text,
        None => variables(word, env).text,
    }
}

/// Expands a leading `~` of a path, and nothing else.
#[must_use]
pub fn home(path: &str, env: Lookup<'_>) -> String {
    below_home(path, env).map_or_else(|| path.to_owned(), |(home, rest)| home + rest)
}

/// Splits `~` and `~/…` into the home directory and the rest; `None` for other texts, and without `HOME`.
fn below_home<'a>(text: &'a str, env: Lookup<'_>) -> Option<(String, &'a str)> {
    let rest = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    Some((env("HOME")?, rest))
}

/// Expands the default of a global arg; `None` if a variable in it is unset or empty.
#[must_use]
pub fn global_default(text: &str, env: Lookup<'_>) -> Option<String> {
    let expanded = variables(text, env);
    (!expanded.has_gap).then_some(expanded.text)
}

/// Expands a path of a policy like a command word.
///
/// If a variable in it is unset or empty, the path stays as it is written: without the variable it would name another
/// file.
#[must_use]
pub fn policy_path(text: &str, env: Lookup<'_>) -> String {
    let is_set = |name: &str| env(name).filter(|value| !value.is_empty());
    if variables(text, &is_set).has_gap { text.to_owned() } else { command_word(text, &is_set) }
}

struct Expanded {
    text: String,
    /// Whether a variable was unset or empty.
    has_gap: bool,
}

fn variables(text: &str, env: Lookup<'_>) -> Expanded {
    let mut expanded = Expanded { text: String::with_capacity(text.len()), has_gap: false };
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        expanded.text.push_str(&rest[..at]);
        let (name, length) = variable(&rest[at..]);
        let value = name.and_then(env);
        if name.is_some() && value.as_deref().unwrap_or_default().is_empty() {
            expanded.has_gap = true;
        }
        match value {
            Some(value) => expanded.text.push_str(&value),
            None => expanded.text.push_str(&rest[at..at + length]),
        }
        rest = &rest[at + length..];
    }

    expanded.text.push_str(rest);
    expanded
}

/// The variable that `text` starts with, if the `$` starts one, and the length of its reference in bytes.
fn variable(text: &str) -> (Option<&str>, usize) {
    let after = &text[1..];
    if let Some(braced) = after.strip_prefix('{') {
        return match braced.find('}') {
            Some(end) if is_name(&braced[..end]) => (Some(&braced[..end]), end + 3),
            _ => (None, 1),
        };
    }

    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
    if is_name(&after[..end]) { (Some(&after[..end]), end + 1) } else { (None, 1) }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
}
