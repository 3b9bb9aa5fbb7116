//! The keys of the policy format.

pub(super) const POLICY_KEYS: &[&str] =
    &["default", "allow", "deny", "tools", "prompts", "env", "executor", "approval", "confine", "lines", "hook"];
/// The keys of policies that say nothing about single tools and programs.
pub(super) const GENERAL_KEYS: &[&str] = &["default", "approval", "lines", "hook"];
pub(super) const SELECTOR_KEYS: &[&str] = &["name", "cli", "risk", "tag"];
pub(super) const TOOL_KEYS: &[&str] = &["description", "args", "require_approval"];
pub(super) const ARG_KEYS: &[&str] = &[
    "required",
    "value",
    "enum",
    "within",
    "pattern",
    "min",
    "max",
    "shown",
    "allow_leading_dash",
    "require_approval",
];
pub(super) const APPROVAL_KEYS: &[&str] = &["global", "headless", "project", "sensitive", "tools"];
pub(super) const HOOK_KEYS: &[&str] = &["allow", "bypass"];
pub(super) const CONTAINER_KEYS: &[&str] = &["image", "runtime", "volumes", "working_dir", "network"];
pub(super) const SANDBOX_KEYS: &[&str] = &["read", "write", "network", "limits"];
pub(super) const EXECUTOR_KEYS: &[&str] =
    &["type", "image", "runtime", "volumes", "working_dir", "network", "read", "write", "limits"];
pub(super) const LIMIT_KEYS: &[&str] = &["memory_mb", "cpu_s", "processes", "file_mb"];
