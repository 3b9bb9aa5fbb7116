//! Asserts that any text is either an error with its place or a tree whose words can be expanded, in bounded time and
//! memory.

#![no_main]

use std::ops::Range;

use climax_shell::{Body, Expander, List, State, Substituted, Surroundings, Value, parse};
use libfuzzer_sys::fuzz_target;

/// Every variable has a value, and every command an output.
struct Outside;

impl Surroundings for Outside {
    fn variable(&self, _: &str) -> Option<String> {
        Some("a b".to_owned())
    }

    fn paths(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(vec!["-a".to_owned(), "b c".to_owned()])
    }

    fn substitution(&self, _: &Range<usize>) -> Substituted {
        Substituted::Known("-x\ny\n".to_owned(), 1)
    }
}

fuzz_target!(|text: &str| {
    match parse(text) {
        Ok(script) => expand(&script.list),
        Err(error) => {
            assert!(text.get(error.range.clone()).is_some() || text.len() > climax_shell::MAX_BYTES, "{error}")
        }
    }
});

/// Expands the words of simple commands.
fn expand(list: &List) {
    let mut state = State { positions: Some(vec!["-p".to_owned()]), status: Some(0), ..State::default() };
    state.set("x", Value::Known("7".to_owned()));
    for chain in &list.items {
        let pipelines = std::iter::once(&chain.first).chain(chain.rest.iter().map(|(_, pipeline)| pipeline));
        for command in pipelines.flat_map(|pipeline| &pipeline.commands) {
            match &command.body {
                Body::Simple(simple) => {
                    let expanded = Expander { state: &mut state, surroundings: &Outside }.fields(&simple.words);
                    for field in expanded.iter().flatten() {
                        assert!(field.text.len() < 1 << 26);
                    }
                }
                Body::Subshell(list) | Body::Group(list) => expand(list),
                _ => {}
            }
        }
    }
}
