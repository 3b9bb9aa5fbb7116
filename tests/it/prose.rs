//! Sentences of the Markdown pages and of doc comments are short.

use crate::markdown::{markdown_files, prose};
use crate::tidy::sources;

/// Largest mean number of words in the sentences of a page.
const MAX_MEAN_WORDS: usize = 14;

/// Largest number of words in a sentence.
const MAX_WORDS: usize = 28;

/// The sentences of a page, with the numbers of their first lines. Headings, tables and code blocks hold none. An
/// item of a list ends its last sentence.
fn sentences(text: &str) -> Vec<(usize, String)> {
    let mut sentences: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in prose(text) {
        let content = line.trim_start().trim_start_matches(['>', ' ']);
        if content.is_empty() || content.starts_with(['#', '|', '<']) {
            open = false;
            continue;
        }
        let item = item(content);
        open &= item.is_none();
        for word in item.unwrap_or(content).split_whitespace() {
            match sentences.last_mut() {
                Some((_, sentence)) if open => {
                    sentence.push(' ');
                    sentence.push_str(word);
                }
                _ => sentences.push((number, word.to_owned())),
            }
            open = !is_end(word);
        }
    }
    sentences.retain(|(_, sentence)| words(sentence) > 0);
    sentences
}

/// The text of a list item.
fn item(line: &str) -> Option<&str> {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = (numbered.len() < line.len()).then(|| numbered.strip_prefix(". ")).flatten();
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or(number)
}

/// Whether a word ends a sentence.
fn is_end(word: &str) -> bool {
    let bare = word.trim_end_matches(['*', '_', ')', '"']);
    bare.ends_with(['.', '?', '!', ':']) && !bare.ends_with("e.g.") && !bare.ends_with("i.e.")
}

/// The number of words. A code span is one word, and so is the target of a link with the last word of its text.
fn words(sentence: &str) -> usize {
    let mut is_code = false;
    let mut count = 0;
    for part in sentence.split('`') {
        count += if is_code {
            1
        } else {
            part.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
        };
        is_code = !is_code;
    }
    count
}

#[test]
fn sentences_are_short() {
    let mut problems = Vec::new();
    for page in markdown_files().iter().filter(|page| !page.name.starts_with("docs/reference/")) {
        let sentences = sentences(&page.text);
        let total: usize = sentences.iter().map(|(_, sentence)| words(sentence)).sum();
        if total > MAX_MEAN_WORDS * sentences.len() {
            let mean = total / sentences.len();
            problems.push(format!("{}: {mean} words a sentence, the most is {MAX_MEAN_WORDS}", page.name));
        }
        for (line, sentence) in sentences {
            let count = words(&sentence);
            if count > MAX_WORDS {
                problems.push(format!("{}:{line}: {count} words, the most is {MAX_WORDS}: {sentence}", page.name));
            }
        }
    }
    assert!(problems.is_empty(), "split these sentences:\n{}", problems.join("\n"));
}

/// The doc comments of a source, each line where it was.
fn doc_comments(source: &str) -> String {
    let comment = |line: &'_ str| {
        let line = line.trim_start();
        line.strip_prefix("//!").or_else(|| line.strip_prefix("///")).unwrap_or_default().to_owned()
    };
    source.lines().map(comment).collect::<Vec<_>>().join("\n")
}

#[test]
fn sentences_of_doc_comments_are_short() {
    let mut problems = Vec::new();
    for (file, source) in ["catalog/src", "codegen/src", "import/src", "src"].into_iter().flat_map(sources) {
        for (line, sentence) in sentences(&doc_comments(&source)) {
            let count = words(&sentence);
            if count > MAX_WORDS {
                problems.push(format!("{file}:{line}: {count} words, the most is {MAX_WORDS}: {sentence}"));
            }
        }
    }
    assert!(problems.is_empty(), "split these sentences:\n{}", problems.join("\n"));
}

#[test]
fn sentences_end_at_marks_items_and_paragraphs() {
    let text = "# A b\nOne two. Three:\n- `a b` four\n- five\n\nSix\nseven?\n\n| a | b |\n";
    let found: Vec<(usize, usize)> = sentences(text).iter().map(|(line, text)| (*line, words(text))).collect();
    assert_eq!(found, [(2, 2), (2, 1), (3, 2), (4, 1), (6, 2)]);
}
