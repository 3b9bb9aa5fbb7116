//! The order to the child that confines itself: what a program may do, as words.
//!
//! Pure.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use climax_catalog::Cage;
use climax_catalog::policy::SandboxLimits;

use super::isolation::Isolation;
use super::rights::{CageRights, SecretDepth};

/// The subcommand that starts this binary as the child that confines itself.
pub(crate) const COMMAND: &str = "confine";

/// What a child can do before it has its order, since all orders of a kind have it in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Preparation {
    /// The means of a cage; `None` for the sandbox, which is not prepared.
    pub(crate) isolation: Option<Isolation>,
    /// The network that it reaches.
    pub(crate) network: Network,
    /// Whether Unix sockets can be opened.
    pub(crate) local_sockets: bool,
    /// Whether protected names are put back after the end.
    pub(crate) restores: bool,
}

/// The network that a program reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Network {
    /// None. In namespaces it has a loopback of its own.
    None,
    /// The loopback of its session.
    Session,
    /// That of this machine.
    Machine,
}

impl Network {
    /// Returns its word in orders; none needs none.
    fn word(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Session => Some(SESSION),
            Self::Machine => Some(NETWORK),
        }
    }

    /// Reads the words of an order.
    fn read(words: &[OsString]) -> Self {
        let has = |name: &str| words.iter().any(|word| word == name);
        match (has(SESSION), has(NETWORK)) {
            (true, _) => Self::Session,
            (false, true) => Self::Machine,
            (false, false) => Self::None,
        }
    }
}

impl Preparation {
    const NOTHING: Self = Self { isolation: None, network: Network::None, local_sockets: false, restores: false };

    /// Returns what can be done for an order before it comes.
    pub(crate) fn of(order: &Order) -> Self {
        let network = order.network;
        match order.holder {
            Holder::Sandbox(_) => Self::NOTHING,
            Holder::Needs(_) => Self { network, ..Self::NOTHING },
            Holder::Cage { ref rights, isolation, local_sockets } => {
                Self { isolation: Some(isolation), network, local_sockets, restores: isolation.restores(rights.cage) }
            }
        }
    }

    /// Returns its words, in the form that [`Preparation::read`] takes.
    pub(crate) fn words(self) -> Vec<&'static str> {
        let Self { isolation, network, local_sockets, restores } = self;
        let mut words = vec![isolation.map_or(SANDBOX, Isolation::as_str)];
        words.extend(network.word());
        words.extend(local_sockets.then_some(LOCAL_SOCKETS));
        words.extend(restores.then_some(RESTORES));
        words
    }

    /// Reads the words of a command line; `None` if they are none of these.
    pub(crate) fn read(words: &[OsString]) -> Option<Self> {
        let (isolation, more) = words.split_first()?;
        let isolation = match isolation.to_str()? {
            SANDBOX => None,
            name => Some(name.parse().ok()?),
        };
        let has = |name: &str| more.iter().any(|word| word == name);
        let (local_sockets, restores) = (has(LOCAL_SOCKETS), has(RESTORES));
        Some(Self { isolation, network: Network::read(more), local_sockets, restores })
    }
}

/// What the child has to do before it executes a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The start of its error messages.
    pub(crate) password: OsString,
    /// Paths to read and run.
    pub(crate) read: Vec<OsString>,
    /// Paths to change.
    pub(crate) write: Vec<OsString>,
    /// The network that the program reaches.
    pub(crate) network: Network,
    /// What holds it.
    pub(crate) holder: Holder,
}

/// What holds a program that the child executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The sandbox of a policy.
    Sandbox(SandboxLimits),
    /// The needs of its tool, if it is confined to them.
    Needs(Option<NeedsRights>),
    /// A cage.
    Cage {
        /// What it holds.
        rights: CageRights,
        /// By what means.
        isolation: Isolation,
        /// Whether Unix sockets can be opened.
        local_sockets: bool,
    },
}

