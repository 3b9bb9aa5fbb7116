//! The config format as JSON Schema, for editors.

use serde_json::{Value, json};
use strum::VariantNames as _;

use crate::diagnostic::Code;
use crate::effects::Language;
use crate::model::{Cage, Risk, Role, Type};
use crate::read::config::schema::SCHEMA_TYPES;

const MEDIA_TYPE: &str = "^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$";

/// The JSON Schema (2020-12) of the config format.
///
/// It describes the shape of a config. The checker has further rules, about several values together.
///
/// ```
/// let schema = climax_catalog::config_schema();
/// assert_eq!(schema["$defs"]["tool"]["required"], serde_json::json!(["name", "description"]));
/// ```
#[must_use]
pub fn config_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "climax config",
        "description": "A command-line program as tools for AI agents",
        "$ref": "#/$defs/config",
        "$defs": {
            "config": config(),
            "tool": tool(),
            "arg": arg(),
            "question": question(),
            "resolve": resolve(),
            "output_schema": output_schema(),
            "prompt": prompt(),
        },
    })
}

pub(crate) fn object(required: &[&str], properties: &Value) -> Value {
    json!({
        "type": "object",
        "required": required,
        "properties": properties,
        "patternProperties": { "^x-": true },
        "additionalProperties": false,
    })
}

fn config() -> Value {
    let mut config = object(
        &["tools"],
        &json!({
            "name": { "type": "string", "minLength": 1, "description": "CLI name, matched by the `cli` filter; default: the file name without extension" },
            "description": { "type": "string", "default": "", "description": "What the program is for; shown in the summary" },
            "command": { "type": "string", "description": "Base command, split on white space, quotes enclose words; a leading ~ and $VAR expand at run time; {name} is the place of a common arg. Empty only if each tool has its own, absent only in a `native` config" },
            "programs": {
                "type": ["array", "object", "null"],
                "items": { "type": "string" },
                "additionalProperties": { "type": "string" },
                "description": "Other spellings of the base command that command lines may have, such as `python3 -m pip`, or a map of them to the words that they stand for",
            },
            "always": { "type": ["string", "null"], "description": "Words behind the base command in every call, which change neither risk nor meaning" },
            "boolean_values": { "type": "boolean", "default": false, "description": "Whether the program reads `--flag=true` and `--flag=false` for each option without a value, and `-x=V` as `-x V`, as programs in Go and npm do" },
            "letter_equals": { "type": "boolean", "default": false, "description": "Whether the program reads `-x=V` as `-x V`, as those do that read their options by clap or argparse; `boolean_values` says so too" },
            "variables": { "type": "array", "items": { "type": "string" }, "default": [], "description": "Variables that its programs read, `LC_*` for several. With it, a line may export others, which mean nothing to these programs and do not reach them; without it, such lines are refused" },
            "native": { "type": "boolean", "default": false, "description": "The tools are written in Rust, in the program that the config is compiled into: nothing about a command line may be said" },
            "env": { "type": "object", "additionalProperties": env_value(), "description": "Added to the child's environment" },
            "needs": needs(),
            "effects": effects(),
            "working_dir": { "type": ["string", "null"], "description": "The child's directory" },
            "category": { "type": ["string", "null"], "description": "Free text, for discovery" },
            "tags": { "type": "array", "items": { "type": "string" }, "default": [], "description": "Words for discovery" },
            "global_args": { "type": "array", "items": { "$ref": "#/$defs/arg" }, "default": [], "description": "Flags appended to every call from their `default`; $VAR expands" },
            "common_args": { "type": "array", "items": { "$ref": "#/$defs/arg" }, "default": [], "description": "Args that every tool has after its own" },
            "tools": { "type": "array", "items": { "$ref": "#/$defs/tool" }, "description": "The tools" },
            "prompts": { "type": "array", "items": { "$ref": "#/$defs/prompt" }, "default": [], "description": "Requests worded for the people who use the tools, which clients offer as commands" },
            "x-allow": allow(),
        }),
    );
    let is_native = json!({ "properties": { "native": { "const": true } }, "required": ["native"] });
    config["anyOf"] = json!([{ "required": ["command"] }, is_native]);

    config
}

