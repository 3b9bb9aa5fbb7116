//! Checks of skills: the files of their directories → [`Skill`], with every mistake reported.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::mention::Names;
use super::{SKILL_FILE, Skill, SkillFile, is_markdown};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::read::walk::{Walker, first_line};
use crate::read::yaml;
use crate::source::{Source, Span, Spanned};
use crate::suggest::did_you_mean;
use crate::view::ResolvedTool;

/// The longest name of a skill, in characters.
pub(crate) const MAX_SKILL_NAME_CHARS: usize = 64;
/// The longest description of a skill, in characters.
pub(crate) const MAX_SKILL_DESCRIPTION_CHARS: usize = 1_024;
/// The longest `compatibility` of a skill, in characters.
const MAX_COMPATIBILITY_CHARS: usize = 500;

/// The line before and after front matter.
const FENCE: &str = "---";

/// Keys of front matter whose values are texts.
const TEXT_KEYS: [&str; 5] = ["name", "description", "license", "compatibility", "allowed-tools"];

/// The files of a directory with a skill.
#[derive(Clone, Debug)]
pub struct SkillDirectory {
    /// The name of the directory.
    pub name: String,
    /// The directory's path, for messages.
    pub path: String,
    /// The paths and contents of the files.
    pub files: Vec<(String, Vec<u8>)>,
}

/// Checks skills. `tools` are those that skills may mention.
///
/// Returns the skills with warnings about them. If two skills have the same name, the later one wins, with a warning.
///
/// # Errors
/// Every mistake in every skill, and the warnings.
pub fn check_skills<'a>(
    directories: Vec<SkillDirectory>,
    tools: impl Iterator<Item = ResolvedTool<'a>>,
) -> Result<(Vec<Skill>, Diagnostics), Diagnostics> {
    let names = Names::new(tools);
    let mut skills: Vec<Skill> = Vec::new();
    let mut found = Vec::new();
    let mut first: HashMap<String, String> = HashMap::new();

    for directory in directories {
        let mut checker = Checker { names: &names, found: Vec::new() };
        if let Some(other) = first.insert(directory.name.clone(), directory.path.clone()) {
            let message = format!("replaces the skill `{}` in {other}", directory.name);
            let help = "rename one of the two directories if both are wanted";
            checker.found.push(Diagnostic::file(Code::Override, &directory.path, message, help));
            skills.retain(|skill| skill.name != directory.name);
        }
        skills.extend(checker.skill(directory));
        found.push(checker.found);
    }

    let diagnostics = Diagnostics::in_order(found);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok((skills, diagnostics)) }
}

/// Keeps the skills all of whose tools are served. Returns a warning for each of the others.
pub fn retain_served(skills: &mut Vec<Skill>, is_served: impl Fn(&str) -> bool) -> Diagnostics {
    let mut warnings = Diagnostics::default();
    skills.retain(|skill| {
        let absent: Vec<&str> = skill.tools.iter().map(String::as_str).filter(|name| !is_served(name)).collect();
        if absent.is_empty() {
            return true;
        }
        let message = format!("the skill is not served, since it mentions tools that are not: {}", absent.join(", "));
        let help = "permit these tools in the policy, or leave the skill out";
        warnings.push(Diagnostic::file(Code::HiddenSkill, &skill.name, message, help));
        false
    });

    warnings
}

struct Checker<'n> {
    names: &'n Names<'n>,
    found: Vec<Diagnostic>,
}

