//! Tables that are being filled.

use std::collections::HashMap;

use super::text::{List, Str};
use super::{ArgDef, CliDef, DetailDef, FileDef, GroupDef, PromptDef, QuestionDef, ResolveDef, RuleDef, ToolDef};
use crate::offset::{Full, offset};

/// The rows of a catalog that is being made. Equal texts are stored once.
#[derive(Default)]
pub(crate) struct Tables {
    max: u32,
    pub(crate) text: String,
    pub(crate) text_ends: Vec<u32>,
    interned: HashMap<String, Str>,
    pub(crate) clis: Vec<CliDef>,
    pub(crate) tools: Vec<ToolDef>,
    pub(crate) args: Vec<ArgDef>,
    pub(crate) resolves: Vec<ResolveDef>,
    pub(crate) questions: Vec<QuestionDef>,
    pub(crate) prompts: Vec<PromptDef>,
    pub(crate) files: Vec<FileDef>,
    pub(crate) groups: Vec<GroupDef>,
    pub(crate) details: Vec<DetailDef>,
    pub(crate) rules: Vec<RuleDef>,
    pub(crate) lists: Vec<u32>,
}

impl Tables {
    /// Makes empty tables whose offsets are at most `max`.
    pub(crate) fn new(max: u32) -> Self {
        Self { max, ..Self::default() }
    }

    /// The largest offset.
    pub(crate) fn max(&self) -> u32 {
        self.max
    }

    /// Converts a length to an offset. `unit` names what the table holds.
    pub(crate) fn offset(&self, len: usize, unit: &'static str) -> Result<u32, Full> {
        offset(len, self.max, unit)
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, text: &str) -> Result<Str, Full> {
        if let Some(id) = self.interned.get(text) {
            return Ok(*id);
        }

        let id = Str(self.offset(self.text_ends.len(), "texts")?);
        let end = self.offset(self.text.len() + text.len(), "bytes of text")?;
        self.text.push_str(text);
        self.text_ends.push(end);
        self.interned.insert(text.to_owned(), id);

        Ok(id)
    }

    /// Adds a text, if there is one.
    pub(crate) fn optional(&mut self, text: Option<&str>) -> Result<Option<Str>, Full> {
        text.map(|text| self.text(text)).transpose()
    }

    /// Adds a list of texts.
    pub(crate) fn list<'a>(&mut self, items: impl IntoIterator<Item = &'a str>) -> Result<List, Full> {
        let first = self.offset(self.lists.len(), "words in lists")?;
        for item in items {
            let id = self.text(item)?;
            self.lists.push(id.0);
        }
        Ok(List(first, self.offset(self.lists.len(), "words in lists")?))
    }
}
