//! Resources and prompts of an index.

use std::collections::HashMap;

use super::{Readable, ToolIndex};
use crate::model::Risk;
use crate::prompt::Prompt;
use crate::view::{ArgView, ResolvedTool};

impl ToolIndex {
    /// The tools that print resources, in their order. Of two whose URIs have one form the later stays.
    pub fn resources(&self) -> impl Iterator<Item = ResolvedTool<'_>> {
        self.readable().tools.iter().map(|id| self.tool(*id))
    }

    /// The tool that prints the resource of this URI, with what the URI says of its args. What has that URI for its own goes
    /// before what can have it.
    #[must_use]
    pub fn resource<'a>(&'a self, uri: &str) -> Option<(ResolvedTool<'a>, Vec<(&'a str, String)>)> {
        let readable = self.readable();
        if let Some(id) = readable.fixed.get(uri) {
            return Some((self.tool(*id), Vec::new()));
        }

        let may_be = readable.open.iter().filter(|(start, _)| uri.starts_with(&**start));
        may_be.into_iter().find_map(|(_, id)| {
            let tool = self.tool(*id);
            Some((tool, tool.resource_template()?.values(uri)?))
        })
    }

    fn readable(&self) -> &Readable {
        self.readable.get_or_init(|| {
            let mut by_form: HashMap<String, usize> = HashMap::new();
            let mut tools: Vec<Option<(usize, u32)>> = Vec::new();
            for (at, layer) in self.layers.iter().enumerate() {
                let rows = layer.catalog.resources.iter().map(|row| (at, *row));
                for id in rows.filter(|id| layer.serves(id.1) && self.is_visible(*id)) {
                    let Some(template) = self.tool(id).resource_template() else { continue };
                    if let Some(earlier) = by_form.insert(template.form(), tools.len()) {
                        tools[earlier] = None;
                    }
                    tools.push(Some(id));
                }
            }
            let mut readable = Readable { tools: tools.into_iter().flatten().collect(), ..Readable::default() };
            for id in &readable.tools {
                let Some(template) = self.tool(*id).resource_template() else { continue };
                if template.variables().next().is_none() {
                    readable.fixed.insert(template.start().into(), *id);
                } else {
                    readable.open.push((template.start().into(), *id));
                }
            }
            readable
        })
    }

    /// The prompts that can be used: all tools that they call are served, change nothing and ask nobody. Of two with one name
    /// the later stays.
    pub fn prompts(&self) -> &[Prompt] {
        self.prompts.get_or_init(|| {
            let mut by_name: HashMap<String, usize> = HashMap::new();
            let mut all: Vec<Option<Prompt>> = Vec::new();
            for segment in &self.segments {
                let cli = self.cli(*segment);
                let defined = cli.tool_rows().range().len();
                if defined > 0 && defined == self.hidden_in(*segment) {
                    continue;
                }
                for prompt in cli.prompts().filter(|prompt| self.can_be_used(prompt)) {
                    if let Some(earlier) = by_name.insert(prompt.name.clone(), all.len()) {
                        all[earlier] = None;
                    }
                    all.push(Some(prompt));
                }
            }
            all.into_iter().flatten().collect()
        })
    }

    /// Whether the tools that a prompt calls are what they were when it was checked: another config may have replaced them.
    fn can_be_used(&self, prompt: &Prompt) -> bool {
        prompt.calls().all(|(name, given)| {
            self.get(name).is_some_and(|tool| {
                let is_given = |arg: ArgView<'_>| !arg.required() || given.iter().any(|(name, _)| name == arg.name());
                tool.risk() == Risk::Read && tool.questions().len() == 0 && tool.args().all(is_given)
            })
        })
    }
}