impl Checker<'_> {
    /// Checks a skill. Returns it if its front matter can be read.
    fn skill(&mut self, directory: SkillDirectory) -> Option<Skill> {
        let mut tools = BTreeSet::new();
        let mut front_matter = None;
        for (path, content) in &directory.files {
            self.names.mentioned(path, &mut tools);
            let shown = format!("{}/{path}", directory.path);
            let Ok(text) = std::str::from_utf8(content) else {
                if path == SKILL_FILE {
                    self.found.extend(Source::new(&shown, content.clone()).err());
                }
                continue;
            };
            self.names.mentioned(text, &mut tools);
            let source = Source::from_text(&shown, text);
            if is_markdown(path) {
                self.unknown_tools(&source);
            }
            if path == SKILL_FILE {
                front_matter = self.front_matter(&source, &directory.name);
            }
        }

        let SkillDirectory { name, files, path: _ } = directory;
        let mut files: Vec<_> = files.into_iter().map(|(path, content)| SkillFile::new(path, content)).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Some(Skill { name, front_matter: front_matter?, tools: tools.into_iter().collect(), files })
    }

    fn unknown_tools(&mut self, source: &Source) {
        for span in self.names.unknown(source.text()) {
            let name = &source.text()[span.start..span.end];
            let help = match did_you_mean(name, self.names.tools()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "name a tool that is served; write a word that is no tool without backticks".to_owned(),
            };
            let message = format!("the skill mentions the tool `{name}`, which does not exist");
            self.found.push(source.diagnostic(Code::UnknownTool, span, message).help(help).into_error());
        }
    }

    /// Reads the front matter of a `SKILL.md`.
    fn front_matter(&mut self, source: &Source, directory: &str) -> Option<Map<String, Value>> {
        let Some(end) = end_of_front_matter(source.text()) else {
            let help = "start the file with the lines `---`, `name: …`, `description: …` and `---`";
            self.refuse(source, first_span(source), "a skill starts with front matter, found none", help);
            return None;
        };

        if source.text()[end..].trim_start_matches(FENCE).trim().is_empty() {
            let help = "write below the front matter what an agent should do";
            self.refuse(source, first_span(source), "the skill has front matter alone, and no instructions", help);
        }

        // The parser reads a whole text. The places of the front matter are those of the file.
        let head = Source::from_text(source.path(), &source.text()[..end]);
        let root = yaml::parse(&head, &mut self.found);
        let mut walker = Walker::new(&head, &mut self.found);
        let entries = match &root {
            Some(root) if !root.is_null() => walker.entries(root, "front matter", |walker, name, node| {
                if TEXT_KEYS.contains(&name.value.as_str()) {
                    let text = walker.string(node, &name.value)?;
                    return Some((name.value, Spanned { value: text.value.into(), span: node.span }));
                }
                Some((name.value, Spanned { value: node.to_json(), span: node.span }))
            }),
            _ => Vec::new(),
        };
        let keys: HashMap<&str, &Spanned<Value>> = entries.iter().map(|(key, value)| (key.as_str(), value)).collect();

        // A key of a wrong type has been reported.
        let is_whole = !self.found.iter().any(|one| matches!(one.code(), Code::Syntax | Code::WrongType));
        for (key, meaning) in [("name", "that of the directory"), ("description", "what it does and when to use it")] {
            if !keys.contains_key(key) && is_whole {
                let missing = head.diagnostic(
                    Code::MissingKey,
                    first_span(&head),
                    format!("missing key `{key}` in front matter"),
                );
                self.found.push(missing.help(format!("add `{key}:`, {meaning}")));
            }
        }

        for (key, value) in &keys {
            if let Some(text) = value.value.as_str() {
                self.check_text(&head, key, text, value.span, directory);
            }
        }

        Some(entries.into_iter().map(|(key, value)| (key, value.value)).collect())
    }

    fn check_text(&mut self, head: &Source, key: &str, text: &str, span: Span, directory: &str) {
        let max = match key {
            "name" => return self.check_name(head, text, span, directory),
            "description" => MAX_SKILL_DESCRIPTION_CHARS,
            "compatibility" => MAX_COMPATIBILITY_CHARS,
            _ => return,
        };
        let span = first_line(head, span);

        if text.trim().is_empty() {
            self.found.push(head.diagnostic(Code::EmptyValue, span, format!("`{key}` is empty")).help("write a text"));
        }

        let length = text.chars().count();
        if length > max {
            let message = format!("`{key}` has {length} characters, expected {max} at most");
            self.refuse(head, span, &message, "shorten it, and say the rest in the text of the skill");
        }
    }

    fn check_name(&mut self, head: &Source, name: &str, span: Span, directory: &str) {
        if !is_skill_name(name) {
            let message = format!("`{}` is no name of a skill", yaml::shorten(name));
            let help = format!(
                "write at most {MAX_SKILL_NAME_CHARS} characters: small letters, digits, and single hyphens between them"
            );
            self.refuse(head, span, &message, &help);
        } else if name != directory {
            let message = format!("the skill is named `{name}`, and its directory `{directory}`");
            self.refuse(head, span, &message, "give both the same name");
        }
    }

    fn refuse(&mut self, source: &Source, span: Span, message: &str, help: &str) {
        self.found.push(source.diagnostic(Code::IllegalSkill, span, message).help(help));
    }
}

/// Returns whether a text can be the name of a skill.
///
/// Source: agentskills.io/specification, "name field".
#[must_use]
pub fn is_skill_name(text: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    text.len() <= MAX_SKILL_NAME_CHARS && text.split('-').all(is_part)
}

/// The first line of a file.
fn first_span(source: &Source) -> Span {
    first_line(source, Span { start: 0, end: source.text().len() })
}

/// Returns where the line after the front matter starts.
fn end_of_front_matter(text: &str) -> Option<usize> {
    let mut lines = text.split_inclusive('\n');
    let mut end = lines.next().filter(|line| line.trim_end() == FENCE)?.len();
    for line in lines {
        if line.trim_end() == FENCE {
            return Some(end);
        }
        end += line.len();
    }

    None
}
