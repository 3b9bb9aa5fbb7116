//! The catalog: flat tables whose rows are `Copy` and hold offsets, never pointers.
//!
//! The same types serve generated statics and configs loaded at run time. Pointer-free rows cost the dynamic loader
//! nothing, so a program with ten thousand tools starts as fast as one with ten.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::model::{Access, Confine, GroupKind, Headless, Level, Risk, Runtime, SandboxLimits};

mod arg;
mod skills;
mod text;

pub(crate) use arg::ArgRow;
pub use arg::{ArgDef, DetailDef};
pub use skills::PackedSkills;
pub use text::{Rows, Str, Texts};

/// Marks the place of an arg in a command: the mark and the arg's name. The mark alone is the place of all options.
pub(crate) const PLACE_MARK: char = '\0';

/// A CLI: one config file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CliDef {
    /// The name that results show and the `cli` filter matches.
    pub name: Str,
    /// The file name without extension, which selects the CLI too.
    pub stem: Str,
    /// What the program is for; may be empty.
    pub description: Str,
    /// Free text for discovery.
    pub category: Option<Str>,
    /// Rows of [`Catalog::lists`]: words for discovery.
    pub tags: Rows,
    /// Rows of [`Catalog::lists`]: the base command, not yet expanded. A NUL marks the place of an arg.
    pub words: Rows,
    /// Rows of [`Catalog::lists`]: other spellings of the program, each of quoted words.
    pub programs: Rows,
    /// Rows of [`Catalog::lists`]: words that stand behind the base command in every call.
    pub always: Rows,
    /// Rows of [`Catalog::lists`]: names and values by turns.
    pub env: Rows,
    /// Rows of [`Catalog::lists`]: kinds and items of needs by turns, for tools that say nothing of theirs.
    pub needs: Option<Rows>,
    /// The highest promised risk of its tools.
    pub risk: Risk,
    /// The child's directory.
    pub working_dir: Option<Str>,
    /// Rows of [`Catalog::args`]: appended to every call.
    pub global_args: Rows,
    /// Rows of [`Catalog::tools`].
    pub tools: Rows,
}

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolDef {
    /// The row of [`Catalog::clis`] that it belongs to.
    pub cli: u32,
    /// Its name, unique in the catalog.
    pub name: Str,
    /// The name that is shown to users, if it differs from the tool's or prompt's name.
    pub title: Option<Str>,
    /// What it does and when to use it.
    pub description: Str,
    /// The finished `ToolIndexEntry` as JSON; its last member is `input_schema`.
    pub entry: Str,
    /// Length in bytes of the schema at the end of `entry`, before the closing brace.
    pub schema_bytes: u32,
    /// Rows of [`Catalog::lists`]: the subcommand. A NUL marks the place of an arg, or of all options.
    pub words: Rows,
    /// Rows of [`Catalog::lists`]: other spellings of the words of the command, each of quoted words.
    pub aliases: Rows,
    /// Rows of [`Catalog::lists`]: options that every call has.
    pub always: Rows,
    /// Rows of [`Catalog::args`].
    pub args: Rows,
    /// Rows of [`Catalog::args`]: those that policies took away.
    pub withheld: Rows,
    /// Rows of [`Catalog::groups`].
    pub groups: Rows,
    /// How long a call may take, in milliseconds.
    pub timeout_ms: u32,
    /// Whether calls usually outlast what clients wait for.
    pub is_long: bool,
    /// How much the tool can change, if its config says so.
    pub risk: Option<Risk>,
    /// Rows of [`Catalog::lists`]: kinds and items of its needs by turns, if its config says so here.
    pub needs: Option<Rows>,
    /// The least risk of calls that need approval by the compiled-in policy.
    pub approval_from: Option<Risk>,
    /// Rows of [`Catalog::lists`]: exit codes that are answers, and their meanings, by turns.
    pub exit_codes: Rows,
    /// Rows of [`Catalog::lists`]: requests that the tool serves, in users' words. Only the ranked index reads them.
    pub phrases: Rows,
    /// The media type of what it prints, if that is more than text.
    pub output: Option<Str>,
    /// The schema of the JSON values that it prints, as JSON.
    pub output_schema: Option<Str>,
    /// The URI template of the resource that it prints.
    pub resource: Option<Str>,
    /// Rows of [`Catalog::questions`].
    pub questions: Rows,
    /// Template of the approval question.
    pub confirm_message: Option<Str>,
    /// Rows of [`Catalog::resolves`].
    pub resolves: Rows,
}

