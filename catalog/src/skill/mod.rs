//! Skills: instructions for agents, each a directory with a `SKILL.md` (Agent Skills), served by MCP's skills extension.
//!
//! Source: agentskills.io/specification; MCP, SEP-2640.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::table::PackedSkills;

pub(crate) mod check;
mod mention;

/// The file of a skill that agents read first.
pub const SKILL_FILE: &str = "SKILL.md";

/// A skill that has been checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name, which is that of its directory.
    pub name: String,
    /// All that its author wrote about it, `name` and `description` included.
    pub front_matter: Map<String, Value>,
    /// The names of all tools that its files mention.
    pub tools: Vec<String>,
    /// Its files, in the byte order of their paths.
    pub files: Vec<SkillFile>,
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFile {
    /// The path below the directory of the skill, with `/` between its parts.
    pub path: String,
    /// The SHA-256 of the content, in hexadecimal.
    pub digest: String,
    /// The bytes of the file.
    pub content: Cow<'static, [u8]>,
}

impl Skill {
    /// Returns what the skill is for.
    #[must_use]
    pub fn description(&self) -> &str {
        self.front_matter.get("description").and_then(Value::as_str).unwrap_or_default()
    }
}

impl SkillFile {
    pub(crate) fn new(path: String, content: Vec<u8>) -> Self {
        Self { path, digest: hex::encode(Sha256::digest(&content)), content: content.into() }
    }
}

/// Returns whether a file is Markdown, by its name.
#[must_use]
pub fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
}

impl PackedSkills {
    /// Packs skills for a catalog. Returns `None` without skills.
    #[must_use]
    pub fn pack(skills: &[Skill]) -> Option<Self> {
        if skills.is_empty() {
            return None;
        }

        let file = |file: &SkillFile| json!([file.path, file.digest, file.content.len()]);
        let skill = |Skill { name, front_matter, tools, files }: &Skill| {
            json!([name, front_matter, tools, files.iter().map(file).collect::<Vec<_>>()])
        };
        let manifest = skills.iter().map(skill).collect::<Value>().to_string();
        let contents: Vec<u8> =
            skills.iter().flat_map(|skill| &skill.files).flat_map(|file| file.content.to_vec()).collect();
        Some(Self { manifest: manifest.into(), contents: contents.into() })
    }

    /// Returns the skills. Contents that are compiled in are not copied.
    #[must_use]
    pub fn unpack(&self) -> Vec<Skill> {
        let manifest: Value = serde_json::from_str(&self.manifest).unwrap_or_default();
        let mut start = 0;
        let mut file = |json: &Value| {
            let end = start + json[2].as_u64().and_then(|size| usize::try_from(size).ok()).unwrap_or_default();
            let content = self.part(start..end);
            start = end;
            SkillFile { path: text(&json[0]), digest: text(&json[1]), content }
        };
        let skill = |json: &Value| Skill {
            name: text(&json[0]),
            front_matter: json[1].as_object().cloned().unwrap_or_default(),
            tools: items(&json[2]).map(text).collect(),
            files: items(&json[3]).map(&mut file).collect(),
        };

        items(&manifest).map(skill).collect()
    }

    fn part(&self, range: Range<usize>) -> Cow<'static, [u8]> {
        match &self.contents {
            Cow::Borrowed(contents) => Cow::Borrowed(contents.get(range).unwrap_or_default()),
            Cow::Owned(contents) => Cow::Owned(contents.get(range).unwrap_or_default().to_vec()),
        }
    }
}

fn items(json: &Value) -> impl Iterator<Item = &Value> {
    json.as_array().into_iter().flatten()
}

fn text(json: &Value) -> String {
    json.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_skills_are_unpacked_unchanged() {
        let skill = |name: &str, files: &[(&str, &[u8])]| Skill {
            name: name.to_owned(),
            front_matter: json!({ "name": name, "description": "x" }).as_object().cloned().unwrap(),
            tools: vec!["git_log".to_owned()],
            files: files.iter().map(|(path, bytes)| SkillFile::new((*path).to_owned(), bytes.to_vec())).collect(),
        };
        let skills =
            [skill("one", &[("SKILL.md", b"---"), ("a/b.bin", b"\xff\0")]), skill("two", &[("SKILL.md", b"")])];
        assert_eq!(PackedSkills::pack(&skills).unwrap().unpack(), skills);
        assert_eq!(PackedSkills::pack(&[]), None);
    }
}
