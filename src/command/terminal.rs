//! Output for people: tables, and colours where they can be seen.

use std::io::{self, IsTerminal, Write};

use crate::call::form::Field;
use climax_catalog::{Diagnostics, Style};
use comfy_table::{ContentArrangement, LineStyle, Table, presets};

/// Diagnostics that are shown to people; `validate --json` has them all.
const MAX_SHOWN_DIAGNOSTICS: usize = 100;

/// How to render on a stream: colours only on a terminal, and never with `NO_COLOR` (no-color.org).
pub(crate) fn style(stream: &impl IsTerminal) -> Style {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if stream.is_terminal() && !refused { Style::Colored } else { Style::Plain }
}

/// A table that fits the terminal.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()))
        .set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width()).set_header(header);
    table.add_rows(rows);
    table
}

/// Columns of the terminal on standard output, or 120.
fn width() -> u16 {
    const ASSUMED: u16 = 120;
    rustix::termios::tcgetwinsize(io::stdout()).map_or(ASSUMED, |size| size.ws_col).max(40)
}

/// Writes diagnostics to standard error. If that is gone there is nobody to tell.
pub(crate) fn report(diagnostics: &Diagnostics) {
    let style = style(&io::stderr());
    let shown: Vec<String> = diagnostics.iter().take(MAX_SHOWN_DIAGNOSTICS).map(|one| one.render(style)).collect();
    if !shown.is_empty() {
        error(&shown.join("\n\n"));
    }
    let more = diagnostics.iter().count() - shown.len();
    if more > 0 {
        error(&format!("\n… and {more} more"));
    }
}

/// Asks whoever sits at the terminal; anything but `y` or `yes` is a no.
pub(crate) fn confirm(question: &str) -> bool {
    let _ = write!(io::stderr(), "{question}\n\nApprove? [y/N] ");
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && ["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes))
}

/// What a field of a form is called: its name, meaning, allowed values and default.
pub(crate) fn label(field: &Field<'_>) -> String {
    let meaning = Some(field.description.to_owned()).filter(|text| !text.is_empty()).map(|text| format!(" ({text})"));
    let values = Some(field.values.join(", ")).filter(|text| !text.is_empty()).map(|text| format!(" [{text}]"));
    let default = field.default.map(|text| format!(" [{text}]"));
    let parts = [meaning, values, default].map(Option::unwrap_or_default);
    format!("{}{}", field.name, parts.concat())
}

/// Asks whoever sits at the terminal; `None` if nothing is typed.
pub(crate) fn ask(question: &str) -> Option<String> {
    let _ = write!(io::stderr(), "{question}: ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).ok()?;
    Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty())
}

/// Writes a line to standard error. If that is gone there is nobody to tell.
pub(crate) fn error(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