/// A look-up of a readable name, by a subcommand of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolveDef {
    /// The placeholder that it fills.
    pub name: Str,
    /// Rows of [`Catalog::lists`]: the subcommand.
    pub words: Rows,
    /// Rows of [`Catalog::lists`]: names and templates by turns.
    pub args: Rows,
    /// How long it may take, in milliseconds.
    pub timeout_ms: u32,
}

/// A question that the user answers before a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuestionDef {
    /// The question's name in the protocol.
    pub name: Str,
    /// The text that the user reads.
    pub message: Str,
    /// Rows of [`Catalog::lists`]: the names of the args that it asks for.
    pub args: Rows,
}

/// A group of args with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupDef {
    /// The rule.
    pub kind: GroupKind,
    /// Rows of [`Catalog::lists`]: the names of the args.
    pub args: Rows,
}

/// A prompt, as JSON that is parsed on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptDef {
    /// The row of [`Catalog::clis`] that it belongs to.
    pub cli: u32,
    /// Its name, unique in the catalog.
    pub name: Str,
    /// Everything else, as JSON in a format of this crate.
    pub definition: Str,
}

/// A rule for the values of an arg.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleDef {
    /// The row of [`Catalog::args`]; an arg may have several rules.
    pub arg: u32,
    /// The pattern that the whole value must match. It compiles.
    pub pattern: Option<Str>,
    /// The smallest permitted number.
    pub min: Option<f64>,
    /// The largest permitted number.
    pub max: Option<f64>,
    /// Rows of [`Catalog::lists`]: the permitted values.
    pub values: Rows,
    /// The value that every call has.
    pub fixed: Option<Str>,
    /// Rows of [`Catalog::lists`]: the directories that the path must be in.
    pub within: Rows,
    /// The pattern of the values that need approval. It compiles.
    pub approval: Option<Str>,
    /// Whether a policy sets it, not the config.
    pub from_policy: bool,
}

/// A file that a program writes to the path in an arg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDef {
    /// The row of [`Catalog::args`].
    pub arg: u32,
    /// The media type of what is written.
    pub mime: Str,
    /// The last part of the file's path.
    pub file: Str,
}

/// The compiled-in policy, without the parts that rows of tools and args hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyDef {
    /// The rule for tools that are added at run time.
    pub access: Access,
    /// The approval level for tools that are added at run time.
    pub level: Level,
    /// The rule for calls that need approval if the client cannot ask the user.
    pub headless: Headless,
    /// Rows of [`Catalog::lists`], by fours: name, CLI, risk and tag of tools that are not permitted at run time.
    pub deny: Rows,
    /// Rows of [`Catalog::lists`]: variables of every program, and their values, by turns.
    pub env: Rows,
    /// Which calls are held to the needs of their tools.
    pub confine: Confine,
    /// Executors: where programs run.
    pub executor: ExecutorDef,
}

/// Executors: where programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutorDef {
    /// On the host, as the server's user.
    Local,
    /// Each in a container of its own.
    Container {
        /// The program that runs containers.
        runtime: Runtime,
        /// The image, by name.
        image: Str,
        /// Rows of [`Catalog::lists`]: mounts.
        volumes: Rows,
        /// The directory inside.
        working_dir: Option<Str>,
        /// The network.
        network: Option<Str>,
    },
    /// On the host, in a sandbox of the kernel.
    Sandbox {
        /// Rows of [`Catalog::lists`]: paths that can be read.
        read: Rows,
        /// Rows of [`Catalog::lists`]: paths that can be changed.
        write: Rows,
        /// Whether sockets can be opened.
        network: bool,
        /// Resource limits.
        limits: SandboxLimits,
    },
}

/// The lowercased texts that queries are matched against.
///
/// Per tool: name, description, CLI name, category and tags, a NUL after each; tools in catalog order. No field
/// contains a NUL, so a match without NUL lies within one field.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchText {
    /// The fields.
    pub text: Cow<'static, str>,
    /// The end of each tool's fields, in bytes.
    pub ends: Cow<'static, [u32]>,
}

/// The ranked index: for each term the tools that contain it, with the term's impact there.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The terms, sorted.
    pub terms: Texts,
    /// Per term: the number of tools, then a pair of numbers for each tool in catalog order.
    ///
    /// The first number is four times the distance from the previous row. 2 is added if the term is a word of the
    /// tool's name, 1 if it is the last word. The second is the impact, one byte. The other numbers are in groups of
    /// seven bits, the lowest first (LEB128).
    pub postings: Cow<'static, [u8]>,
    /// The end of each term's postings, in bytes.
    pub ends: Cow<'static, [u32]>,
    /// Per tool: the sum of those values over all words of its name, at most 255.
    pub names: Cow<'static, [u8]>,
}