fn tool() -> Value {
    object(
        &["name", "description"],
        &json!({
            "name": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$", "description": "Unique name; some clients refuse more than 64 characters" },
            "title": { "type": ["string", "null"], "minLength": 1, "description": "What people see in place of the name" },
            "description": { "type": "string", "minLength": 1, "description": "What the tool does and when to use it" },
            "command": { "type": "string", "default": "", "description": "Subcommand words after the base command; {name} is the place of an arg, {options} that of all other options" },
            "aliases": { "type": ["array", "null"], "items": { "type": "string" }, "description": "Other spellings of the words of `command` that command lines may have, such as `container ls`" },
            "always": { "type": ["string", "null"], "description": "Options of every call, which change neither risk nor meaning" },
            "args": { "type": "array", "items": { "$ref": "#/$defs/arg" }, "default": [], "description": "The arguments of a call, and the words of the command line that they become" },
            "without": { "type": "array", "items": { "type": "string" }, "default": [], "description": "Names of common args that the tool does not have" },
            "ordered": { "type": "array", "items": { "type": "string" }, "default": [], "description": "Options whose order counts; a call gives them in the list `steps`" },
            "exactly_one": groups("A call gives exactly one arg of each list"),
            "at_most_one": groups("A call gives one arg of each list or none"),
            "together": groups("A call gives all args of a list or none"),
            "timeout": { "type": ["number", "null"], "exclusiveMinimum": 0, "default": 30, "description": "Seconds" },
            "long": { "type": ["boolean", "null"], "default": false, "description": "Whether calls usually outlast what clients wait for. Clients with tasks get one at once" },
            "risk": { "enum": Risk::VARIANTS, "description": "What the tool may do to the world. Without it, approval counts the tool as read, annotations as write" },
            "sensitive": { "type": ["boolean", "null"], "default": false, "description": "Whether every call prints secrets" },
            "needs": needs(),
            "effects": effects(),
            "exit_codes": { "type": "object", "patternProperties": { "^[1-9][0-9]{0,2}$": { "type": "string", "minLength": 1 } }, "additionalProperties": false, "description": "Exit codes that are answers, not failures, with their meanings: {1: no match}" },
            "phrases": { "type": "array", "items": { "type": "string", "minLength": 1 }, "default": [], "description": "Requests that the tool serves, in users' words; only the search reads them" },
            "output": output(),
            "resource": { "type": ["string", "null"], "pattern": "^[A-Za-z][A-Za-z0-9+.-]*:", "description": "URI that clients can read the output by, with {arg} for each required argument; for tools of `risk: read`" },
            "ask": { "type": "array", "items": { "$ref": "#/$defs/question" }, "default": [], "description": "What the user is asked before each call; the agent neither sees nor gives these args" },
            "confirm_message": { "type": ["string", "null"], "description": "Shown when approval is asked; {arg} stands for an argument or a `resolve` entry" },
            "resolve": { "type": "object", "additionalProperties": { "$ref": "#/$defs/resolve" }, "description": "Looks readable names up before approval is asked" },
            "x-allow": allow(),
        }),
    )
}

