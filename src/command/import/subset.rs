//! The subcommands that `import --only` names.

use std::cell::RefCell;

use climax_catalog::did_you_mean;

/// Subcommands by their words behind the start of the import; none means all.
#[derive(Debug)]
pub(super) struct Subset {
    start: usize,
    only: Vec<Vec<String>>,
    /// The words of all subcommands that pages name.
    seen: RefCell<Vec<String>>,
}

impl Subset {
    /// `start` is the number of words of the command that the import starts from.
    pub(super) fn new(start: usize, only: &[String]) -> Self {
        let words = |name: &String| name.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let only = only.iter().map(words).filter(|words| !words.is_empty()).collect();
        Self { start, only, seen: RefCell::default() }
    }

    /// Returns whether a command is chosen.
    pub(super) fn includes(&self, words: &[String]) -> bool {
        let own = words.get(self.start..).unwrap_or_default();
        self.only.is_empty() || self.only.iter().any(|only| own.starts_with(only))
    }

    /// Returns whether a command is chosen, or has a subcommand that is.
    pub(super) fn leads_to(&self, words: &[String]) -> bool {
        let own = words.get(self.start..).unwrap_or_default();
        self.seen.borrow_mut().push(own.join(" "));
        self.includes(words) || self.only.iter().any(|only| only.starts_with(own))
    }

    /// Checks that pages name all chosen subcommands.
    ///
    /// # Errors
    /// A sentence that names a subcommand that is not there, and what is near it.
    pub(super) fn check(&self, program: &str) -> Result<(), String> {
        let seen = self.seen.borrow();
        let missing = self.only.iter().map(|only| only.join(" ")).find(|only| !seen.contains(only));
        let Some(missing) = missing else { return Ok(()) };
        let near = did_you_mean(&missing, seen.iter().map(String::as_str));
        let hint = match (near, seen.is_empty()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, true) => "it names none; leave out `--only`".to_owned(),
            (None, false) => {
                let some: Vec<&str> = seen.iter().take(12).map(String::as_str).collect();
                format!("it names {}", some.join(", "))
            }
        };

        Err(format!("`--only {missing}`: the help of `{program}` names no such subcommand; {hint}"))
    }
}
