//! Asserts that any policy is either refused with mistakes that can be shown, or leaves exactly the tools that it
//! permits, with schemas that are JSON.

#![no_main]

use std::sync::LazyLock;

use climax::catalog::policy::{Applied, read};
use climax::catalog::{Diagnostics, Filter, Source, Strategy, ToolIndex};
use climax_fuzz::{index, object, show};
use libfuzzer_sys::fuzz_target;

const TOOLS: &str = "
name: git
command: git
tools:
  - name: git_log
    description: Shows history
    args:
      - {name: max_count, type: integer, default: 10}
      - {name: ratio, type: number, default: 1.10}
      - {name: oneline, type: boolean, default: true}
      - {name: since, default: yesterday}
      - {name: format, flag: --format=, enum: [short, full]}
      - {name: path, positional: true, required: true}
  - {name: git_status, description: Shows what changed, args: [{name: cwd, cwd: true}]}
  - {name: git_push, description: Sends commits, risk: destructive, args: [{name: force, type: boolean}]}
";

static INDEX: LazyLock<ToolIndex> = LazyLock::new(|| index(TOOLS));

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = Source::new("policy.yaml", bytes.to_vec()) else { return };
    let Applied { policy, index, warnings } = match read(&source) {
        Ok(file) => file.apply(INDEX.clone(), &|_| false),
        Err(found) => return refused(&found),
    };
    assert!(!warnings.has_errors());
    show(&warnings);
    for tool in INDEX.tools() {
        let served = index.get(tool.name());
        assert_eq!(served.is_some(), policy.permits(tool.name()), "{}", tool.name());
        let filter = Filter { query: Some(tool.name()), ..Filter::default() };
        for strategy in Strategy::ALL {
            let found = index.search_by(strategy, filter, usize::MAX);
            assert!(found.iter().all(|entry| policy.permits(entry.tool_name())));
        }
        let _ = policy.asks(tool);
    }
    for tool in index.tools() {
        assert!(policy.permits(tool.name()), "{}", tool.name());
        let entry = object(tool.entry().as_json());
        assert_eq!(entry["input_schema"], object(tool.input_schema()));
    }
});

fn refused(found: &Diagnostics) {
    assert!(found.has_errors());
    show(found);
}
