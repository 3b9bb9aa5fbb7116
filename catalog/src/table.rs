//! The catalog: flat tables whose rows are `Copy` and hold offsets, never pointers.
//!
//! The same types serve generated statics and configs loaded at run time. Pointer-free rows cost the dynamic loader
//! nothing, so a program with ten thousand tools starts as fast as one with ten.

use std::borrow::Cow;
use std::collections::HashMap;

use strum::VariantArray as _;

use crate::model::{Access, Headless, Level, Place, Risk, Runtime, SandboxLimits, Type};

/// The number of a text in [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Str(pub u32);

/// A half-open range of rows of another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows(pub u32, pub u32);

impl Rows {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.0 as usize..self.1 as usize
    }
}

/// All texts of a catalog, one after the other, and where each ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Texts {
    /// The texts, without separators.
    pub text: Cow<'static, str>,
    /// The end of each text, in bytes; each starts where the one before ends.
    pub ends: Cow<'static, [u32]>,
}

impl Texts {
    /// Looks up one text.
    #[must_use]
    pub fn get(&self, id: Str) -> &str {
        let at = id.0 as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.text[start..self.ends[at] as usize]
    }
}

/// A CLI: one config file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CliDef {
    /// The name that results show and the `cli` filter matches.
    pub name: Str,
    /// The file name without extension, by which the CLI can be asked for too.
    pub stem: Str,
    /// What the program is for; may be empty.
    pub description: Str,
    /// Free text for discovery.
    pub category: Option<Str>,
    /// Rows of [`Catalog::lists`]: words for discovery.
    pub tags: Rows,
    /// Rows of [`Catalog::lists`]: the base command, not yet expanded.
    pub words: Rows,
    /// Rows of [`Catalog::lists`]: names and values by turns.
    pub env: Rows,
    /// The most that one of its tools may do to the world.
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
    /// What people see in place of the name, if that is something else.
    pub title: Option<Str>,
    /// What it does and when to use it.
    pub description: Str,
    /// The finished `ToolIndexEntry` as JSON; its last member is `input_schema`.
    pub entry: Str,
    /// Length in bytes of the schema at the end of `entry`, before the closing brace.
    pub schema_bytes: u32,
    /// Rows of [`Catalog::lists`]: the subcommand.
    pub words: Rows,
    /// Rows of [`Catalog::args`].
    pub args: Rows,
    /// How long a call may take, in milliseconds.
    pub timeout_ms: u32,
    /// What it may do to the world.
    pub risk: Risk,
    /// Whether a policy has somebody asked before a call.
    pub asks: bool,
    /// The media type of what it prints, if that is more than text.
    pub output: Option<Str>,
    /// The URI template of the resource that it prints.
    pub resource: Option<Str>,
    /// Rows of [`Catalog::questions`].
    pub questions: Rows,
    /// Template of the question that is asked before a call.
    pub confirm_message: Option<Str>,
    /// Rows of [`Catalog::resolves`].
    pub resolves: Rows,
}

/// A look-up of a readable name.
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
    /// What answers are known by.
    pub name: Str,
    /// What the user is asked.
    pub message: Str,
    /// Rows of [`Catalog::lists`]: the names of the args that it asks for.
    pub args: Rows,
}

/// A prompt: what it says is read when somebody asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptDef {
    /// The row of [`Catalog::clis`] that it belongs to.
    pub cli: u32,
    /// Its name, unique in the catalog.
    pub name: Str,
    /// The rest of it, as JSON of this crate's own.
    pub definition: Str,
}

/// An arg, packed: `name, description, flag, default, first enum value, end of enum values, bits`.
///
/// Packed because a catalog has many of them and the compiler reads each as source text: seven numbers take it a third
/// of the time and memory that a struct with named fields takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgDef(pub [u32; 7]);

const PLACE_SHIFT: u32 = 2;
const KIND_MASK: u32 = 0b11;
const PLACE_MASK: u32 = 0b111;
const REQUIRED_BIT: u32 = 1 << 5;
const DEFAULT_BIT: u32 = 1 << 6;
const DASH_SETTLED_BIT: u32 = 1 << 7;
const DASH_ALLOWED_BIT: u32 = 1 << 8;
const ASKED_BIT: u32 = 1 << 9;

/// The unpacked form of an [`ArgDef`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArgRow {
    pub(crate) name: Str,
    pub(crate) description: Str,
    pub(crate) flag: Str,
    pub(crate) default: Option<Str>,
    pub(crate) values: Rows,
    pub(crate) kind: Type,
    pub(crate) place: Place,
    pub(crate) required: bool,
    pub(crate) leading_dash: Option<bool>,
    pub(crate) asked: bool,
}

impl ArgDef {
    pub(crate) fn pack(row: ArgRow) -> Self {
        let mut bits = row.kind as u32 | (row.place as u32) << PLACE_SHIFT;
        if row.required {
            bits |= REQUIRED_BIT;
        }
        if row.default.is_some() {
            bits |= DEFAULT_BIT;
        }
        if let Some(allowed) = row.leading_dash {
            bits |= DASH_SETTLED_BIT | if allowed { DASH_ALLOWED_BIT } else { 0 };
        }
        if row.asked {
            bits |= ASKED_BIT;
        }
        let default = row.default.map_or(0, |default| default.0);
        Self([row.name.0, row.description.0, row.flag.0, default, row.values.0, row.values.1, bits])
    }