/// A value of `env`: literal, or a secret from elsewhere.
pub(crate) fn env_value() -> Value {
    let secret = object(
        &[],
        &json!({
            "from": { "type": ["string", "null"], "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "description": "The value of this variable of the server, hidden in results" },
            "file": { "type": ["string", "null"], "pattern": "^[/~$]", "description": "The content of this file, read for each call and hidden in results" },
        }),
    );
    json!({ "anyOf": [{ "type": "string", "description": "Literal value" }, secret] })
}

fn needs() -> Value {
    let hosts = json!({ "type": "array", "items": { "type": "string", "pattern": "^(\\*|[/~$].*|.+:([0-9]+|\\*))$" } });
    let list = |pattern: &str, what: &str| json!({ "type": "array", "items": { "type": "string", "pattern": pattern }, "default": [], "description": what });
    let mut needs = object(
        &[],
        &json!({
            "network": { "anyOf": [{ "type": "boolean" }, { "const": "localhost" }, hosts, { "type": "null" }], "description": "true, or hosts as HOST:PORT, * for any, and paths of Unix sockets; which hosts is not enforced" },
            "write": list("^[/~$]", "Files and directories to change; ~ and $VAR expand"),
            "env": list("^([A-Za-z_][A-Za-z0-9_]*)?\\*?$", "Variables of the server; a final * stands for any rest"),
            "read": list("^[/~$]", "With `cage`: files and directories to read beside the project and the system"),
            "tracked": { "type": ["boolean", "null"], "default": false, "description": "With `cage`: whether it reads secrets of the project that the git repository tracks" },
            "processes": { "type": ["boolean", "null"], "default": false, "description": "Whether it looks into processes of others, so that it is not confined" },
            "cage": { "enum": Cage::VARIANTS, "description": "The cage that holds the program, for interpreters and tools that run code of the directory" },
            "without": { "enum": Risk::VARIANTS, "default": "destructive", "description": "With `cage`: the risk where the kernel has no cage" },
            "prefetch": { "type": ["string", "null"], "description": "With `cage`: the command that downloads beforehand what the program would load from the network, such as `cargo fetch`" },
        }),
    );
    needs["type"] = json!(["object", "null"]);
    needs["description"] = json!("What the program has to reach; calls that only read are held to it, {} to nothing");

    needs
}

fn effects() -> Value {
    let names = json!({ "type": "array", "items": { "type": "string" } });
    let list =
        |what: &str| json!({ "type": "array", "items": { "type": "string" }, "default": [], "description": what });
    let mut effects = object(
        &[],
        &json!({
            "files": list("The args that name files which the program makes, replaces, moves or removes; nothing else gives the tool, or these args, a risk above `write`"),
            "overwrites": list("The args that name files which lose what they hold if they are there; where nothing is there by these names, the tool has no risk above `write`, unless another arg has"),
            "populates": list("The args that name the directory in which the program makes files of its own choice, which without them is the one in which it runs; where nothing is in it, the tool has no risk above `write`, unless another arg has"),
            "populates_by": list("Further args that have a risk only because the program then populates a directory"),
            "trees": { "anyOf": [{ "type": "boolean" }, names.clone(), { "type": "null" }], "default": [], "description": "The args by which whole directories are replaced or removed, or true if every call does that" },
            "by": list("Further args that have a risk only because the program then changes `files`"),
            "hosts": list("The args that choose the host which the program reaches"),
            "walks": { "anyOf": [{ "type": "boolean" }, names, { "type": "null" }], "default": [], "description": "The args with which the program reads all files of directories, or true if every call does" },
            "leaves_out": list("The options by which it then leaves out files and directories of a name, for which `{}` stands"),
            "code": { "type": ["object", "null"], "additionalProperties": { "enum": Language::VARIANTS }, "description": "The args whose values are programs that run, or name such, each with the language: awk, jq or other" },
            "texts": list("The args whose values are patterns, programs or other texts, and name no files that the program prints"),
            "idle": list("The args with which the program does nothing, and succeeds, where it gets no operand"),
            "names_only": { "type": ["boolean", "null"], "default": false, "description": "Whether the program prints names and properties of files, but nothing of what they hold" },
            "prints_made": { "type": ["boolean", "null"], "default": false, "description": "Whether the program prints the paths of the files and directories that it makes, one on each line" },
            "bare": { "enum": Risk::VARIANTS, "description": "The risk of the program's own line, without the options, variables and confinement that climax adds" },
        }),
    );
    effects["type"] = json!(["object", "null"]);
    effects["description"] = json!(
        "What calls change and reach, as far as approval by place, data that lines send, and the judge of lines have to know it"
    );

    effects
}

fn groups(description: &str) -> Value {
    let names = json!({ "type": "array", "items": { "type": "string" }, "minItems": 2 });
    json!({ "type": "array", "items": names, "default": [], "description": description })
}

fn output() -> Value {
    let mime = json!({ "type": "string", "pattern": MEDIA_TYPE, "description": "Media type of standard output, such as image/png" });
    let schema = json!({ "$ref": "#/$defs/output_schema", "description": "Schema of the value for `mime: application/json`, of each line for `application/x-ndjson`" });
    let mut output = object(&["mime"], &json!({ "mime": mime, "schema": schema }));
    output["type"] = json!(["object", "null"]);
    output["description"] = json!("What the tool prints, if that is more than text");
    output
}

/// The keywords of JSON Schema that an `output` may use.
fn output_schema() -> Value {
    let nested = json!({ "$ref": "#/$defs/output_schema" });
    let scalar = json!({ "type": ["string", "number", "boolean", "null"] });
    let types = json!({ "enum": SCHEMA_TYPES });
    object(
        &[],
        &json!({
            "type": { "anyOf": [types, { "type": "array", "items": types }, { "type": "null" }], "description": "Type of the value, or several" },
            "title": { "type": ["string", "null"], "description": "Name of the value, for people" },
            "description": { "type": ["string", "null"], "description": "Meaning, units, format" },
            "properties": { "type": "object", "additionalProperties": nested, "description": "Schemas of members, by their names" },
            "required": { "type": ["array", "null"], "items": { "type": "string" }, "description": "Names of members that must be there" },
            "additionalProperties": { "type": "boolean", "description": "Whether there may be members that `properties` does not name" },
            "items": { "$ref": "#/$defs/output_schema", "description": "Schema of each item of a list" },
            "enum": { "type": ["array", "null"], "items": scalar, "description": "Permitted values" },
        }),
    )
}

fn output_file() -> Value {
    let mut output = object(
        &["mime"],
        &json!({
            "mime": { "type": "string", "pattern": MEDIA_TYPE, "description": "Media type of what the program writes, such as image/png" },
            "file": { "type": ["string", "null"], "pattern": "^[^/]+$", "description": "Name of the file, for programs that go by its ending; default: the arg's name" },
        }),
    );
    output["type"] = json!(["object", "null"]);
    output["description"] = json!(
        "The program writes a file where this arg says; the server chooses the path, and what is written is part of the result"
    );

    output
}

fn arg() -> Value {
    object(
        &["name"],
        &json!({
            "name": { "type": "string", "minLength": 1, "description": "JSON property" },
            "description": { "type": "string", "default": "", "description": "Meaning, units, format" },
            "type": { "enum": Type::VARIANTS, "default": "string", "description": "JSON type of the value, or of each value" },
            "required": { "type": "boolean", "default": false, "description": "Whether every call must give it" },
            "default": { "type": ["string", "number", "boolean", "null"], "description": "Used when the argument is absent; of the arg's type" },
            "flag": { "type": ["string", "null"], "minLength": 1, "description": "Words of the option; default: --name-with-dashes. {} is the value, {key} and {value} those of a map. Without a place the value is a word of its own, or follows a final `=`" },
            "positional": { "type": "boolean", "default": false, "description": "Placed bare, before all flags" },
            "cwd": { "type": "boolean", "default": false, "description": "Sets the child's directory" },
            "stdin": { "type": "boolean", "default": false, "description": "Piped to the child's standard input" },
            "variable": { "type": ["string", "null"], "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "description": "The value goes into this variable of the child's environment" },
            "aliases": { "type": "array", "items": { "type": "string", "pattern": "^\\S+$" }, "default": [], "description": "Other spellings of the flag" },
            "list": spread("Several values: true repeats the flag, `words` has it once, other texts separate the values"),
            "map": spread("Names with values: true repeats the flag, `words` has it once, other texts separate the pairs"),
            "count": { "type": "boolean", "default": false, "description": "An integer: how often the flag stands" },
            "rest": { "enum": [false, true, "command"], "default": false, "description": "All further words of the command line: any words (never in a tool of `risk: read`), or a `command` of another tool" },
            "off": { "type": ["string", "null"], "minLength": 1, "description": "Flag of a boolean that is false" },
            "enum": choices(),
            "min": { "type": ["number", "null"], "description": "Smallest number" },
            "max": { "type": ["number", "null"], "description": "Largest number" },
            "pattern": { "type": ["string", "null"], "description": "Regular expression that the whole value matches" },
            "min_items": { "type": ["integer", "null"], "minimum": 0, "description": "Smallest number of values" },
            "max_items": { "type": ["integer", "null"], "minimum": 0, "description": "Largest number of values" },
            "shown": { "type": "boolean", "default": true, "description": "false: accepted and described, but not in the published schema" },
            "risk": arg_risk(),
            "sensitive": sensitive(),
            "output": output_file(),
            "x-allow": allow(),
        }),
    )
}

fn spread(description: &str) -> Value {
    json!({ "type": ["boolean", "string", "null"], "minLength": 1, "description": description })
}

fn choice() -> Value {
    object(
        &["value"],
        &json!({
            "value": { "type": "string", "description": "The value that the agent gives" },
            "title": { "type": ["string", "null"], "description": "The name that users see" },
            "words": { "type": ["string", "null"], "minLength": 1, "description": "The words that stand for it on the command line" },
        }),
    )
}

fn choices() -> Value {
    let list = json!({ "type": "array", "items": { "anyOf": [{ "type": "string" }, choice()] }, "minItems": 1, "uniqueItems": true });
    let words =
        json!({ "type": "object", "additionalProperties": { "type": "string", "minLength": 1 }, "minProperties": 1 });
    json!({ "anyOf": [list, words, { "type": "null" }], "description": "Allowed values: as they appear on the command line, or with the words that stand for them" })
}

fn arg_risk() -> Value {
    let risk = json!({ "enum": Risk::VARIANTS });
    let by_value = json!({ "type": "object", "required": ["else"], "additionalProperties": risk });
    json!({ "anyOf": [risk, by_value, { "type": "null" }], "description": "A call that gives this arg has at least this risk; values may have risks of their own" })
}

fn sensitive() -> Value {
    let values = json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1 });
    json!({ "anyOf": [{ "type": "boolean" }, values, { "type": "null" }], "default": false, "description": "Whether a call that gives this arg prints secrets, or the values with which it does; * stands for any characters" })
}

