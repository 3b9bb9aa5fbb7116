//! Panels drawn around the sections of a page → sections with titles.
//!
//! Source: the library rich as typer and rich-click use it, which draws a box around each section, with a column for each
//! kind of spelling.

use crate::page_line::starts_option;

/// Corners that start a panel, and those that end one.
const TOPS: [char; 3] = ['╭', '┌', '┏'];
const BOTTOMS: [char; 3] = ['╰', '└', '┗'];
/// Its sides, and what its edges are made of.
const SIDES: [char; 2] = ['│', '┃'];
const EDGES: [char; 2] = ['─', '━'];

/// The indentation up to which a line is an entry rather than more of a description.
const MAX_INDENT: usize = 6;

/// Replaces panels by their titles and their lines; a page without any stays as it is.
pub(super) fn opened(text: &str) -> String {
    if !text.lines().any(|line| title(line).is_some()) {
        return text.to_owned();
    }
    let mut lines = Vec::new();
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(title) = title(trimmed) {
            lines.extend([String::new(), format!("{title}:")]);
        } else if trimmed.starts_with(BOTTOMS) {
            lines.push(String::new());
        } else if let Some(inner) = trimmed.strip_prefix(SIDES).and_then(|inner| inner.strip_suffix(SIDES)) {
            lines.push(row(inner.trim_end()));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n") + "\n"
}

/// The title in the upper edge of a panel.
fn title(line: &str) -> Option<&str> {
    let inner = line.trim().strip_prefix(TOPS)?.strip_prefix(EDGES)?;
    let inner = inner.trim_end_matches(|c: char| !c.is_ascii() || c == ' ').trim_start_matches(EDGES);
    let title = inner.trim().trim_end_matches(':');
    (!title.is_empty()).then_some(title)
}

/// A line of a panel in two columns, of which the second one stays where it is.
fn row(inner: &str) -> String {
    let mut cells = cells(inner);
    // `*` marks what is required, as the description says too.
    if cells.first().is_some_and(|(_, cell)| cell == "*") {
        cells.remove(0);
    }
    let Some((at, first)) = cells.first() else { return String::new() };
    let is_option = starts_option(first);
    if !is_option && *at > MAX_INDENT {
        return inner.to_owned();
    }

    let names = cells.iter().take_while(|(_, cell)| starts_option(cell)).count().max(1);
    let kind = cells.get(names).map(|(_, cell)| cell.as_str()).filter(|cell| is_kind(cell));
    let term = if is_option {
        spelled(cells[..names].iter().map(|(_, cell)| cell.as_str()), kind)
    } else {
        // The kind of an operand says little more than its name.
        let dots = if kind.is_some_and(is_list) && !first.ends_with("...") { "..." } else { "" };
        format!("{first}{dots}")
    };
    let Some((column, _)) = cells.get(names + usize::from(kind.is_some())) else { return format!("  {term}") };
    let text: String = inner.chars().skip(*column).collect();
    let width = column.saturating_sub(2).max(term.chars().count() + 2);
    format!("  {term:width$}{text}")
}

/// The parts of a line between two or more spaces, each with the column where it starts.
fn cells(line: &str) -> Vec<(usize, String)> {
    let mut cells: Vec<(usize, String)> = Vec::new();
    let mut spaces = 2;
    for (at, character) in line.chars().enumerate() {
        if character == ' ' {
            spaces += 1;
            continue;
        }
        match cells.last_mut().filter(|_| spaces < 2) {
            Some((_, cell)) => cell.extend(std::iter::repeat_n(' ', spaces).chain([character])),
            None => cells.push((at, character.to_string())),
        }
        spaces = 0;
    }
    cells
}

/// Whether a cell holds the kind of a value alone: `<path>`, `INTEGER RANGE`, `[fine|coarse]`, `TEXT...`.
fn is_kind(cell: &str) -> bool {
    let cell = cell.trim_end_matches("...");
    let is_choice = |inner: &str| inner.contains('|') && !inner.contains([' ', ']']);
    cell.strip_prefix('<').is_some_and(|inner| inner.find('>') == Some(inner.len() - 1))
        || cell.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).is_some_and(is_choice)
        || cell.starts_with(|c: char| c.is_ascii_uppercase())
            && cell.split(" [").next().is_some_and(|name| {
                name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_uppercase() || b" _-".contains(&byte))
            })
}

/// Whether a kind is that of several values.
fn is_list(kind: &str) -> bool {
    kind.ends_with("...") || kind.starts_with("<list[")
}

/// An option in one column: `-f, --fine / --coarse`, `--sack <path>`.
///
/// Further spellings of one column have commas; those in the columns behind a long one turn a switch off.
fn spelled<'a>(cells: impl Iterator<Item = &'a str>, kind: Option<&str>) -> String {
    let (mut own, mut off) = (Vec::new(), None);
    for cell in cells {
        let is_long = cell.starts_with("--");
        let has_long = own.iter().any(|known: &&str| known.starts_with("--"));
        if is_long && has_long {
            off = off.or(Some(cell));
        } else if off.is_none() {
            own.push(cell);
        }
    }
    let own = own.join(", ").replace(",-", ", -");
    if let Some(off) = off.and_then(|off| off.split(',').next()) {
        return format!("{own} / {off}");
    }
    match kind {
        None | Some("<bool>") => own,
        Some(kind) => {
            let inner = kind.strip_prefix("<list[").and_then(|inner| inner.strip_suffix("]>"));
            inner.map_or_else(|| format!("{own} {kind}"), |inner| format!("{own} <{}>...", inner.to_ascii_lowercase()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_become_sections() {
        let page = " Usage: mill [OPTIONS] SACKS... COMMAND\n\n\
                    ╭─ Arguments ──────────────────────────────────────╮\n\
                    │ *    sacks      SACKS...  What to grind          │\n\
                    ╰──────────────────────────────────────────────────╯\n\
                    ╭─ Options ────────────────────────────────────────╮\n\
                    │ --fine    -f  --coarse    <bool>        How fine │\n\
                    │ --stone                   <list[Path]>  Stones   │\n\
                    │                                         to use   │\n\
                    │ --speed   -s              INTEGER RANGE [x>=1]   │\n\
                    │ --help                    <bool>        Help     │\n\
                    ╰──────────────────────────────────────────────────╯\n\
                    ╭─ Commands ───────────────────────────────────────╮\n\
                    │ sift   Part the husks.                           │\n\
                    ╰──────────────────────────────────────────────────╯\n";
        let expected = [
            " Usage: mill [OPTIONS] SACKS... COMMAND",
            "Arguments:",
            "  sacks...                 What to grind",
            "Options:",
            "  --fine, -f / --coarse                  How fine",
            "  --stone <path>...                      Stones",
            "                                         to use",
            "  --speed, -s INTEGER RANGE [x>=1]",
            "  --help                                 Help",
            "Commands:",
            "  sift  Part the husks.",
        ];
        let page = opened(page);
        assert_eq!(page.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(), expected);
        assert_eq!(opened("a │ b\n"), "a │ b\n");
    }
}
