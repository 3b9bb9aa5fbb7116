//! The guest: runs one program in the engine `QuickJS`, in a process that can do nothing else.

use std::io::{self, BufRead as _, Write as _};

use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Function, Object, Promise, Runtime};
use serde_json::{Value, json};

use crate::exec::isolate;

/// The subcommand that starts this program as a guest.
pub(crate) const COMMAND: &str = "code-guest";

/// Maximum memory of the engine, in bytes.
pub(crate) const MAX_ENGINE_BYTES: usize = 128 << 20;

/// Maximum stack of the engine, in bytes.
const MAX_STACK_BYTES: usize = 1 << 20;

/// The name by which the engine calls the program in the places of errors, and by which the prelude finds these places.
const FILE: &str = "code.js";

/// What stands before a program that returns at its top level, and behind it.
///
/// The promise of a script holds its value in an object, so this one does too.
const FUNCTION: [&str; 2] = ["(async()=>{\n", "\n})().then(value=>({value}))"];

/// The name of a program in [`FUNCTION`]. The number is that of the lines before it.
const FILE_IN_FUNCTION: &str = "code+1.js";

/// Runs this process as a guest if its arguments say so. Returns whether they do.
pub(crate) fn run_as_guest() -> bool {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_none_or(|word| word != COMMAND) || words.next().is_some() {
        return false;
    }

    match isolate() {
        // Nothing is left to do if the host does not read any more.
        Ok(()) => drop(run()),
        Err(reason) => send(&json!({ "refused": reason }).to_string()),
    }

    true
}

/// Writes a message to the host.
fn send(message: &str) {
    let mut output = io::stdout().lock();
    let _ = output.write_all(format!("{message}\n").as_bytes()).and_then(|()| output.flush());
}

/// Reads a message of the host; `None` if it has ended.
fn receive() -> Option<String> {
    let mut line = String::new();
    match io::stdin().lock().read_line(&mut line) {
        Ok(1..) => Some(line),
        Ok(0) | Err(_) => None,
    }
}

/// Runs the program of the first message to its end, or until the host has ended.
fn run() -> Option<()> {
    let start: Value = serde_json::from_str(&receive()?).ok()?;
    let runtime = Runtime::new().ok()?;
    runtime.set_memory_limit(MAX_ENGINE_BYTES);
    runtime.set_max_stack_size(MAX_STACK_BYTES);
    let context = Context::full(&runtime).ok()?;
    context.with(|context| drive(&context, &start))
}

/// Evaluates the program, and gives it answers as long as it waits for some.
fn drive(context: &Ctx<'_>, start: &Value) -> Option<()> {
    let prelude: Function<'_> = context.eval_with_options(include_str!("prelude.js"), options("climax")).ok()?;
    let send_text = Function::new(context.clone(), |message: String| send(&message)).ok()?;
    let (now, seed) = (start["now"].as_f64()?, start["seed"].as_f64()?);
    let world: Object<'_> = prelude.call((send_text, now, seed)).ok()?;
    let call = |name: &str| world.get::<_, Function<'_>>(name).ok();
    match evaluate(context, start["code"].as_str()?) {
        Ok(promise) => call("evaluated")?.call((promise,)).ok()?,
        Err(CaughtError::Exception(error)) => call("unread")?.call((error,)).ok()?,
        Err(CaughtError::Value(value)) => call("unread")?.call((value,)).ok()?,
        Err(CaughtError::Error(_)) => return None,
    }
    let answered = call("receive")?;
    loop {
        while context.execute_pending_job() {}
        send(r#"{"waits":true}"#);
        answered.call::<_, ()>((receive()?,)).ok()?;
    }
}

/// Evaluates a program: its value is that of its last expression, or what it returns at its top level.
fn evaluate<'js>(context: &Ctx<'js>, code: &str) -> Result<Promise<'js>, CaughtError<'js>> {
    let mut script = options(FILE);
    script.promise = true;
    context.eval_with_options(code, script).catch(context).or_else(|error| {
        let returns = matches!(&error, CaughtError::Exception(error) if error.message().is_some_and(|text| text.starts_with("return ")));
        if !returns {
            return Err(error);
        }
        let [before, behind] = FUNCTION;
        context.eval_with_options(format!("{before}{code}{behind}"), options(FILE_IN_FUNCTION)).catch(context)
    })
}

/// The options to evaluate a file as a script, not in strict mode.
fn options(file: &str) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(file.to_owned());
    options
}
