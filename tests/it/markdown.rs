//! The Markdown files of the repository: their width, and where their links lead.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Longest line, in characters. Tables, code blocks and words that cannot be broken may be longer.
const MAX_COLUMNS: usize = 100;

/// Directories that hold no files of the project.
const SKIPPED_DIRECTORIES: [&str; 3] = [".git", "target", "node_modules"];

#[test]
fn lines_are_at_most_100_columns_wide() {
    let mut wide = Vec::new();
    for file in markdown_files() {
        for (number, line) in prose(&file.text) {
            let columns = line.chars().count();
            if columns > MAX_COLUMNS && !line.trim_start().starts_with('|') && !is_unbreakable(line) {
                wide.push(format!("{}:{number}: {columns} columns", file.name));
            }
        }
    }
    assert!(wide.is_empty(), "wrap these lines at {MAX_COLUMNS} columns:\n{}", wide.join("\n"));
}

#[test]
fn relative_links_lead_to_files_and_headings() {
    let files = markdown_files();
    let mut broken = Vec::new();
    for file in &files {
        let text = without_code_spans(&prose(&file.text));
        for (number, target) in links(&text) {
            if let Some(problem) = problem(file, target, &files) {
                broken.push(format!("{}:{number}: {target}: {problem}", file.name));
            }
        }
    }
    assert!(broken.is_empty(), "these links lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_book() {
    let files = markdown_files();
    let summary = files.iter().find(|file| file.name == "docs/SUMMARY.md").unwrap();
    let in_book: Vec<PathBuf> = links(&summary.text)
        .into_iter()
        .filter_map(|(_, target)| summary.path.parent().unwrap().join(target).canonicalize().ok())
        .collect();
    let is_page = |file: &&Markdown| {
        let is_elsewhere = [".github/", "packages/"].iter().any(|folder| file.name.starts_with(folder));
        !is_elsewhere && file.name != summary.name
    };
    let missing: Vec<&str> = files
        .iter()
        .filter(is_page)
        .filter(|file| !in_book.contains(&file.path.canonicalize().unwrap()))
        .map(|file| file.name.as_str())
        .collect();
    assert!(missing.is_empty(), "add these pages to docs/SUMMARY.md: {}", missing.join(", "));
}

/// A Markdown file of the repository.
pub(crate) struct Markdown {
    /// The path below the repository.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// A fenced code block.
pub(crate) struct Block<'a> {
    /// The number of the line with the fence, from 1.
    pub(crate) line: usize,
    pub(crate) language: &'a str,
    /// The words behind the language.
    pub(crate) words: Vec<&'a str>,
    pub(crate) text: String,
}

impl<'a> Block<'a> {
    pub(crate) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// The value of `NAME=VALUE`.
    pub(crate) fn value(&self, name: &str) -> Option<&'a str> {
        self.words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
    }
}

/// All Markdown files, sorted by name.
pub(crate) fn markdown_files() -> Vec<Markdown> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let file_name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !path.is_symlink() {
                if !SKIPPED_DIRECTORIES.contains(&file_name.as_str()) {
                    open.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push(Markdown { text: fs::read_to_string(&path).unwrap(), name, path });
            }
        }
    }
    assert!(found.iter().any(|file| file.name == "README.md"));
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The lines outside fenced code blocks, with their numbers. A line of a code block is an empty one.
pub(crate) fn prose(text: &str) -> Vec<(usize, &str)> {
    split(text).0
}

/// The fenced code blocks.
pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    split(text).1
}

fn split(text: &str) -> (Vec<(usize, &str)>, Vec<Block<'_>>) {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let marks = start.len() - start.trim_start_matches(['`', '~']).len();
        let is_prose = match (fence, blocks.last_mut()) {
            (Some(open), _) if start.starts_with(open) && start.trim_end().len() == marks => {
                fence = None;
                false
            }
            (Some(_), Some(block)) => {
                block.text += line;
                block.text.push('\n');
                false
            }
            _ if start.starts_with("```") || start.starts_with("~~~") => {
                fence = Some(&start[..marks]);
                let mut words = start[marks..].split_whitespace();
                let language = words.next().unwrap_or_default();
                blocks.push(Block { line: at + 1, language, words: words.collect(), text: String::new() });
                false
            }
            _ => true,
        };
        lines.push((at + 1, if is_prose { line } else { "" }));
    }
    assert!(fence.is_none(), "a code block has no end");
    (lines, blocks)
}

