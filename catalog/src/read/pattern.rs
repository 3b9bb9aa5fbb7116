//! Reads patterns.

use crate::diagnostic::Code;
use crate::read::walk::Walker;
use crate::rule::Pattern;
use crate::source::Spanned;

/// Compiles a pattern, and reports a text that is none.
pub(crate) fn pattern(walker: &mut Walker<'_>, text: &Spanned<String>) -> Option<Pattern> {
    Pattern::new(&text.value)
        .map_err(|bad| {
            let message = format!("pattern cannot be used: {}", bad.problem);
            let help = "patterns are regular expressions without look-around and back-references, \
                        and match the whole value";
            walker.report(Code::BadPattern, walker.source().within(text, bad.at), message, help);
        })
        .ok()
}