    pub(crate) fn unpack(self) -> ArgRow {
        let [name, description, flag, default, first, end, bits] = self.0;
        ArgRow {
            name: Str(name),
            description: Str(description),
            flag: Str(flag),
            default: (bits & DEFAULT_BIT != 0).then_some(Str(default)),
            values: Rows(first, end),
            kind: Type::VARIANTS[(bits & KIND_MASK) as usize],
            place: Place::VARIANTS[(bits >> PLACE_SHIFT & PLACE_MASK) as usize],
            required: bits & REQUIRED_BIT != 0,
            leading_dash: (bits & DASH_SETTLED_BIT != 0).then_some(bits & DASH_ALLOWED_BIT != 0),
            asked: bits & ASKED_BIT != 0,
        }
    }
}

/// What a policy asks of the values of an arg.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleDef {
    /// The row of [`Catalog::args`] that it is about; an arg may have several rules.
    pub arg: u32,
    /// What the whole value must match: a pattern that has been compiled once.
    pub pattern: Option<Str>,
    /// The least that a number may be.
    pub min: Option<f64>,
    /// The most that a number may be.
    pub max: Option<f64>,
}

/// A file that a program writes where an arg says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDef {
    /// The row of [`Catalog::args`].
    pub arg: u32,
    /// The media type of what is written.
    pub mime: Str,
    /// The last part of the file's path.
    pub file: Str,
}

/// The policy that was put over a catalog when it was made, but for what is in the rows of its tools and args.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyDef {
    /// Whether tools that are added later can be called.
    pub access: Access,
    /// From which risk on somebody is asked about tools that are added later.
    pub level: Level,
    /// What holds where nobody can be asked.
    pub headless: Headless,
    /// Where programs run.
    pub executor: ExecutorDef,
}

/// Where programs run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutorDef {
    /// On this machine, as the server's user.
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
    /// On this machine, confined by the kernel.
    Sandbox {
        /// Rows of [`Catalog::lists`]: paths that can be read.
        read: Rows,
        /// Rows of [`Catalog::lists`]: paths that can be changed.
        write: Rows,
        /// Whether sockets can be opened.
        network: bool,
        /// Bounds on what a program uses.
        limits: SandboxLimits,
    },
}

/// The lowercased texts that a query is looked for in.
///
/// Per tool: name, description, CLI name, category and tags, a NUL after each; tools in catalog order. A NUL can be in no
/// field, so a match that holds none lies within one field.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchText {
    /// The fields.
    pub text: Cow<'static, str>,
    /// The end of each tool's fields, in bytes.
    pub ends: Cow<'static, [u32]>,
}

/// The ranked index: which terms stand in which tools, and what each counts there.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// The terms, sorted.
    pub terms: Texts,
    /// Per term: in how many tools it stands, then for each, in catalog order, four times the distance from the row before
    /// plus what the term says as a word of the tool's name (2, 1 as its last word, else 0), and the impact. Impacts are
    /// bytes, the rest numbers in groups of seven bits, the lowest first.
    pub postings: Cow<'static, [u8]>,
    /// The end of each term's postings, in bytes.
    pub ends: Cow<'static, [u32]>,
    /// Per tool: what all words of its name say together, at most 255.
    pub names: Cow<'static, [u8]>,
}

/// Finds a tool's row by its name.
#[derive(Clone, Debug)]
pub enum Names {
    /// Computed at build time: from the hash of a name ([`name_hash`]) to its row, without start-up work or pointers.
    Perfect(&'static phf::Map<u64, u32>),
    /// Built at run time.
    Hashed(HashMap<Box<str>, u32>),
}

/// Hashes a tool name for [`Names::Perfect`]: FNV-1a with 64 bits.
///
/// The generator refuses two names of one hash; a look-up compares the name that it found.
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

/// Sums up a file so that generated code can check at compile time that it got the file that it was made for.
///
/// Covers the length and at most 4,096 evenly spread bytes, since constants are evaluated slowly.
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
    /// What queries are matched against.
    pub search: SearchText,
    /// What queries are ranked by.
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
    /// Rows of [`Catalog::tools`] that print resources, in their order.
    pub resources: Cow<'static, [u32]>,
    /// One row per prompt, in the order of their CLIs.
    pub prompts: Cow<'static, [PromptDef]>,
    /// The files that programs write, in the order of the args.
    pub files: Cow<'static, [FileDef]>,
    /// What a policy asks of args, in the order of the args.
    pub rules: Cow<'static, [RuleDef]>,
    /// Numbers of texts: tags, words, enum values, environments.
    pub lists: Cow<'static, [u32]>,
    /// The policy that was put over the catalog when it was made.
    pub policy: Option<PolicyDef>,
    /// Whether no tool can be added or changed at run time.
    pub sealed: bool,
    /// The digest of all this ([`crate::digest`]), if it was computed when the catalog was made.
    pub digest: Option<&'static str>,
    /// Tool names.
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

    pub(crate) fn list(&self, rows: Rows) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.lists[rows.range()].iter().map(|id| self.texts.get(Str(*id)))
    }
}

/// Equal tables; name map and digest follow from them.
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
            rules,
            lists,
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
            && *rules == other.rules
            && *lists == other.lists
            && *policy == other.policy
            && *sealed == other.sealed
    }
}