/// Whether a line is one word or one link, after the mark of a list item or quotation.
fn is_unbreakable(line: &str) -> bool {
    let mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || "-*+>.".contains(c);
    let content = line.trim_start_matches(mark).trim_end();
    let is_link = content.starts_with(['[', '!']) && content.ends_with(')') && content.matches("](").count() == 1;
    is_link || !content.contains(char::is_whitespace)
}

/// The prose without `code`, each line where it was. A span ends within its paragraph.
fn without_code_spans(lines: &[(usize, &str)]) -> String {
    let text = lines.iter().fold(String::new(), |text, (_, line)| text + line + "\n");
    let mut kept = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find('`') {
        let marks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let (before, opened) = rest.split_at(start + marks);
        kept.push_str(&before[..start]);
        let paragraph = &opened[..opened.find("\n\n").unwrap_or(opened.len())];
        rest = match closing(paragraph, marks) {
            Some(end) => {
                kept.extend(opened[..end].chars().filter(|c| *c == '\n'));
                &opened[end + marks..]
            }
            None => opened,
        };
    }
    kept + rest
}

/// Where as many backticks stand as opened a span.
fn closing(text: &str, marks: usize) -> Option<usize> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find('`')?;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        if length == marks {
            return Some(start);
        }
        from = start + length;
    }
}

/// The targets of `[text](target)` and `[label]: target`, with the numbers of their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let inline = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
        let labelled = line.strip_prefix('[').and_then(|line| line.split_once("]: ")).map(|(_, target)| target.trim());
        found.extend(inline.chain(labelled).map(|target| (at + 1, target)));
    }
    found
}

/// Why a link of `file` leads nowhere. Absolute links are not followed.
fn problem(file: &Markdown, target: &str, files: &[Markdown]) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let linked = if path.is_empty() { file.path.clone() } else { file.path.parent().unwrap().join(path) };
    let Ok(linked) = linked.canonicalize() else { return Some("no such file".to_owned()) };
    let page = files.iter().find(|other| other.path.canonicalize().is_ok_and(|path| path == linked))?;
    let known = anchors(&page.text);
    let is_known = anchor.is_empty() || known.iter().any(|known| known == anchor);
    (!is_known).then(|| format!("no such heading; {} has {}", page.name, known.join(", ")))
}

/// The anchors of a page's headings, as GitHub makes them: lowercase, without punctuation, hyphens for spaces, and a
/// number from the second of its name on.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text).into_iter().filter(|(_, line)| line.trim_start_matches('#').starts_with(' '));
    let headings = headings.filter_map(|(_, line)| line.strip_prefix('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let slug: String = kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect();
        let count = seen.entry(slug.clone()).or_default();
        *count += 1;
        if *count == 1 { slug } else { format!("{slug}-{}", *count - 1) }
    };
    headings.map(anchor).collect()
}

#[test]
fn code_is_no_prose_and_holds_no_links() {
    let text = "a `[x](y)`\n```sh\n[b](c)\n```\n[d](e) ``[f](g`)``";
    assert_eq!(links(&without_code_spans(&prose(text))), [(5, "e")]);
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# What it is: `a_b`\n## Twice\n## Twice\n#no heading\n";
    assert_eq!(anchors(text), ["what-it-is-a_b", "twice", "twice-1"]);
}

#[test]
fn one_word_or_one_link_cannot_be_broken() {
    assert!(is_unbreakable("- https://example.com/a"));
    assert!(is_unbreakable("![A long text](a.svg)"));
    assert!(!is_unbreakable("See [a](b)."));
}
