//! `climax_code`: runs a program that calls tools. Source: `docs/contract.md`, "Code".

use std::borrow::Cow;

use climax_catalog::ToolIndex;
use serde_json::{Map, Value, json};

use super::call::CALL;
use super::run::RUN;
use super::spec::{Effect, MetaSurface, MetaTool, Spec};
use super::work::{CodeArguments, Work};
use crate::call::arguments::{Problem, Violation};
use crate::mcp::reader::ArgumentReader;

/// `climax_code`.
pub(in crate::mcp) const CODE: MetaTool = MetaTool::new(&Spec {
    word: "code",
    name: "climax_code",
    title: "Code",
    effect: Effect::Calls,
    description,
    schema: |_| schema(),
    work: |request| Ok(Work::Code(code_arguments(request.arguments)?)),
});

/// Maximum length of a program, in bytes.
pub(crate) const MAX_CODE_BYTES: usize = 256 << 10;

/// The seconds that a program may compute by default. The time of its calls does not count.
pub(crate) const DEFAULT_CODE_SECONDS: i64 = 10;

/// The most seconds that a program may compute.
pub(crate) const MAX_CODE_SECONDS: i64 = 300;

/// The names of the arguments, with those that stand for `code`.
pub(in crate::mcp) const CODE_KEYS: [&str; 5] = ["code", "source", "script", "program", "timeout"];

/// The description, which names the other ways to call as far as the surface has them.
fn description(surface: &MetaSurface, _: &ToolIndex) -> Cow<'static, str> {
    let has = |tool: MetaTool, text: &'static str| surface.has(tool).then_some(text);
    let others = [has(CALL, "one or two calls: climax_call"), has(RUN, "a pipeline: climax_run")];
    let others: Vec<&str> = others.into_iter().flatten().collect();
    let others = if others.is_empty() { String::new() } else { format!(" Not for {}.", others.join("; ")) };
    let text = format!(
        "Run JavaScript that makes many calls, or reads more than you want to.{others} \
         await tools.NAME(args) or await run(\"git log | head -5\") is {{exit_code, stdout, stderr, json}}; a failing program \
         does not throw. await search(query) finds tools, await describe(NAME) is a type. console.log and the value of the \
         last expression are the result. Promise.all calls in parallel. No files, network, timers or imports."
    );
    text.into()
}

/// The input schema.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "code": { "type": "string" },
            "timeout": {
                "type": "integer",
                "default": DEFAULT_CODE_SECONDS,
                "description": "Seconds to compute, without the time of calls"
            }
        },
        "required": ["code"]
    })
}

/// Reads the arguments.
fn code_arguments(arguments: &Map<String, Value>) -> Result<CodeArguments, Vec<Violation>> {
    let mut reader = ArgumentReader::new(arguments);
    let code = reader.required_string(&["code", "source", "script", "program"]);
    let seconds =
        reader.seconds("timeout", (DEFAULT_CODE_SECONDS, MAX_CODE_SECONDS), "a number of seconds from 1 to 300");
    reader.reject_misspelt(&["code", "timeout"]);
    if code.len() > MAX_CODE_BYTES {
        let problem = Problem::TooLong { bytes: code.len(), limit: MAX_CODE_BYTES };
        reader.add_violation("code", problem);
    }

    reader.finish()?;
    Ok(CodeArguments { code, seconds: seconds.unsigned_abs() })
}
