//! Asserts for any line that its judgement is JSON with a reason, that what is allowed only reads and prints no secrets, and
//! that no cage would hold what runs as it was typed.

#![no_main]

use std::sync::LazyLock;

use climax::call::Toolbox;
use climax::call::judge::{Decision, Rewriter, ShellLife, judge};
use climax::catalog::{Layer, Risk, ToolIndex};
use climax::exec::{Limits, Runner};
use climax_fuzz::{object, policy};
use libfuzzer_sys::fuzz_target;

static TOOLBOX: LazyLock<Toolbox> = LazyLock::new(|| {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&climax::CATALOG)]);
    let applied = policy("default: enabled").apply(index, &|_| false).expect("the tools fit one catalog");
    let runner = Runner::new(applied.policy.executor().clone(), Limits::default(), 1);
    Toolbox::new(applied.index, applied.policy, runner, None)
});

fuzz_target!(|line: &str| {
    let shell = ShellLife::default();
    let rewriter = Rewriter { shell, program: "/usr/bin/climax".into(), options: Vec::new() };
    let judgement = judge(&TOOLBOX, line, None, &rewriter);
    let json = object(&judgement.to_json().to_string());
    assert!(!judgement.reason.is_empty(), "{json}");

    match judgement.decision {
        Decision::Allow => {
            assert_eq!(judgement.risk, Some(Risk::Read), "{json}");
            assert!(!judgement.is_sensitive, "{json}");
            let is_held = judgement.commands.iter().any(|command| command.cage.is_some());
            assert!(judgement.rewritten.is_some() || !is_held, "{json}");
        }
        Decision::Ask | Decision::Deny => assert_eq!(judgement.rewritten, None, "{json}"),
    }
});
