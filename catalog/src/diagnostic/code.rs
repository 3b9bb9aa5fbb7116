//! The table of all diagnostic codes, with their explanations.

use std::fmt;

use super::traits::{Explanation, Phase, Severity};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal, $severity:ident, $phase:ident;
        why $why:literal; example $example:literal; remedy $remedy:literal;)*) => {
        /// The kind of a diagnostic: a stable word that scripts may rely on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[doc = $doc])+ $variant,)* }

        impl Code {
            /// Every code, in the order of their definition.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The code as messages print it, such as `unknown-key`.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The severity of a diagnostic of this kind, unless the diagnostic sets another.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// The run in which it is reported.
            #[must_use]
            pub fn phase(self) -> Phase {
                match self { $(Self::$variant => Phase::$phase,)* }
            }

            /// Its explanation.
            #[must_use]
            pub fn explanation(self) -> Explanation {
                match self {
                    $(Self::$variant => Explanation {
                        meaning: concat!($($doc),+).trim_ascii(),
                        why: $why,
                        example: $example,
                        remedy: $remedy,
                    },)*
                }
            }
        }
    };
}

codes! {
    /// A file or directory could not be read.
    Unreadable = "unreadable", Error, Check;
        why "Nothing is known of a file that cannot be read, so nothing is made of the others either.";
        example "climax validate confgis/git.yaml";
        remedy "Correct the path, which starts at the current directory, or make the file readable.";
    /// A directory holds no config, or no file matches a pattern.
    NoConfigs = "no-configs", Error, Check;
        why "A catalog without tools is hardly what was wanted, and a check of nothing finds nothing.";
        example "climax validate 'config/**/*.yml'";
        remedy "Name a directory with *.yaml or *.yml files directly in it, a file, or a pattern that matches files.";
    /// A file is binary or in another encoding.
    NotUtf8 = "not-utf8", Error, Check;
        why "Configs are UTF-8 text; any other encoding would be guessed at.";
        example "a file saved as UTF-16 or Latin-1";
        remedy "Save the file as UTF-8.";
    /// A file is larger than 16 MiB, or the tables of all configs would be larger than their offsets can tell.
    TooLarge = "too-large", Error, Check;
        why "Reading takes memory in proportion, and tables have offsets of 32 bits.";
        example "a list of 100,000 tags, which stand with each tool";
        remedy "Split the file, use fewer or shorter tags, or fewer tools.";
    /// A file holds nothing but white space, comments or null.
    EmptyConfig = "empty-config", Error, Check;
        why "An empty file is more likely a mistake than a program without tools.";
        example "# to be written";
        remedy "Write at least `command:` and `tools:`, or remove the file.";
    /// The text is not YAML.
    Syntax = "syntax", Error, Check;
        why "What stands below the mistake cannot be read.";
        example "description: Note: this breaks";
        remedy "Check indentation, quotes and brackets; quote texts that hold `: ` or ` #`.";
    /// A file holds more than one YAML document.
    MultipleDocuments = "multiple-documents", Error, Check;
        why "One file describes one program, so that a name leads to a file.";
        example "---\ncommand: git\ntools: []\n---\ncommand: jq\ntools: []";
        remedy "Give each document a file of its own.";
    /// Aliases stand for more than a config needs.
    AliasBomb = "alias-bomb", Error, Check;
        why "Aliases of aliases can stand for more text than a machine has memory.";
        example "x-b: [*a, *a, *a, *a]   # with *a such a list too, and so on";
        remedy "Write the values out, or use fewer nested aliases.";
    /// A YAML tag that has no meaning in a config.
    UnsupportedTag = "unsupported-tag", Error, Check;
        why "A tag asks the reader for a type that configs do not have.";
        example "name: !secret git";
        remedy "Remove the tag; quote the value to make it a string.";
    /// A NUL character.
    Nul = "nul", Error, Check;
        why "No program can be given one, and it ends texts early.";
        example "description: \"a\\0b\"";
        remedy "Remove it.";
    /// A key stands twice in one mapping.
    DuplicateKey = "duplicate-key", Error, Check;
        why "Which of the two holds depends on the reader.";
        example "risk: read\nrisk: write";
        remedy "Remove one of the two.";
    /// A key that the format does not have.
    UnknownKey = "unknown-key", Error, Check;
        why "A misspelt key would do nothing, and nobody would notice.";
        example "riks: write";
        remedy "Correct the key, or start it with `x-` to have it ignored.";
    /// A value of the wrong YAML type.
    WrongType = "wrong-type", Error, Check;
        why "Values are not converted by guessing.";
        example "tags: git";
        remedy "Write the type that the message names, here `tags: [git]`.";
    /// A value that is none of those allowed.
    UnknownValue = "unknown-value", Error, Check;
        why "The value has no meaning.";
        example "type: bolean";
        remedy "Write one of the values that the message lists.";
    /// A required key is absent.
    MissingKey = "missing-key", Error, Check;
        why "There is no sensible default.";
        example "tools:\n  - name: git_log   # and no description";
        remedy "Add the key.";
    /// A name or description is empty.
    EmptyValue = "empty-value", Error, Check;
        why "Agents choose tools by these texts.";
        example "description: \"\"";
        remedy "Write a text.";
    /// Neither the config nor the tool says which program to run, or a place stands for it.
    NoCommand = "no-command", Error, Check;
        why "There is nothing to start.";
        example "command: \"\"\ntools:\n  - {name: a, description: Show a}";
        remedy "Set `command` of the config or of the tool.";
    /// A key that is about a program, in a config whose tools are written in Rust.
    NativeProgram = "native-program", Error, Check;
        why "The tools of a native config run no program, so the key would do nothing.";
        example "native: true\ncommand: date\ntools:\n  - {name: a, description: Show a}";
        remedy "Remove the key, or `native: true`.";
    /// Keys of an arg that contradict each other: about the number, form or words of its values.
    IllegalShape = "illegal-shape", Error, Check;
        why "The command line of a call would not be clear.";
        example "{name: paths, list: true, count: true}";
        remedy "Remove one of the two keys, or correct `type`.";
    /// Words of a command line in an order that gives another command line.
    IllegalOrder = "illegal-order", Error, Check;
        why "The program would take an option for an operand, or one operand for another.";
        example "command: \"checkout --\"\nargs: [{name: force, type: boolean}]   # behind the `--`";
        remedy "Give each arg its place: `command: checkout {options} -- {paths}`.";
    /// An optional operand before a required one. Calls that leave it out are refused.
    OperandOrder = "operand-order", Warning, Check;
        why "Without the first operand the program would take the second for it.";
        example "args: [{name: from, positional: true}, {name: to, positional: true, required: true}]";
        remedy "Require the first too, give it a default, or put it behind the second.";
    /// An option behind an arg whose flag is `--`.
    OptionBehindDashes = "option-behind-dashes", Warning, Check;
        why "Behind `--` a program reads operands, unless another program takes the words there.";
        example "args: [{name: path, flag: \"--\"}, {name: force, type: boolean}]";
        remedy "Define the arg with `--` last. If another program takes the words, allow the warning.";
    /// A group of args that no call can follow, or every call does.
    IllegalGroup = "illegal-group", Error, Check;
        why "The rule would refuse every call, or none.";
        example "exactly_one: [[branch]]";
        remedy "Name two optional args or more.";
    /// A quote or backslash within a word of a command.
    UnclearQuote = "unclear-quote", Error, Check;
        why "Quotes enclose whole words here; earlier they stood for themselves.";
        example "command: log --format='%h %s'";
        remedy "Put the whole word into quotes: `'--format=%h %s'`.";
    /// An exit code that cannot be an answer, or a meaning of several lines.
    IllegalExitCode = "illegal-exit-code", Error, Check;
        why "A program ends with a code from 0 to 255, and 0 is success without being listed.";
        example "exit_codes: {0: fine, 256: no match}";
        remedy "Write codes from 1 to 255 with a few words each: `exit_codes: {1: no match}`.";
    /// An output whose media type is none.
    IllegalMediaType = "illegal-media-type", Error, Check;
        why "Clients choose by it how a result is shown.";
        example "output: {mime: png}";
        remedy "Write TYPE/SUBTYPE, such as `image/png`, or leave `output` out for plain text.";
    /// An arg for a file that the program writes, with a key about values that an agent or a user gives.
    IllegalOutput = "illegal-output", Error, Check;
        why "The server chooses where the file is written, so that nobody can have another one overwritten or shown.";
        example "{name: chart, output: {mime: image/png}, default: /tmp/chart.png}";
        remedy "Keep `name`, `description`, `flag` or `positional`, and `output: {mime: image/png, file: chart.png}`.";
    /// A resource that clients could not read by its URI alone, without anything being changed or asked.
    IllegalResource = "illegal-resource", Error, Check;
        why "Clients read resources when they like, and give nothing but the URI.";
        example "{name: log, args: [{name: repo, required: true}], resource: \"git://log\"}";
        remedy "Write a URI with a `{name}` for each required arg: `git://{repo}/log`. The tool's risk must be `read`.";
    /// Two tools print resources of the same URI.
    DuplicateResource = "duplicate-resource", Error, Check;
        why "A URI leads to one resource.";
        example "- {name: a, resource: \"git:status\"}\n- {name: b, resource: \"git:status\"}";
        remedy "Change or remove one of the two URIs.";
    /// A question that is about no arg, or about one that another is about too.
    IllegalQuestion = "illegal-question", Error, Check;
        why "The user would be asked for nothing, or twice for the same.";
        example "ask: [{name: who, message: Who are you?, args: []}]";
        remedy "Name each arg that the user gives in one question.";
    /// A prompt that calls a tool which may change something, or not with all that it needs.
    IllegalPrompt = "illegal-prompt", Error, Check;
        why "Whoever opens a prompt wants to read it.";
        example "messages: [{tool: git_push}]";
        remedy "Call a tool of `risk: read`, and give each arg that it requires.";
    /// Two prompts have the same name.
    DuplicatePrompt = "duplicate-prompt", Error, Check;
        why "A prompt is asked for by its name.";
        example "prompts:\n  - {name: review, description: Review, messages: [a]}\n  - {name: review, description: Review, messages: [b]}";
        remedy "Rename or remove one of the two.";
    /// A name of an arg or tool that is not there.
    UnknownName = "unknown-name", Error, Check;
        why "It would have no value, or print nothing.";
        example "ask: [{name: who, message: Who are you?, args: [nmae]}]   # the arg is `name`";
        remedy "Correct the name.";
    /// A name with characters that MCP does not allow, or an environment variable that cannot exist.
    IllegalName = "illegal-name", Error, Check;
        why "Clients refuse such tools and prompts, and the system such variables.";
        example "name: git log";
        remedy "Use 1 to 128 of the characters A-Z a-z 0-9 _ . - for tools and prompts.";
    /// Two files describe CLIs of the same name.
    DuplicateCli = "duplicate-cli", Warning, Check;
        why "Lists and filters show two CLIs that nobody can tell apart. Of two tools with one name, the later file's is \
             served.";
        example "git.yaml:    command: git      # its name is that of its file\nmore.yaml:   name: git";
        remedy "Give one of the two another `name`, or put all tools into one file. `--only` serves the files of `--config` \
             without what is compiled in.";
    /// Two tools of one file have the same name.
    DuplicateTool = "duplicate-tool", Error, Check;
        why "A call names one tool.";
        example "- {name: git_log, description: Show history}\n- {name: git_log, description: Show a log}";
        remedy "Rename or remove one of the two.";
    /// Two args of one tool have the same name.
    DuplicateArg = "duplicate-arg", Error, Check;
        why "Args are given by name.";
        example "args: [{name: path}, {name: path, positional: true}]";
        remedy "Rename or remove one of the two.";
    /// An arg has two of `positional`, `cwd` and `stdin`.
    ConflictingPlaces = "conflicting-places", Error, Check;
        why "A value goes to one place.";
        example "{name: dir, cwd: true, positional: true}";
        remedy "Keep one of the keys.";
    /// A tool has two `cwd` args or two `stdin` args.
    RepeatedPlace = "repeated-place", Error, Check;
        why "A program has one working directory and one standard input.";
        example "args: [{name: from, cwd: true}, {name: to, cwd: true}]";
        remedy "Keep the key on one arg.";
    /// A boolean that is positional, stdin or cwd.
    BooleanPlace = "boolean-place", Error, Check;
        why "A boolean is a switch: it gives its flag or nothing.";
        example "{name: all, type: boolean, positional: true}";
        remedy "Remove the place, or give the arg another type.";
    /// A default that is not of the arg's type.
    DefaultType = "default-type", Error, Check;
        why "The published schema would contradict itself.";
        example "{name: limit, type: integer, default: \"20\"}";
        remedy "Write the default in the arg's type, or correct the type.";
    /// A default that is none of the arg's `enum` values.
    DefaultNotInEnum = "default-not-in-enum", Error, Check;
        why "A call without the arg would pass a value that a call with it may not.";
        example "{name: format, enum: [json, yaml], default: xml}";
        remedy "Correct the default, or add it to `enum`.";
    /// An `enum` without values.
    EmptyEnum = "empty-enum", Error, Check;
        why "No value could ever be given.";
        example "{name: format, enum: []}";
        remedy "List the values, or remove `enum`.";
    /// An `enum` value that stands twice.
    RepeatedEnumValue = "repeated-enum-value", Error, Check;
        why "One of the two was probably meant to be another value.";
        example "{name: format, enum: [json, json]}";
        remedy "Correct or remove one of the two.";
    /// A timeout that is zero, negative, not finite or longer than 49 days.
    IllegalTimeout = "illegal-timeout", Error, Check;
        why "A call has to end, and needs time to begin.";
        example "timeout: 0";
        remedy "Write seconds, such as 30 or 0.5.";
    /// A template with unbalanced braces or a placeholder that is no name.
    TemplateSyntax = "template-syntax", Error, Check;
        why "The person who is asked would read half a question.";
        example "confirm_message: Delete {path?";
        remedy "Close the brace; write `{{` for a brace itself.";
    /// A template that names neither an arg nor a `resolve` entry, or a word `{name}` of a command that names no arg.
    UnknownPlaceholder = "unknown-placeholder", Error, Check;
        why "There is no value to put in its place.";
        example "confirm_message: Delete {pth}?   # the arg is `path`";
        remedy "Name an arg of the tool. A template may name an entry of `resolve` too.";
    /// A policy's `pattern` that is no regular expression, or none that matches in linear time.
    BadPattern = "bad-pattern", Error, Check;
        why "A rule that cannot be checked protects nothing.";
        example "pattern: '('";
        remedy "Write a regular expression in the syntax of the Rust crate `regex`.";
    /// A bound of a policy that no number can keep, or that is no whole number where one is needed.
    IllegalRange = "illegal-range", Error, Check;
        why "The rule would refuse every call.";
        example "{min: 10, max: 1}";
        remedy "Correct the bounds.";
    /// A key of a policy's `executor` that belongs to another type of executor.
    MisplacedKey = "misplaced-key", Error, Check;
        why "It would do nothing, and programs would run with less confinement than was written.";
        example "executor: {type: local, network: false}";
        remedy "Correct `type`, or remove the key.";
    /// Keys of a policy's rule that exclude each other.
    Contradiction = "contradiction", Error, Check;
        why "One of the two would do nothing, or no agent could make a call.";
        example "args: {branch: {required: true, shown: false}}";
        remedy "Remove one of the two.";
    /// A policy with `allow` that permits the other tools too.
    NothingAllowed = "nothing-allowed", Error, Check;
        why "Without `default: disabled` every tool is permitted, so the list would do nothing.";
        example "default: enabled\nallow: [git_log]";
        remedy "Write `default: disabled`, or `deny` what is not wanted.";
    /// A path of a policy's sandbox that is not absolute.
    RelativePath = "relative-path", Error, Check;
        why "What it means would depend on where the server was started.";
        example "read: [src]";
        remedy "Write an absolute path, or one that starts with `~` or a variable.";
    /// An item of `needs`, or a secret of `env`, is not of the form that can be enforced.
    IllegalNeed = "illegal-need", Error, Check;
        why "What a program needs decides what a call can reach, so a mistake must not widen it.";
        example "needs: {network: [api.github.com]}";
        remedy "Write hosts with ports, paths of the program's own directories, and `{from: NAME}` or `{file: PATH}`.";
    /// A path of a policy's sandbox, or a mount of its container, below another that can be changed.
    Replaceable = "replaceable", Error, Check;
        why "A program could replace what is above it and have the next call see another directory.";
        example "volumes: [\"/srv:/srv\", \"/srv/keys:/keys:ro\"]";
        remedy "Name the one above alone, or as read-only, or move the one below elsewhere.";
    /// A policy that would allow more than the one that is compiled in.
    Widening = "widening", Error, Check;
        why "A policy at run time can only narrow.";
        example "executor: {type: local}   # where the compiled-in policy has a sandbox";
        remedy "Remove what differs.";
    /// The list of all tools takes more of a model's context than is allowed.
    OverBudget = "over-budget", Error, Check;
        why "With `--classic` every client reads every tool in each conversation. The default mode lists two tools, however \
             many there are.";
        example "climax validate --max-tokens 10000";
        remedy "Serve fewer CLIs, shorten descriptions, leave `--classic` out, or raise `--max-tokens`.";
    /// A skill that agents could not load: its front matter, its name, or what its directory holds.
    IllegalSkill = "illegal-skill", Error, Check;
        why "Agents refuse a skill that breaks the format, and its name is a part of its URIs.";
        example "skills/release/SKILL.md   # with `name: releases`";
        remedy "Correct what the message names. A skill is a directory of regular files with a SKILL.md.";
    /// A plain scalar that YAML 1.1 and YAML 1.2 read differently.
    AmbiguousScalar = "ambiguous-scalar", Warning, Check;
        why "Other tools that read the file may see a boolean or another number.";
        example "enum: [no, yes]";
        remedy "Quote it: `enum: [\"no\", \"yes\"]`.";
    /// A key whose value has no effect where it stands.
    NoEffect = "no-effect", Warning, Check;
        why "Somebody expected it to do something.";
        example "{name: dir, cwd: true, flag: --dir}";
        remedy "Remove the key.";
    /// An arg that is required and has a default. The default serves, and the arg is not required.
    RequiredDefault = "required-default", Warning, Check;
        why "One of the two is not meant.";
        example "{name: limit, required: true, default: \"20\"}";
        remedy "Remove `required: true` or `default:`.";
    /// An `enum` value that no value of the arg's type can equal.
    EnumType = "enum-type", Warning, Check;
        why "No call could give it.";
        example "{name: n, type: integer, enum: [one]}";
        remedy "Correct the value or the type.";
    /// A tool name that is longer than some clients accept.
    LongName = "long-name", Warning, Check;
        why "Some clients refuse the whole list of tools for one name of more than 64 characters.";
        example "name: kubernetes_cluster_administration_certificate_signing_request_list";
        remedy "Shorten it.";
    /// A policy or a skill names a tool that does not exist.
    UnknownTool = "unknown-tool", Warning, Check;
        why "The rule of a policy permits and forbids nothing, and an agent cannot follow the skill. In a skill it is an error.";
        example "tools: {git_lgo: {}}";
        remedy "Correct the name, or remove the rule.";
    /// A skill mentions a tool that is not served, so the skill is not served either.
    HiddenSkill = "hidden-skill", Warning, Check;
        why "A skill must not tell an agent of tools that the policy hides.";
        example "a skill that says `git_push`, under a policy without that tool";
        remedy "Permit the tool in the policy, or leave the skill out.";
    /// A policy names a prompt that is not served.
    UnknownPrompt = "unknown-prompt", Warning, Check;
        why "The prompt that was meant stays hidden.";
        example "prompts: [reviwe]";
        remedy "Correct the name, or remove it.";
    /// A policy names an arg that its tool does not have.
    UnknownArg = "unknown-arg", Warning, Check;
        why "The arg that was meant is not bounded.";
        example "tools: {git_log: {args: {max_cuont: {max: 50}}}}";
        remedy "Correct the name, or remove the rule.";
    /// A rule of a policy hides the tool that it is for.
    UnusableRule = "unusable-rule", Warning, Check;
        why "The rule denies an arg that every call needs, or demands one that the tool does not have.";
        example "tools: {git_commit: {args: {message: deny}}}";
        remedy "Correct the rule, or hide the tool by `deny`.";
    /// A policy permits none of the tools that are served.
    NothingPermitted = "nothing-permitted", Warning, Check;
        why "An agent would find nothing.";
        example "default: disabled";
        remedy "Name tools under `tools:`, or write `default: enabled`.";
    /// A policy bounds the numbers of an arg that takes none.
    RangeType = "range-type", Warning, Check;
        why "Every call that gives the arg is refused.";
        example "args: {oneline: {max: 1}}   # a boolean";
        remedy "Remove `min` and `max`.";
    /// A policy does not permit the default of an arg.
    DefaultDenied = "default-denied", Warning, Check;
        why "Calls that leave the arg out are refused.";
        example "args: {max_count: {max: 5}}   # its default is 20";
        remedy "Permit the default, if such calls are wanted.";
    /// A tool that replaces one of the same name from an earlier file.
    Override = "override", Warning, Check;
        why "The earlier one is gone, which may surprise whoever wrote it.";
        example "a.yaml and b.yaml both define `git_log`";
        remedy "Rename one of the two if both are wanted.";
    /// A tool's description does not start with what the tool does.
    LintVerb = "lint/description-verb", Warning, Lint;
        why "Agents choose a tool by the first words of its description, and those of other tools start with a verb. Only \
             beginnings that are surely no verb are reported.";
        example "description: The history of a repository";
        remedy "Start with a verb: `description: Show the history of a repository`.";
    /// Two tools of one config have descriptions of the same words.
    LintSimilar = "lint/similar-description", Warning, Lint;
        why "An agent cannot tell which of the two serves it. Inflection, order, and words such as `the` do not count.";
        example "- {name: pod_list, description: List pods}\n- {name: pod_ls, description: List the pods}";
        remedy "Say in each what it does that the other does not, or remove one.";
    /// A description names another tool of its config.
    LintMention = "lint/other-tool", Warning, Lint;
        why "A policy may hide the other tool, and a hidden tool leaves no trace. Its name here would be one.";
        example "- {name: pod_list, description: \"List pods; pod_logs shows what they print\"}";
        remedy "Say what to do instead of which tool does it, or allow the warning if the tools are served together.";
    /// A tool seems to change something, and the config does not say what risk it is.
    LintRisk = "lint/missing-risk", Warning, Lint;
        why "Without `risk` policies let a tool run unasked, as if it only read. Clients are not told that it only reads.";
        example "{name: branch_delete, description: Delete a branch, command: branch --delete}";
        remedy "Write `risk: write`, `risk: destructive`, or `risk: read` if it changes nothing.";
    /// A tool that publishes more than 25 args, or more than 6 KiB of schema.
    LintSize = "lint/large-tool", Warning, Lint;
        why "A model reads the schema in each search that finds the tool, and chooses worse among many args.";
        example "args: […]   # 40 of them";
        remedy "Write `shown: false` at args that few calls need. Calls can still give them, and `climax_describe` lists them.";
    /// An arg of a reading tool that probably names a program to run or a file to write.
    LintArgRisk = "lint/arg-risk", Warning, Lint;
        why "A tool of `risk: read` is called without asking, and such an arg may change or start something.";
        example "{name: output, flag: --output=}   # in a tool of `risk: read`";
        remedy "Write the `risk` of the arg, leave it out, or write `risk: read` if it neither runs nor writes anything.";
    /// An arg without description.
    LintArg = "lint/arg-description", Warning, Lint;
        why "An agent has to guess format and units. A working directory, standard input and switches such as `verbose` \
             need none.";
        example "{name: since}";
        remedy "Say meaning, format and units: `{name: since, description: \"Oldest commit, as YYYY-MM-DD\"}`.";
    /// A text that only a shell would take for more than it is.
    LintShell = "lint/shell", Warning, Lint;
        why "No shell reads commands, flags and directories: a word stays one, and nothing is piped, redirected or expanded.";
        example "command: log --oneline | head";
        remedy "Do it by options of the program, or put it into a script and name that; write flags one by one, and whole paths.";
    /// An `x-allow` that silences nothing.
    LintAllow = "lint/unknown-code", Warning, Lint;
        why "What it was meant to silence is still reported, or the name of a code was misspelt.";
        example "x-allow: [lint/missing-rsik]";
        remedy "Write a list of codes of warnings, as messages print them in brackets.";
}

impl Code {
    /// Finds a code by its word in messages.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.as_str() == name)
    }

    /// The codes of warnings, which can be silenced.
    pub fn silenceable() -> impl Iterator<Item = Self> + Clone {
        Self::ALL.iter().copied().filter(|code| code.severity() == Severity::Warning)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
