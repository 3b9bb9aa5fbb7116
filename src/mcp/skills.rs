//! Skills: `skills/list`, `skills/get` and the resources of their files.
//!
//! Source: MCP, SEP-2640, the extension `io.modelcontextprotocol/skills`.

use climax_catalog::{SKILL_FILE, Skill, SkillFile, is_markdown};
use rmcp::model::{self, ErrorData, ResourceContents, SkillFrontmatter, SkillResource, SkillResources};

use super::resources::{ListPage, TEXT, contents, page};
use crate::call::arguments::echo;

/// The start of the URIs of skills.
const SKILL_URI_PREFIX: &str = "skill://";
const MARKDOWN: &str = "text/markdown";

/// A page of the skills.
pub(super) fn list(skills: &[Skill], cursor: Option<&str>) -> Result<ListPage<model::Skill>, ErrorData> {
    page(skills.iter().map(entry), cursor)
}

/// The skill of this URI, which is that of its `SKILL.md`.
///
/// # Errors
/// No skill has this URI.
pub(super) fn get(skills: &[Skill], uri: &str) -> Result<model::Skill, ErrorData> {
    let found = skills.iter().find(|skill| self::uri(skill, SKILL_FILE) == uri);
    let unknown = || ErrorData::invalid_params(format!("No such skill: {}; `skills/list` lists them", echo(uri)), None);
    found.map(entry).ok_or_else(unknown)
}

/// The file of this URI. Only the URIs of `skills/list` name files: `..` and other spellings do not.
pub(super) fn read(skills: &[Skill], uri: &str) -> Option<ResourceContents> {
    let (name, path) = uri.strip_prefix(SKILL_URI_PREFIX)?.split_once('/')?;
    let skill = skills.iter().find(|skill| skill.name == name)?;
    let file = skill.files.iter().find(|file| file.path == path)?;
    Some(contents(uri, &file.content, mime(file)))
}

fn uri(skill: &Skill, path: &str) -> String {
    format!("{SKILL_URI_PREFIX}{}/{path}", skill.name)
}

fn entry(skill: &Skill) -> model::Skill {
    let resource = |file: &SkillFile| {
        SkillResource::new(uri(skill, &file.path), format!("sha256:{}", file.digest), file.content.len() as u64)
    };
    let mut front_matter = SkillFrontmatter::new(&skill.name, skill.description());
    let is_other = |key: &str| !matches!(key, "name" | "description");
    let others = skill.front_matter.iter().filter(|(key, _)| is_other(key));
    front_matter.extra = others.map(|(key, value)| (key.clone(), value.clone())).collect();
    let files = skill.files.iter().map(resource).collect();
    model::Skill::new(uri(skill, SKILL_FILE), front_matter, SkillResources::Files(files))
}

fn mime(file: &SkillFile) -> &'static str {
    let is_text = !file.content.contains(&0) && std::str::from_utf8(&file.content).is_ok();
    if !is_text {
        return "application/octet-stream";
    }

    if is_markdown(&file.path) { MARKDOWN } else { TEXT }
}