fn question() -> Value {
    object(
        &["name", "message", "args"],
        &json!({
            "name": { "type": "string", "minLength": 1, "description": "What the answer is known by in the protocol" },
            "message": { "type": "string", "minLength": 1, "description": "What the user is asked" },
            "args": { "type": "array", "items": { "type": "string" }, "minItems": 1, "description": "The args that the user gives, as fields of one form" },
        }),
    )
}

fn prompt() -> Value {
    let arg = object(
        &["name"],
        &json!({
            "name": { "type": "string", "minLength": 1, "description": "What {name} stands for in messages" },
            "description": { "type": "string", "default": "", "description": "Meaning, units, format" },
            "required": { "type": "boolean", "default": false, "description": "Whether the user must fill it in" },
            "enum": { "type": ["array", "null"], "items": { "type": "string" }, "minItems": 1, "uniqueItems": true, "description": "Allowed values" },
        }),
    );
    let text = object(
        &["text"],
        &json!({
            "role": { "enum": Role::VARIANTS, "default": "user", "description": "Who says it" },
            "text": { "type": "string", "minLength": 1, "description": "What is said; {arg} stands for an arg of the prompt" },
        }),
    );
    let call = object(
        &["tool"],
        &json!({
            "tool": { "type": "string", "description": "A tool of this config, of `risk: read`, whose output is shown" },
            "args": { "type": "object", "additionalProperties": { "type": "string" }, "description": "Its arguments; {arg} stands for an arg of the prompt" },
        }),
    );

    object(
        &["name", "description", "messages"],
        &json!({
            "name": { "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$", "description": "Unique name" },
            "title": { "type": ["string", "null"], "minLength": 1, "description": "What people see in place of the name" },
            "description": { "type": "string", "minLength": 1, "description": "What the prompt is for" },
            "args": { "type": "array", "items": arg, "default": [], "description": "What the user fills in" },
            "messages": { "type": "array", "items": { "anyOf": [{ "type": "string", "minLength": 1 }, text, call] }, "minItems": 1, "description": "What the prompt says" },
        }),
    )
}

