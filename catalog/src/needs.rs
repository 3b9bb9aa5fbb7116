//! Needs: what the program of a tool has to reach. Also the values of a CLI's environment.

use std::borrow::Cow;

use crate::model::{Cage, Risk};

/// What a program has to reach.
///
/// A call that may only read is held to it: it cannot write elsewhere, has no other network, and gets no other
/// variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Hosts as `HOST:PORT`, [`ANY`], and paths of Unix sockets.
    pub network: Vec<String>,
    /// Files and directories to change; `~` and `$VAR` expand.
    pub write: Vec<String>,
    /// Names of variables. A name may end in `*`; [`ANY`] stands for all.
    pub env: Vec<String>,
    /// Files and directories to read in a cage, beside those that every cage reads; `~` and `$VAR` expand.
    pub read: Vec<String>,
    /// Whether it reads secrets of the project that the git repository tracks, and so holds anyway.
    pub tracked: bool,
    /// Whether it looks into processes of others, which the kernel lets no confined program do.
    pub processes: bool,
    /// The cage that holds the program, whose options need not be known then.
    pub cage: Option<Cage>,
    /// The risk where the kernel has no cage; destructive if `None`.
    pub without: Option<Risk>,
    /// The command that downloads beforehand what the program would load from the network.
    pub prefetch: Option<String>,
}

/// The item that stands for every host, or every variable.
pub const ANY: &str = "*";

/// The item of `network` that stands for the loopback of this machine.
pub(crate) const LOCALHOST: &str = "localhost";

/// The kinds of needs, by their keys in configs.
const KINDS: [&str; 9] = ["network", "write", "env", "read", "tracked", "processes", "cage", "without", "prefetch"];

impl Needs {
    /// Returns whether the program needs hosts. Which ones is not enforced.
    #[must_use]
    pub fn has_network(&self) -> bool {
        self.network.iter().any(|item| !is_path(item))
    }

    /// Returns whether the program needs Unix sockets. Which ones is not enforced.
    #[must_use]
    pub fn has_local_sockets(&self) -> bool {
        self.network.iter().any(|item| is_path(item))
    }

    /// Returns whether a cage holds code of the directory or of the caller.
    ///
    /// In the cage `read` a program runs such code if it counts as destructive without the cage. Others, such as those of
    /// git, have a cage against programs that the directory names.
    #[must_use]
    pub fn holds_any_code(&self) -> bool {
        match self.cage {
            Some(Cage::Workspace) => true,
            Some(Cage::Read) => self.without.is_none_or(|risk| risk == Risk::Destructive),
            None => false,
        }
    }

    /// Returns the keys and items by turns, as tables hold them.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let lists = [&self.network, &self.write, &self.env, &self.read];
        let items =
            KINDS.into_iter().zip(lists).flat_map(|(kind, list)| list.iter().map(move |item| (kind, item.as_str())));
        let flags = [("tracked", self.tracked), ("processes", self.processes)];
        let items = items.chain(flags.into_iter().filter(|(_, is_so)| *is_so).map(|(kind, _)| (kind, ANY)));
        let words = [
            self.cage.map(|cage| ("cage", cage.as_str())),
            self.without.map(|risk| ("without", risk.as_str())),
            self.prefetch.as_deref().map(|command| ("prefetch", command)),
        ];
        items.chain(words.into_iter().flatten())
    }

    /// Returns the risk of a program in its cage, if it has one: one that reaches the network can give away what it reads.
    #[must_use]
    pub fn caged_risk(&self) -> Option<Risk> {
        let least = if self.has_network() { Risk::Write } else { Risk::Read };
        Some(self.cage?.risk().max(least))
    }

    /// Makes needs of keys and items.
    pub(crate) fn of_pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let mut lists: [Vec<String>; KINDS.len()] = Default::default();
        for (kind, item) in pairs {
            if let Some(at) = KINDS.iter().position(|known| *known == kind) {
                lists[at].push(item.to_owned());
            }
        }
        let [network, write, env, read, tracked, processes, cage, without, prefetch] = lists;
        let [tracked, processes] = [tracked, processes].map(|items| !items.is_empty());
        let cage = cage.first().and_then(|cage| cage.parse().ok());
        let without = without.first().and_then(|risk| risk.parse().ok());
        let prefetch = prefetch.into_iter().next();
        Self { network, write, env, read, tracked, processes, cage, without, prefetch }
    }
}

/// Returns whether an item names a path, which `~` and variables may start.
pub(crate) fn is_path(item: &str) -> bool {
    item.starts_with(['/', '~', '$'])
}

/// The value of a variable that a CLI gives its programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvValue<'a> {
    /// This text.
    Literal(&'a str),
    /// A secret: the value of this variable of the server.
    From(&'a str),
    /// A secret: the content of this file, read for each call; `~` and `$VAR` expand.
    File(&'a str),
}

/// The start of a text that stands for a variable. No literal value contains a NUL.
const FROM: &str = "\0from:";
/// The start of a text that stands for a file.
const FILE: &str = "\0file:";

impl<'a> EnvValue<'a> {
    /// Reads a text of a table.
    pub(crate) fn decoded(text: &'a str) -> Self {
        match (text.strip_prefix(FROM), text.strip_prefix(FILE)) {
            (Some(name), _) => Self::From(name),
            (None, Some(path)) => Self::File(path),
            (None, None) => Self::Literal(text),
        }
    }

    /// Returns the text that tables hold.
    pub(crate) fn encoded(self) -> Cow<'a, str> {
        match self {
            Self::Literal(text) => text.into(),
            Self::From(name) => format!("{FROM}{name}").into(),
            Self::File(path) => format!("{FILE}{path}").into(),
        }
    }
}
