//! Rewrites a line as one of climax, which another shell runs in its place.

use std::path::{Path, PathBuf};

use climax_catalog::Policy;
use climax_catalog::policy::Level;
use climax_shell::Script;

use super::bare::{ShellLife, changes_shell, leading_change};
use crate::exec;

/// What a rewritten line starts.
#[derive(Clone, Debug)]
pub struct Rewriter {
    /// How long the shell lives that runs it.
    pub shell: ShellLife,
    /// The program, absolute.
    pub program: PathBuf,
    /// The words behind it that choose the policy and the configs, with absolute paths.
    pub options: Vec<String>,
}

impl Rewriter {
    /// Returns the same under a policy.
    #[must_use]
    pub fn under(&self, policy: &Path) -> Self {
        let policy = exec::directory().join(policy).display().to_string();
        let options = self.options.iter().cloned().chain(["--policy".to_owned(), policy]).collect();
        Self { options, ..self.clone() }
    }

    /// Returns the name of the program's file.
    pub(super) fn program_name(&self) -> String {
        self.program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the line that runs a line by climax.
    ///
    /// A literal `cd DIR &&` in front stays outside, so that the shell of an agent is where it would be without climax.
    ///
    /// # Errors
    /// The line changes its shell, or nothing would hold it to what was judged.
    pub(super) fn rewritten(
        &self,
        line: &str,
        script: &Script,
        only_reads: bool,
        policy: &Policy,
    ) -> Result<String, &'static str> {
        let (head, rest, list) = match leading_change(line, script) {
            Some((head, rest, list)) => (Some(head), rest, list),
            None => (None, line, script.list.clone()),
        };
        if changes_shell(&list, self.shell) {
            return Err(CHANGES_SHELL);
        }

        // What runs is held to reading. What may write is held by the policy's questions, which nobody answers there.
        let holds = if only_reads {
            Some("--judged")
        } else if policy.approval_level() != Level::None {
            None
        } else {
            return Err("it writes, and the policy asks about nothing, so that nothing would hold the rewritten line");
        };
        let own = format!("{} {}", self.words(holds), quoted(rest));
        Ok(head.map_or_else(|| own.clone(), |head| format!("{head} && {own}")))
    }

    /// Returns the line of which this one may be the rewritten form. Whether it is, shows when it is rewritten again.
    #[must_use]
    pub fn original(&self, line: &str) -> Option<String> {
        [Some("--judged"), None].into_iter().find_map(|holds| {
            let start = format!("{} ", self.words(holds));
            let (head, own) = line.split_at(line.find(&start)?);
            let rest = own.strip_prefix(&start)?;
            let rest = rest.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).unwrap_or(rest);
            Some(format!("{head}{}", rest.replace(r"'\''", "'")))
        })
    }

    /// The words of a rewritten line in front of the line that it runs.
    fn words(&self, holds: Option<&str>) -> String {
        let program = self.program.display().to_string();
        let words = std::iter::once(program.as_str()).chain(["sh"]).chain(holds);
        let words = words.chain(self.options.iter().map(String::as_str)).chain(["-c"]);
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }
}

/// Why a line that changes its shell is not rewritten.
const CHANGES_SHELL: &str = "later lines may need what it changes in its shell (variables, options, the directory), \
    which it could not change if climax ran it; in parentheses, `( … )`, it changes nothing";

/// Quotes a word for every shell of the POSIX family: as it is, if it has nothing that one could read, else in single quotes.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | ':' | ',' | '+' | '@');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewritten_lines_lead_back_to_what_was_typed() {
        let rewriter = Rewriter {
            shell: ShellLife::Session,
            program: "/x y/climax".into(),
            options: vec!["--policy".to_owned(), "/p".to_owned()],
        };
        let policy = Policy::default();
        for line in ["cat *.txt", "printf '%s' \"it's\" *", "cd /tmp && ls *", "ls"] {
            let script = climax_shell::parse(line).unwrap();
            let rewritten = rewriter.rewritten(line, &script, true, &policy).unwrap();
            assert_eq!(rewriter.original(&rewritten).as_deref(), Some(line), "{rewritten}");
        }
        for other in ["climax sh --judged -c 'ls *'", "'/x y/climax' sh --judged -c 'ls *'", "ls"] {
            assert_eq!(rewriter.original(other), None, "{other}");
        }
    }
}