/// Editors offer the codes; the reader takes any value, since keys that start with `x-` are no part of the format.
fn allow() -> Value {
    let codes: Vec<&str> = Code::silenceable().map(Code::as_str).collect();
    json!({ "anyOf": [{ "type": "array", "items": { "enum": codes } }, true], "description": "Warnings that are not wanted here, by code" })
}

fn resolve() -> Value {
    object(
        &["command"],
        &json!({
            "command": { "type": "string", "minLength": 1, "description": "Subcommand words after the base command" },
            "args": { "type": "object", "additionalProperties": { "type": "string" }, "description": "Option names and templates of their values" },
            "timeout": { "type": ["number", "null"], "exclusiveMinimum": 0, "default": 10, "description": "Seconds" },
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::config::effects::EFFECTS_KEYS;
    use crate::read::config::needs::{ENV_KEYS, NEEDS_KEYS};
    use crate::read::config::prompt::{CALL_KEYS, PROMPT_ARG_KEYS, PROMPT_KEYS, TEXT_KEYS};
    use crate::read::config::schema::SCHEMA_KEYS;
    use crate::read::config::{
        ARG_KEYS, CHOICE_KEYS, CONFIG_KEYS, OUTPUT_FILE_KEYS, OUTPUT_KEYS, QUESTION_KEYS, RESOLVE_KEYS, TOOL_KEYS,
    };

    #[test]
    fn schema_has_exactly_the_keys_of_the_parser() {
        let prompt = prompt();
        let properties = &prompt["properties"];
        let messages = &properties["messages"]["items"]["anyOf"];
        for (schema, keys) in [
            (&config(), CONFIG_KEYS),
            (&tool(), TOOL_KEYS),
            (&arg(), ARG_KEYS),
            (&output(), OUTPUT_KEYS),
            (&output_schema(), SCHEMA_KEYS),
            (&choice(), CHOICE_KEYS),
            (&output_file(), OUTPUT_FILE_KEYS),
            (&question(), QUESTION_KEYS),
            (&resolve(), RESOLVE_KEYS),
            (&needs(), NEEDS_KEYS),
            (&effects(), EFFECTS_KEYS),
            (&env_value()["anyOf"][1], ENV_KEYS),
            (&prompt, PROMPT_KEYS),
            (&properties["args"]["items"], PROMPT_ARG_KEYS),
            (&messages[1], TEXT_KEYS),
            (&messages[2], CALL_KEYS),
        ] {
            let properties: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
            assert_eq!(properties, keys);
        }
    }
}
