//! The policy format as JSON Schema, for editors.

use serde_json::{Value, json};
use strum::VariantNames as _;

use crate::format::env_value;
use crate::format::object;
use crate::model::{Access, Bypass, Headless, Level, ProjectFiles, Risk, Runtime, SensitiveRule};
use crate::policy::{AskedCage, ConfineLevel, Protection, UnknownProgram};

/// The JSON Schema (2020-12) of the policy format.
///
/// It describes the shape of a policy. The reader also checks the keys of each executor type, and patterns.
#[must_use]
pub fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "climax policy",
        "description": "Which tools agents may call, with what values, with whose approval, and where programs run",
        "$ref": "#/$defs/policy",
        "$defs": {
            "policy": policy(), "selector": selector(), "tool": tool(), "arg": arg(), "approval": approval(), "executor": executor(), "limits": limits(),
        },
    })
}

fn policy() -> Value {
    object(
        &[],
        &json!({
            "default": { "enum": Access::VARIANTS, "default": "disabled", "description": "Whether tools that are not named can be called" },
            "allow": { "type": ["array", "null"], "items": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/selector" }] }, "description": "With `default: disabled`, the tools that can be called; then `tools` only sets rules" },
            "deny": { "type": "array", "items": { "anyOf": [{ "type": "string" }, { "$ref": "#/$defs/selector" }] }, "default": [], "description": "The tools that cannot be called, whatever else permits them" },
            "tools": { "type": "object", "additionalProperties": { "anyOf": [{ "$ref": "#/$defs/tool" }, { "type": "null" }] }, "description": "Rules by the names of tools, or patterns such as `git_*`; each permits its tools, unless there is `allow`" },
            "prompts": { "type": "array", "items": { "type": "string" }, "default": [], "description": "With `default: disabled`, the names of the prompts that are served" },
            "env": { "type": "object", "additionalProperties": env_value(), "description": "Variables of every program, with their values" },
            "executor": { "anyOf": [{ "$ref": "#/$defs/executor" }, { "type": "null" }], "description": "Where programs run" },
            "approval": { "anyOf": [{ "$ref": "#/$defs/approval" }, { "type": "null" }], "description": "Which calls need approval" },
            "confine": confine(),
            "lines": lines(),
            "hook": hook(),
        }),
    )
}

fn selector() -> Value {
    object(
        &[],
        &json!({
            "name": { "type": ["string", "null"], "description": "The name, or a pattern in which `*` stands for any characters" },
            "cli": { "type": ["string", "null"], "description": "The name of the CLI" },
            "risk": { "enum": Risk::VARIANTS, "description": "The risk that the config writes; without one it is `write`" },
            "tag": { "type": ["string", "null"], "description": "One of the `tags` of the CLI" },
        }),
    )
}

fn tool() -> Value {
    object(
        &[],
        &json!({
            "description": { "type": ["string", "null"], "minLength": 1, "description": "Replaces the tool's" },
            "args": { "type": "object", "additionalProperties": { "anyOf": [{ "$ref": "#/$defs/arg" }, { "const": "deny" }] }, "description": "Rules by the names of args; `deny` removes the arg, `cwd` is the directory of every tool" },
            "require_approval": { "type": ["boolean", "null"], "description": "Whether somebody is asked first; goes before `approval`" },
        }),
    )
}

fn arg() -> Value {
    object(
        &[],
        &json!({
            "required": { "type": ["boolean", "null"], "default": false, "description": "Whether every call must give it" },
            "value": { "type": ["string", "number", "boolean", "null"], "description": "The value of every call; agents do not see the arg" },
            "enum": { "type": ["array", "null"], "minItems": 1, "items": { "type": ["string", "number", "boolean"] }, "description": "The permitted values" },
            "within": { "type": "array", "minItems": 1, "items": { "type": "string" }, "description": "Directories that the path must be in; ~ and $VAR expand" },
            "pattern": { "type": ["string", "null"], "description": "Regular expression that the whole value must match; no look-around, no back-references" },
            "min": { "type": ["number", "null"], "description": "The least that the value may be" },
            "max": { "type": ["number", "null"], "description": "The most that the value may be" },
            "shown": { "type": ["boolean", "null"], "description": "Whether the published schema has it" },
            "allow_leading_dash": { "type": ["boolean", "null"], "default": false, "description": "Lets a positional value start with a dash" },
            "require_approval": { "type": ["string", "null"], "description": "Regular expression of the whole values that need approval" },
        }),
    )
}

fn approval() -> Value {
    object(
        &[],
        &json!({
            "global": { "enum": Level::VARIANTS, "default": "write", "description": "From which risk on somebody is asked" },
            "headless": { "enum": Headless::VARIANTS, "default": "deny", "description": "What holds where the client cannot ask" },
            "project": { "enum": ProjectFiles::VARIANTS, "default": "destructive", "description": "The risk that approval counts for replacing, moving or removing single files of the project, and directories that git ignores" },
            "sensitive": { "enum": SensitiveRule::VARIANTS, "description": "What becomes of calls that print secrets; `ask` unless `global` is `none`" },
            "tools": { "type": "object", "additionalProperties": { "type": "boolean" }, "description": "Whether somebody is asked, by the names of tools, or patterns" },
        }),
    )
}

fn confine() -> Value {
    let level =
        json!({ "enum": ConfineLevel::VARIANTS, "description": "Which calls are held to the needs of their tools" });
    let required = json!({ "type": "boolean", "default": false, "description": "Whether nothing is served where the kernel cannot confine" });
    let whole = object(&[], &json!({ "level": level, "required": required }));
    json!({ "anyOf": [level, whole, { "type": "null" }] })
}

fn lines() -> Value {
    let names = |what: &str| json!({ "type": "array", "items": { "type": "string", "minLength": 1, "pattern": "^[^/]+$" }, "default": [], "description": what });
    let mut lines = object(
        &[],
        &json!({
            "unknown": { "enum": UnknownProgram::VARIANTS, "description": "What becomes of programs that no config describes: refused, or run in a cage; `read` if the policy has no other keys than `default: enabled`, `approval`, `lines` and `hook`, else `refuse`" },
            "widest": { "enum": AskedCage::VARIANTS, "default": "workspace", "description": "The widest cage that a call may ask for; none: also no cage, always after a question" },
            "protect": { "enum": Protection::VARIANTS, "default": "restore", "description": "How what other programs load is kept from programs that write in the project: put back after the run where the kernel cannot keep it, or by the kernel alone" },
            "secrets": names("More names of files whose content cages hide; * stands for any characters"),
            "open": names("Names of files that are no secrets, though the usual names fit them"),
            "send": { "type": "array", "items": { "type": "string", "pattern": "^(\\*\\.)?[A-Za-z0-9_][A-Za-z0-9._-]*$" }, "default": [], "description": "Hosts to which lines may send what they have read" },
        }),
    );
    lines["type"] = json!(["object", "null"]);
    lines["description"] = json!("What becomes of the programs of command lines");
    lines
}

fn hook() -> Value {
    let mut hook = object(
        &[],
        &json!({
            "allow": { "enum": ["read", "write"], "default": "read", "description": "The highest risk of the lines that the judge allows" },
            "bypass": { "enum": Bypass::VARIANTS, "default": "usual", "description": "Where an agent asks nobody: `strict` denies what is destructive or prints secrets too" },
        }),
    );
    hook["type"] = json!(["object", "null"]);
    hook["description"] = json!("How lines of other shells are judged");
    hook
}

fn executor() -> Value {
    let paths =
        |what: &str| json!({ "type": "array", "items": { "type": "string" }, "default": [], "description": what });
    object(
        &[],
        &json!({
            "type": { "enum": ["local", "docker", "sandbox"], "default": "local", "description": "Where programs run" },
            "image": { "type": "string", "minLength": 1, "description": "docker: the image that containers are made of" },
            "runtime": { "enum": Runtime::VARIANTS, "default": "docker", "description": "docker: the program that runs containers" },
            "volumes": paths("docker: mounts; $VAR expands"),
            "working_dir": { "type": ["string", "null"], "description": "docker: the directory inside" },
            "network": { "type": ["string", "boolean", "null"], "description": "docker: the network's name; sandbox: whether sockets can be opened" },
            "read": paths("sandbox: files and directories that can be read and run; ~ and $VAR expand"),
            "write": paths("sandbox: files and directories that can be changed too"),
            "limits": { "anyOf": [{ "$ref": "#/$defs/limits" }, { "type": "null" }], "description": "sandbox: limits of programs" },
        }),
    )
}

fn limits() -> Value {
    let bound = |what: &str| json!({ "type": ["integer", "null"], "minimum": 1, "description": what });
    object(
        &[],
        &json!({
            "memory_mb": bound("Address space of each process, in MiB"),
            "cpu_s": bound("Processor time of each process, in seconds"),
            "processes": bound("Processes and threads of the user; not for root"),
            "file_mb": bound("Size of each file that is written, in MiB"),
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::confine::CONFINE_KEYS;
    use crate::policy::keys::{
        APPROVAL_KEYS, ARG_KEYS, EXECUTOR_KEYS, HOOK_KEYS, LIMIT_KEYS, POLICY_KEYS, SELECTOR_KEYS, TOOL_KEYS,
    };
    use crate::policy::lines::LINES_KEYS;

    #[test]
    fn schema_has_exactly_the_keys_of_the_reader() {
        for (schema, keys) in [
            (policy(), POLICY_KEYS),
            (selector(), SELECTOR_KEYS),
            (tool(), TOOL_KEYS),
            (arg(), ARG_KEYS),
            (approval(), APPROVAL_KEYS),
            (confine()["anyOf"][1].clone(), CONFINE_KEYS),
            (lines(), LINES_KEYS),
            (hook(), HOOK_KEYS),
            (executor(), EXECUTOR_KEYS),
            (limits(), LIMIT_KEYS),
        ] {
            let properties: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
            assert_eq!(properties, keys);
        }
    }
}
