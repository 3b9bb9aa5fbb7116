//! The commands of a text: `bash -c TEXT`.

use std::ops::Range;

use climax_shell::{Field, Script, parse};

use crate::call::refusal::Refusal;

/// The variable that stands in a text where `xargs` or `find` puts a value. No line can name it.
pub(crate) const FILLED: &str = "{}";

/// Characters beside letters and digits that mean nothing to a shell, wherever they stand.
const INERT: &str = "_./@%+:=-";

/// Those that mean nothing to it in quotes of both kinds.
const INERT_IN_QUOTES: &str = "_./@%+:=- ,;&|<>()[]{}*?~#^";

/// The commands of a text, with their positions.
#[derive(Clone, Debug)]
pub(crate) struct CommandText<'f> {
    /// The name of the shell, which is `$0` where no other is given.
    pub(crate) name: &'f str,
    /// The text.
    pub(crate) text: &'f Field,
    /// The words behind it.
    pub(crate) arguments: &'f [Field],
    /// The letters of `set` that the shell was started with.
    pub(crate) options: String,
}

/// What `xargs` or `find` puts into a text of commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filled<'f> {
    /// What the value replaces.
    pub(crate) replaced: &'f str,
    /// The value, once it is known.
    pub(crate) value: Option<&'f str>,
}

impl CommandText<'_> {
    /// Whether the shell is `sh`, which is another than bash on some systems.
    pub(crate) fn is_sh(&self) -> bool {
        self.name.rsplit('/').next() == Some("sh")
    }

    /// Reads the commands. Where a value is put in, [`FILLED`] stands, so that the value is one for every rule about values.
    ///
    /// # Errors
    /// The text is not read, or a value would become a part of its commands.
    pub(crate) fn script(&self, filled: Option<Filled<'_>>) -> Result<Script, Refusal> {
        let mut script = parse(&self.text.text).map_err(|error| {
            let Range { start, .. } = error.range;
            Refusal::new(format!("in the text of `-c`, at byte {start}: {}", error.problem), error.remedy)
        })?;
        if self.is_sh()
            && let Some(what) = script.beyond_posix(&self.text.text)
        {
            let remedy = "write `bash -c`, which is read as bash reads it";
            return Err(Refusal::new(format!("`{}` may be a shell that does not read `{what}`", self.name), remedy));
        }
        let Some(Filled { replaced, value }) = filled else { return Ok(script) };

        let places = script.fill(replaced, FILLED);
        if places.quoted + places.unquoted != self.text.text.matches(replaced).count() {
            let problem = format!("`{replaced}` stands where a value would be read as a part of the commands");
            return Err(Refusal::new(problem, remedy(self.name, replaced)));
        }
        // The shell would read the value as it reads the text.
        let is_escaped = self.text.text.contains(&format!("\\{replaced}"));
        let inert = if places.unquoted > 0 || is_escaped { INERT } else { INERT_IN_QUOTES };
        let means_something = |c: char| !c.is_alphanumeric() && !inert.contains(c);
        match value.filter(|value| value.contains(means_something)) {
            None => Ok(script),
            Some(value) => {
                let problem = format!("`{}` would read the value `{value}` as a part of its commands", self.name);
                Err(Refusal::new(problem, remedy(self.name, replaced)))
            }
        }
    }
}

/// What to do instead of putting a value into the text.
fn remedy(name: &str, replaced: &str) -> String {
    format!("pass it behind the text, as in `{name} -c '… \"$1\" …' {name} {replaced}`")
}