/// What the needs of a tool permit, beside files and network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeedsRights {
    /// Whether Unix sockets can be opened.
    pub(crate) local_sockets: bool,
    /// Whether permissions, owners and times of files can be changed.
    pub(crate) metadata: bool,
}

impl Order {
    /// Returns the words of the order, in the form that [`Order::read`] takes.
    pub(crate) fn words(&self) -> Vec<String> {
        let Self { password, read, write, network, holder } = self;

        let mut words = vec![password.display().to_string()];
        words.extend(read.iter().map(|path| format!("read={}", path.display())));
        words.extend(write.iter().map(|path| format!("write={}", path.display())));
        words.extend(network.word().map(str::to_owned));

        match holder {
            Holder::Sandbox(SandboxLimits { memory_mb, cpu_s, processes, file_mb }) => {
                let limits = LIMITS.iter().zip([memory_mb, cpu_s, processes, file_mb]);
                words.extend(limits.filter_map(|(name, limit)| Some(format!("{name}={}", limit.as_ref()?))));
            }
            Holder::Needs(None) => words.push(UNCONFINED.to_owned()),
            Holder::Needs(Some(NeedsRights { local_sockets, metadata })) => {
                words.push(NEEDS.to_owned());
                words.extend(local_sockets.then(|| LOCAL_SOCKETS.to_owned()));
                words.extend(metadata.then(|| METADATA.to_owned()));
            }
            Holder::Cage { rights, isolation, local_sockets } => {
                let CageRights { cage, project, frozen, tracked, depth, secrets, open } = rights;
                words.push(format!("cage={}", cage.as_str()));
                words.push(format!("isolation={}", isolation.as_str()));
                words.extend(project.iter().map(|project| format!("project={}", project.display())));
                words.extend(frozen.iter().map(|path| format!("frozen={}", path.display())));
                words.extend(tracked.then(|| TRACKED.to_owned()));
                words.extend((*depth == SecretDepth::Whole).then(|| WHOLE.to_owned()));
                words.extend(secrets.iter().map(|name| format!("secret={name}")));
                words.extend(open.iter().map(|name| format!("open={name}")));
                words.extend(local_sockets.then(|| LOCAL_SOCKETS.to_owned()));
            }
        }
        words
    }

    /// Reads an order; `None` if the words are none.
    #[cfg_attr(not(native_linux), allow(dead_code, reason = "only Linux has children that wait"))]
    pub(crate) fn read(words: &[OsString]) -> Option<Self> {
        let (password, rules) = words.split_first()?;

        Some(Self {
            password: password.clone(),
            read: values(rules, "read"),
            write: values(rules, "write"),
            network: Network::read(rules),
            holder: holder(rules)?,
        })
    }
}

const SANDBOX: &str = "sandbox";

const NETWORK: &str = "network";

const SESSION: &str = "session-network";

const NEEDS: &str = "needs";

const UNCONFINED: &str = "unconfined";

const METADATA: &str = "metadata";

const TRACKED: &str = "tracked";

const WHOLE: &str = "whole";

const LOCAL_SOCKETS: &str = "local-sockets";

const RESTORES: &str = "restores";

const LIMITS: [&str; 4] = ["memory-mb", "cpu-s", "processes", "file-mb"];

/// Reads what holds the program; `None` if a cage is not understood, since nothing weaker may take its place.
fn holder(rules: &[OsString]) -> Option<Holder> {
    let has = |name: &str| rules.iter().any(|word| word == name);
    let Some(cage) = text(rules, "cage") else {
        match (has(NEEDS), has(UNCONFINED)) {
            (true, _) => {
                let needs = NeedsRights { local_sockets: has(LOCAL_SOCKETS), metadata: has(METADATA) };
                return Some(Holder::Needs(Some(needs)));
            }
            (false, true) => return Some(Holder::Needs(None)),
            (false, false) => {}
        }
        let [memory_mb, cpu_s, processes, file_mb] = LIMITS.map(|name| text(rules, name)?.parse().ok());
        return Some(Holder::Sandbox(SandboxLimits { memory_mb, cpu_s, processes, file_mb }));
    };

    let names = |key| values(rules, key).iter().map(|name| name.display().to_string()).collect();
    let rights = CageRights {
        cage: cage.parse::<Cage>().ok()?,
        project: values(rules, "project").into_iter().next().map(PathBuf::from),
        frozen: values(rules, "frozen").into_iter().map(PathBuf::from).collect(),
        tracked: has(TRACKED),
        depth: if has(WHOLE) { SecretDepth::Whole } else { SecretDepth::Near },
        secrets: names("secret"),
        open: names("open"),
    };
    let isolation = text(rules, "isolation")?.parse().ok()?;
    Some(Holder::Cage { rights, isolation, local_sockets: has(LOCAL_SOCKETS) })
}

