//! The catalog: flat tables whose rows are `Copy` and hold offsets, never pointers.
//!
//! The same types serve generated statics and configs loaded at run time. Pointer-free rows cost the dynamic loader
//! nothing, so a program with ten thousand tools starts as fast as one with ten.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::model::{Access, Confine, Headless, JudgeRules, Level, LineRules, Runtime, SandboxLimits};

mod arg;
mod cli;
mod row;
mod skills;
mod stored;
mod tables;
mod text;
mod tool;

pub(crate) use arg::ArgRow;
pub use arg::{ArgDef, DetailDef, FileDef, RuleDef};
pub(crate) use cli::CheckedCli;
pub use cli::{CliDef, PromptDef};
pub use row::{Row, Value};
pub use skills::PackedSkills;
pub(crate) use stored::{NOWHERE, Stored};
pub(crate) use tables::Tables;
pub use text::{List, Rows, Str, Texts};
pub(crate) use tool::{CheckedGroup, CheckedQuestion, CheckedResolve, CheckedTool};
pub use tool::{GroupDef, QuestionDef, ResolveDef, ToolDef};

/// Marks the place of an arg in a command: the mark and the arg's name. The mark alone is the place of all options.
pub(crate) const PLACE_MARK: char = '\0';

/// The compiled-in policy, without the parts that rows of tools and args hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyDef {
    /// The rule for tools that are added at run time.
    pub access: Access,
    /// The approval level for tools that are added at run time.
    pub level: Level,
    /// The rule for calls that need approval if the client cannot ask the user.
    pub headless: Headless,
    /// By fours: name, CLI, risk and tag of tools that are not permitted at run time.
    pub deny: List,
    /// Variables of every program, and their values, by turns.
    pub env: List,
    /// Which calls are held to the needs of their tools.
    pub confine: Confine,
    /// What becomes of the programs of lines.
    pub lines: LineRules,
    /// Hosts to which lines may send what they have read.
    pub send: List,
    /// What it says about calls beyond their risk.
    pub judgement: JudgeRules,
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
        /// Mounts.
        volumes: List,
        /// The directory inside.
        working_dir: Option<Str>,
        /// The network.
        network: Option<Str>,
    },
    /// On the host, in a sandbox of the kernel.
    Sandbox {
        /// Paths that can be read.
        read: List,
        /// Paths that can be changed.
        write: List,
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
    /// Per tool: for each of its phrases the number of terms in it, then the terms' numbers, ascending, each as the
    /// distance from the one before. All in groups of seven bits.
    pub phrases: Cow<'static, [u8]>,
    /// The end of each tool's phrases, in bytes.
    pub phrase_ends: Cow<'static, [u32]>,
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
    pub(crate) fn pairs(&self, list: List) -> impl Iterator<Item = (&str, &str)> + Clone {
        let text = |id: u32| self.texts.get(Str(id));
        self.lists[list.range()].chunks_exact(2).map(move |pair| (text(pair[0]), text(pair[1])))
    }

    /// Exit codes with their meanings.
    pub(crate) fn exit_codes(&self, list: List) -> impl Iterator<Item = (u8, &str)> + Clone {
        self.pairs(list).filter_map(|(code, meaning)| Some((code.parse().ok()?, meaning)))
    }

    /// Texts of a list.
    pub(crate) fn list(&self, list: List) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.lists[list.range()].iter().map(|id| self.texts.get(Str(*id)))
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
