//! The configs and policies that the fuzz targets start from.

/// The config whose tools the target `arguments` calls.
pub const CALLED: &str = r#"
command: "prog --quiet"
working_dir: /srv
global_args: [{name: token, default: secret}, {name: verbose, type: boolean, default: true}]
tools:
  - name: places
    description: Every place
    command: sub
    args:
      - {name: first, positional: true}
      - {name: flag, flag: -f}
      - {name: joined, flag: --joined=}
      - {name: switch, type: boolean}
      - {name: second, positional: true, default: "-"}
      - {name: count, type: integer, positional: true}
      - {name: ratio, type: number, positional: true}
      - {name: input, stdin: true}
      - {name: dir, cwd: true}
  - name: types
    description: Every type
    args:
      - {name: s, required: true}
      - {name: i, type: integer, default: 3}
      - {name: n, type: number, default: 1.10}
      - {name: b, type: boolean, flag: --b=}
      - {name: e, enum: [one, "-2"], default: one, positional: true}
      - {name: ie, type: integer, enum: ["1", "-2"], positional: true}
      - {name: ne, type: number, enum: ["1.0", "2e3"]}
  - name: dashes
    description: Ends its options
    command: grep {options} --
    args: [{name: first, positional: true}, {name: count, type: integer, positional: true}]
  - name: ruled
    description: Is under a policy
    args:
      - {name: first, positional: true}
      - {name: second, positional: true}
      - {name: count, type: integer, positional: true, default: 5}
      - {name: ratio, type: number, flag: --ratio=}
"#;

/// The policy of the target `arguments`.
pub const RULES: &str = r#"
default: enabled
tools:
  ruled:
    args:
      first: {pattern: "[a-z-]*", allow_leading_dash: true}
      count: {min: -2, max: 50}
      ratio: {min: 0.5}
"#;

/// The config to which the target `policy` applies policies.
pub const RESTRICTED: &str = "
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

/// The compiled-in policy of the target `policy`.
pub const COMPILED_IN: &str = r#"
default: enabled
tools:
  git_log: {args: {max_count: {max: 50}, path: {allow_leading_dash: true}, since: {pattern: "[a-z]*"}}}
  git_push: {require_approval: true}
deny: [{cli: git, name: git_s*}]
env: {GIT_CEILING_DIRECTORIES: /srv, TOKEN: {from: TEAM}}
executor: {type: sandbox, read: [/usr]}
approval: {global: none, headless: deny}
"#;