/// Returns the texts behind each `key=`.
fn values(rules: &[OsString], key: &str) -> Vec<OsString> {
    rules.iter().filter_map(|word| value(word, key)).map(OsStr::to_owned).collect()
}

/// Returns the text behind the first `key=`.
fn text<'a>(rules: &'a [OsString], key: &str) -> Option<&'a str> {
    rules.iter().find_map(|word| value(word, key)?.to_str())
}

/// Returns the text behind `key=`.
fn value<'a>(word: &'a OsStr, key: &str) -> Option<&'a OsStr> {
    let rest = word.as_bytes().strip_prefix(key.as_bytes())?;
    rest.strip_prefix(b"=").map(OsStr::from_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        let paths = |paths: &[&str]| paths.iter().map(OsString::from).collect::<Vec<_>>();
        let limits = SandboxLimits { memory_mb: Some(7), file_mb: Some(1), ..SandboxLimits::default() };
        let cage = |isolation, project| Holder::Cage {
            rights: CageRights {
                cage: Cage::Workspace,
                project,
                frozen: vec!["/home/a b/bin".into()],
                tracked: true,
                depth: SecretDepth::Near,
                secrets: vec!["cage=read".to_owned()],
                open: vec![".env".to_owned()],
            },
            isolation,
            local_sockets: true,
        };
        let needs = |of: Option<[bool; 2]>| {
            Holder::Needs(of.map(|[local_sockets, metadata]| NeedsRights { local_sockets, metadata }))
        };
        let holders = [
            Holder::Sandbox(limits),
            needs(None),
            needs(Some([false, true])),
            needs(Some([true, false])),
            cage(Isolation::Namespaces, Some("/home/a b".into())),
            cage(Isolation::Landlock, None),
        ];
        let networks = [Network::None, Network::Session, Network::Machine];
        for (holder, network) in holders.into_iter().zip(networks.into_iter().cycle()) {
            let order = Order {
                password: "p".into(),
                read: paths(&["/a=b", "/c"]),
                write: paths(&["network"]),
                network,
                holder,
            };
            let words: Vec<OsString> = order.words().into_iter().map(OsString::from).collect();
            assert_eq!(Order::read(&words), Some(order));
        }
    }

    #[test]
    fn a_cage_that_is_not_understood_is_no_order() {
        for rule in ["cage=none", "cage="] {
            assert_eq!(Order::read(&["p", rule, "isolation=landlock"].map(OsString::from)), None);
        }
        assert_eq!(Order::read(&["p", "cage=read"].map(OsString::from)), None);
    }

    #[test]
    fn a_preparation_is_read_as_it_was_written() {
        for isolation in [None, Some(Isolation::Landlock), Some(Isolation::Namespaces)] {
            for at in 0..3 {
                let network = [Network::None, Network::Session, Network::Machine][at];
                let [local_sockets, restores] = [0, 1].map(|place| place == at);
                let preparation = Preparation { isolation, network, local_sockets, restores };
                let words: Vec<OsString> = preparation.words().into_iter().map(OsString::from).collect();
                assert_eq!(Preparation::read(&words), Some(preparation));
            }
        }
        assert_eq!(Preparation::read(&["nothing".into()]), None);
    }
}
