//! The messages between a guest and its host: one JSON object each.
//!
//! Pure. The host trusts no message of a guest: what it cannot read is [`None`].

use serde_json::{Map, Value, json};

/// What a guest asks of its host.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// `tools.NAME(args)`.
    Tool {
        /// The name of the tool.
        name: String,
        /// Its arguments, as the program gave them.
        arguments: Value,
    },
    /// `run(line, {cwd, stdin})`, with the members of `climax_run`.
    Line(Map<String, Value>),
    /// `search(query, {category, cli, limit})`, with the members of `climax_search`.
    Search(Map<String, Value>),
    /// `describe(name)`.
    Describe(Value),
}

/// A message of a guest.
#[derive(Debug, PartialEq)]
pub(super) enum GuestMessage {
    /// The guest calls its host. The number counts its calls from 0.
    Call(u64, Request),
    /// It prints a text.
    Printed(String),
    /// It waits for an answer.
    Waits,
    /// The program has ended.
    Returned,
    /// The program has thrown an error, or cannot be read.
    Threw(Thrown),
    /// It could not be isolated, for this reason.
    Refused(String),
}

/// An error that a program has thrown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Thrown {
    /// The name of the error and its message.
    pub(crate) message: String,
    /// The line of the program, counted from 1.
    pub(crate) line: Option<u64>,
    /// The column, counted from 1.
    pub(crate) column: Option<u64>,
    /// The suggestions of a failed call.
    pub(crate) suggestions: Vec<String>,
}

/// The reason why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What is wrong, and what to do about it.
    pub(crate) message: String,
    /// The kind of failure, by its name in results.
    pub(crate) code: &'static str,
    /// Near misses of an unknown name.
    pub(crate) suggestions: Vec<String>,
    /// What programs printed before.
    pub(crate) printed: Option<Printed>,
}

/// What programs printed before a call failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The answer to a call.
pub(crate) type Answer = Result<Value, Failure>;

/// Reads a message of a guest.
pub(super) fn read(message: &[u8]) -> Option<GuestMessage> {
    let Value::Object(mut message) = serde_json::from_slice(message).ok()? else { return None };
    if let Some(id) = message.get("id") {
        return Some(GuestMessage::Call(id.as_u64()?, request(message)?));
    }

    let (key, value) = std::mem::take(&mut message).into_iter().next()?;
    Some(match (key.as_str(), value) {
        ("print", Value::String(text)) => GuestMessage::Printed(text),
        ("waits", _) => GuestMessage::Waits,
        ("returned", _) => GuestMessage::Returned,
        ("threw", Value::Object(error)) => GuestMessage::Threw(thrown(&error)),
        ("refused", Value::String(reason)) => GuestMessage::Refused(reason),
        _ => return None,
    })
}

fn request(mut message: Map<String, Value>) -> Option<Request> {
    let mut take = |key: &str| message.remove(key);
    if let Some(name) = take("tool") {
        let Value::String(name) = name else { return None };
        return Some(Request::Tool { name, arguments: take("args").unwrap_or(Value::Null) });
    }

    if let Some(command) = take("run") {
        let given = [("command", Some(command)), ("cwd", take("cwd")), ("stdin", take("stdin"))];
        let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        return Some(Request::Line(given.collect()));
    }

    match (take("search"), take("describe")) {
        (Some(Value::Object(given)), _) => Some(Request::Search(given)),
        (_, Some(name)) => Some(Request::Describe(name)),
        _ => None,
    }
}

fn thrown(error: &Map<String, Value>) -> Thrown {
    let number = |key: &str| error.get(key).and_then(Value::as_u64);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Thrown {
        message: error.get("message").and_then(text).unwrap_or_default(),
        line: number("line"),
        column: number("column"),
        suggestions: error
            .get("suggestions")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(text)
            .collect(),
    }
}

/// The first message to a guest: its program, the time in milliseconds, and the seed of its random numbers.
pub(super) fn start(code: &str, now_ms: u64, seed: u32) -> String {
    json!({ "code": code, "now": now_ms, "seed": seed }).to_string()
}

/// The names of the arguments that the tool of a call does not have.
pub(super) fn ignored(answer: &Answer) -> Vec<String> {
    let names = answer.as_ref().ok().and_then(|value| value.get("ignored")).and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The message that answers the call `id` at this time.
pub(super) fn answer(id: u64, now_ms: u64, answer: &Answer) -> String {
    let message = match answer {
        Ok(value) => json!({ "answer": id, "now": now_ms, "value": value }),
        Err(Failure { message, code, suggestions, printed }) => {
            let mut error = json!({ "message": message, "code": code, "suggestions": suggestions });
            if let Some(Printed { stdout, stderr }) = printed {
                error["stdout"] = stdout.as_str().into();
                error["stderr"] = stderr.as_str().into();
            }
            json!({ "answer": id, "now": now_ms, "error": error })
        }
    };
    message.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_none_is_not_read() {
        for text in
            ["", "[]", "{}", "5", r#"{"id":-1,"tool":"a"}"#, r#"{"id":0}"#, r#"{"id":0,"tool":5}"#, r#"{"print":5}"#]
        {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        let call = read(br#"{"id":3,"run":"git log","cwd":"/"}"#).unwrap();
        let GuestMessage::Call(3, Request::Line(given)) = call else { panic!("{call:?}") };
        assert_eq!(Value::Object(given), json!({ "command": "git log", "cwd": "/" }));
    }
}