/// Finds a tool's row by its name.
#[derive(Clone, Debug)]
pub enum Names {
    /// Computed at build time: maps the hash of a name ([`name_hash`]) to its row. It needs no work at start and no
    /// pointers.
    Perfect(&'static phf::Map<u64, u32>),
    /// Built at run time.
    Hashed(HashMap<Box<str>, u32>),
}

/// Hashes a tool name for [`Names::Perfect`]: FNV-1a with 64 bits.
///
/// The generator refuses catalogs with two names of the same hash. A look-up compares the names too.
#[must_use]
pub const fn name_hash(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

/// Computes a checksum, by which generated code checks at compile time that it includes the right file.
///
/// Covers the length and at most 4,096 evenly spread bytes, because rustc evaluates constants slowly.
#[must_use]
pub const fn fingerprint(bytes: &[u8]) -> u64 {
    let step = 1 + bytes.len() / 4096;
    let mut hash = bytes.len() as u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += step;
    }
    hash
}

/// Checked configs, flattened.
#[derive(Clone, Debug)]
pub struct Catalog {
    /// All texts.
    pub texts: Texts,
    /// The texts that queries are matched against.
    pub search: SearchText,
    /// The ranked index.
    pub ranked: Ranked,
    /// One row per config, in load order.
    pub clis: Cow<'static, [CliDef]>,
    /// One row per tool, in the order of their CLIs.
    pub tools: Cow<'static, [ToolDef]>,
    /// One row per arg, in the order of their tools.
    pub args: Cow<'static, [ArgDef]>,
    /// One row per look-up.
    pub resolves: Cow<'static, [ResolveDef]>,
    /// One row per question, in the order of their tools.
    pub questions: Cow<'static, [QuestionDef]>,
    /// Rows of [`Catalog::tools`] that have a resource, in their order.
    pub resources: Cow<'static, [u32]>,
    /// One row per prompt, in the order of their CLIs.
    pub prompts: Cow<'static, [PromptDef]>,
    /// The files that programs write, in the order of the args.
    pub files: Cow<'static, [FileDef]>,
    /// The groups of args, in the order of their tools.
    pub groups: Cow<'static, [GroupDef]>,
    /// The details of args, in the order of the args that have any.
    pub details: Cow<'static, [DetailDef]>,
    /// The rules for args, in the order of the args.
    pub rules: Cow<'static, [RuleDef]>,
    /// Indexes of texts: tags, words, enum values, environments.
    pub lists: Cow<'static, [u32]>,
    /// The compiled-in skills.
    pub skills: Option<PackedSkills>,
    /// The compiled-in policy.
    pub policy: Option<PolicyDef>,
    /// Whether no tool can be added or changed at run time.
    pub sealed: bool,
    /// The digest ([`crate::digest`]), if it was computed when the catalog was compiled.
    pub digest: Option<&'static str>,
    /// The look-up of tools by name.
    pub names: Names,
}

impl Catalog {
    /// Finds a tool's row by its exact name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        match &self.names {
            Names::Perfect(map) => {
                let row = *map.get(&name_hash(name))?;
                (self.texts.get(self.tools[row as usize].name) == name).then_some(row)
            }
            Names::Hashed(map) => map.get(name).copied(),
        }
    }

    /// Texts of a list, two by two.
    pub(crate) fn pairs(&self, rows: Rows) -> impl Iterator<Item = (&str, &str)> + Clone {
        let text = |id: u32| self.texts.get(Str(id));
        self.lists[rows.range()].chunks_exact(2).map(move |pair| (text(pair[0]), text(pair[1])))
    }

    pub(crate) fn list(&self, rows: Rows) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.lists[rows.range()].iter().map(|id| self.texts.get(Str(*id)))
    }
}

/// Compares the tables. Name map and digest follow from them.
impl PartialEq for Catalog {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            texts,
            search,
            ranked,
            clis,
            tools,
            args,
            resolves,
            questions,
            resources,
            prompts,
            files,
            groups,
            details,
            rules,
            lists,
            skills,
            policy,
            sealed,
            digest: _,
            names: _,
        } = self;
        *texts == other.texts
            && *search == other.search
            && *ranked == other.ranked
            && *clis == other.clis
            && *tools == other.tools
            && *args == other.args
            && *resolves == other.resolves
            && *questions == other.questions
            && *resources == other.resources
            && *prompts == other.prompts
            && *files == other.files
            && *groups == other.groups
            && *details == other.details
            && *rules == other.rules
            && *lists == other.lists
            && *skills == other.skills
            && *policy == other.policy
            && *sealed == other.sealed
    }
}
