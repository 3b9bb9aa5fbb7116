//! Terminal input and output: tables, colours, questions, errors.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use climax_catalog::{Diagnostics, Style};
use comfy_table::{ContentArrangement, LineStyle, Table, presets};

use crate::call::form::Field;
use crate::identity;

/// Maximum diagnostics on a terminal. `validate --json` prints all.
const MAX_REPORTED_DIAGNOSTICS: usize = 100;

/// Returns the style for a stream: with colours on a terminal, unless `NO_COLOR` is set (no-color.org).
pub(crate) fn style(stream: &impl IsTerminal) -> Style {
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if stream.is_terminal() && !no_color { Style::Colored } else { Style::Plain }
}

/// Formats a table: with rules where it fits the terminal, row by row on a narrow one, and with each row on one line
/// where the output is no terminal.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    if !io::stdout().is_terminal() {
        return lines(header, rows);
    }
    let columns = width();
    if columns < MIN_TABLE_WIDTH { stacked(header, rows) } else { ruled(header, rows, columns) }
}

/// The least columns of a terminal on which rows are printed as a table.
const MIN_TABLE_WIDTH: u16 = 60;

fn ruled<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>, columns: u16) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY.row_separator(LineStyle::none()))
        .set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(columns).set_header(header);
    table.add_rows(rows);
    table.to_string()
}

/// Formats each row as one line, with its cells below one another.
fn lines<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header);
    table.add_rows(rows.into_iter().map(|row| row.map(|cell| cell.replace('\n', "; "))));
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

/// Formats each row as lines of its own: the first cell, and below it the others with their headers.
fn stacked<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let block = |row: [String; N]| {
        let cells = header.iter().zip(row).enumerate().filter(|(_, (_, cell))| !cell.is_empty());
        let lines = cells.map(|(at, (name, cell))| match at {
            0 => cell,
            _ => format!("  {name}: {}", cell.replace('\n', "; ")),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    rows.into_iter().map(block).collect::<Vec<_>>().join("\n\n")
}

/// Returns the columns of the terminal on standard output, or 120 without a terminal.
pub(super) fn width() -> u16 {
    const ASSUMED: u16 = 120;
    rustix::termios::tcgetwinsize(io::stdout()).map_or(ASSUMED, |size| size.ws_col).max(40)
}

/// Writes diagnostics to standard error. Write errors are ignored.
pub(crate) fn report(diagnostics: &Diagnostics) {
    let style = style(&io::stderr());
    let reported: Vec<String> =
        diagnostics.iter().take(MAX_REPORTED_DIAGNOSTICS).map(|one| one.render(style)).collect();
    if !reported.is_empty() {
        error(&reported.join("\n\n"));
    }

    let more = diagnostics.iter().count() - reported.len();
    if more > 0 {
        error(&format!("\n… and {more} more"));
    }
}

/// Asks the user for approval. Any answer but `y` or `yes` denies it.
pub(crate) fn confirm(question: &str) -> bool {
    let _ = write!(io::stderr(), "{question}\n\nApprove? [y/N] ");
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && is_yes(&answer)
}

/// Returns whether an answer approves.
pub(super) fn is_yes(answer: &str) -> bool {
    ["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes))
}

/// Formats the label of a form's field: its name, meaning, allowed values and default.
pub(crate) fn label(field: &Field<'_>) -> String {
    let meaning = Some(field.description.to_owned()).filter(|text| !text.is_empty()).map(|text| format!(" ({text})"));
    let values = field.values.iter().map(|(value, title)| match title {
        Some(title) => format!("{value}: {title}"),
        None => (*value).to_owned(),
    });
    let values =
        Some(values.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty()).map(|text| format!(" [{text}]"));
    let default = field.default.map(|text| format!(" [{text}]"));
    let parts = [meaning, values, default].map(Option::unwrap_or_default);
    format!("{}{}", field.name, parts.concat())
}

/// Asks the user for a value. Returns `None` for an empty line.
pub(crate) fn prompt(question: &str) -> Option<String> {
    let _ = write!(io::stderr(), "{question}: ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).ok()?;
    Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty())
}

/// Writes a message of this program to standard error, with the program's name in front.
pub(crate) fn complain(message: &(impl Display + ?Sized)) {
    error(&format!("{}: {message}", identity::name()));
}

/// Writes a line to standard error. Write errors are ignored.
pub(crate) fn error(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
