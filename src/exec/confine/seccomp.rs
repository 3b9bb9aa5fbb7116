//! Restricts the system calls of this thread and of what it starts, for the sandbox or for the needs of a tool (seccomp).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use libc::c_long;
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

use super::system_calls::{
    FIRST_UNKNOWN, FORBIDDEN, FORBIDDEN_REQUESTS, GROUPS, METADATA, NAMESPACE_FLAGS, NETWORK_FAMILIES, REACHING_OTHERS,
    SHARED_AND_ATTRIBUTES, WATCHES, X32_BIT,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// What the filters permit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Filter {
    /// For the policy's sandbox.
    Sandbox {
        /// Sockets of the Internet.
        network: bool,
    },
    /// For the needs of a tool.
    Needs {
        /// Sockets of the Internet.
        network: bool,
        /// Unix sockets.
        local_sockets: bool,
        /// Changes of permissions, owners and times of files.
        metadata: bool,
    },
    /// For a cage.
    Cage {
        /// Sockets of the Internet.
        network: bool,
        /// Unix sockets.
        local_sockets: LocalSockets,
        /// What only namespaces keep from others: attributes of files, and IPC of System V and POSIX.
        namespaces: bool,
        /// Leaving the process group, whose end is the end of the program.
        groups: bool,
    },
}

/// The Unix sockets that a program in a cage opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LocalSockets {
    /// None but pairs.
    None,
    /// Those of its cage, about which the kernel asks ([`super::connections`]). They have kinds that send nothing before
    /// they are connected.
    Own,
    /// Those of the machine.
    Any,
}

impl Filter {
    /// Returns the families of sockets that it permits.
    fn families(self) -> Vec<libc::c_int> {
        let (network, local_sockets) = match self {
            Self::Sandbox { network } => (network, false),
            Self::Needs { network, local_sockets, .. } => (network, local_sockets),
            Self::Cage { network, local_sockets, .. } => (network, local_sockets != LocalSockets::None),
        };

        let families = NETWORK_FAMILIES.iter().copied().filter(|_| network);
        families.chain([libc::AF_UNIX].into_iter().filter(|_| local_sockets)).collect()
    }

    fn permits_metadata(self) -> bool {
        matches!(self, Self::Sandbox { .. } | Self::Needs { metadata: true, .. } | Self::Cage { namespaces: true, .. })
    }

    /// Returns the lists of system calls that it forbids, whatever their arguments are.
    fn forbidden(self) -> Vec<&'static [c_long]> {
        let is_sandbox = matches!(self, Self::Sandbox { .. });
        let groups = is_sandbox || matches!(self, Self::Cage { groups: false, .. });
        let shared_and_attributes = !matches!(self, Self::Cage { namespaces: true, .. });

        let lists = [
            (FORBIDDEN, true),
            (WATCHES, is_sandbox),
            (GROUPS, groups),
            (SHARED_AND_ATTRIBUTES, shared_and_attributes),
            (METADATA, !self.permits_metadata()),
        ];
        lists.into_iter().filter_map(|(list, forbids)| forbids.then_some(list)).collect()
    }

    /// The number of filters.
    pub(super) const COUNT: usize = 34;

    /// Returns its place among all filters.
    pub(super) fn place(self) -> usize {
        match self {
            Self::Sandbox { network } => usize::from(network),
            Self::Needs { network, local_sockets, metadata } => {
                2 + usize::from(network) + 2 * usize::from(local_sockets) + 4 * usize::from(metadata)
            }
            Self::Cage { network, local_sockets, namespaces, groups } => {
                let flags = [network, namespaces, groups];
                10 + flags.into_iter().fold(local_sockets as usize, |place, flag| 2 * place + usize::from(flag))
            }
        }
    }
}

/// The compiled filters, which take longer to compile than to install.
static COMPILED: [OnceLock<Result<Vec<BpfProgram>, String>>; Filter::COUNT] =
    [const { OnceLock::new() }; Filter::COUNT];

/// Compiles the filters, so that applying them takes less time.
pub(super) fn compile(permitted: Filter) -> Result<&'static [BpfProgram], String> {
    let compiled = COMPILED[permitted.place()].get_or_init(|| compiled(permitted));
    compiled.as_deref().map_err(Clone::clone)
}

/// Applies the filters to this thread, to the programs that it executes and to its children.
pub(super) fn forbid_system_calls(permitted: Filter) -> Result<(), String> {
    compile(permitted)?
        .iter()
        .try_for_each(|program| seccompiler::apply_filter(program).map_err(|error| error.to_string()))
}

/// Compiles the filters.
fn compiled(permitted: Filter) -> Result<Vec<BpfProgram>, String> {
    let forbidden = permitted.forbidden().into_iter().flatten();
    let mut rules: Rules = forbidden.map(|number| (*number, Vec::new())).collect();

    for (number, argument) in REACHING_OTHERS {
        rules.entry(*number).or_default().push(rule(&[(*argument, SeccompCmpOp::Ne, 0)])?);
    }

    rules.insert(libc::SYS_ioctl, FORBIDDEN_REQUESTS.into_iter().map(request).collect::<Result<_, _>>()?);
    rules.insert(libc::SYS_clone, NAMESPACE_FLAGS.iter().copied().map(namespace).collect::<Result<_, _>>()?);
    let mut unconnected = Vec::new();
    if let Filter::Cage { local_sockets: LocalSockets::Own, .. } = permitted {
        unconnected = of_unconnected_kinds(1, &[(0, SeccompCmpOp::Eq, u64::from(libc::AF_UNIX.cast_unsigned()))])?;
    }
    rules.insert(libc::SYS_socket, [sockets(&permitted.families())?, unconnected].concat());
    rules.insert(libc::SYS_socketpair, pairs()?);

    // The flags of `clone3` are in memory, which filters cannot read. After ENOSYS libraries fall back to `clone`.
    let clone = filter(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)?;
    Ok(vec![filter(rules, libc::EPERM)?, clone, other_numbers()])
}

/// Makes the rule against one request of `ioctl`.
fn request(request: u64) -> Result<SeccompRule, String> {
    rule(&[(1, SeccompCmpOp::Eq, request)])
}

/// Makes the rule against one flag of `clone`.
fn namespace(flag: libc::c_int) -> Result<SeccompRule, String> {
    let flag = u64::from(flag.cast_unsigned());
    rule(&[(0, SeccompCmpOp::MaskedEq(flag), flag)])
}

/// Makes the rules against sockets of other families than these.
fn sockets(families: &[libc::c_int]) -> Result<Vec<SeccompRule>, String> {
    if families.is_empty() {
        return Ok(Vec::new());
    }

    let others: Vec<_> =
        families.iter().map(|family| (0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned()))).collect();
    Ok(vec![rule(&others)?])
}

/// Makes the rules against pairs of sockets, but for those of connected kinds.
///
/// One of these reaches its pair alone, and the start of a program needs one where `posix_spawn` would not do. Others can
/// send to any Unix socket on this machine: the kernel makes a raw one a datagram socket.
fn pairs() -> Result<Vec<SeccompRule>, String> {
    of_unconnected_kinds(1, &[])
}

/// Makes the rules against kinds of sockets that send to whoever they name. `argument` is the kind, and `further` are the
/// conditions that have to hold too.
fn of_unconnected_kinds(argument: u8, further: &[(u8, SeccompCmpOp, u64)]) -> Result<Vec<SeccompRule>, String> {
    const KIND_MASK: u64 = 0xf;
    let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(|kind| u64::from(kind.cast_unsigned()));

    let others = (0..=KIND_MASK).filter(|kind| !connected.contains(kind));
    let conditions = |kind| [&[(argument, SeccompCmpOp::MaskedEq(KIND_MASK), kind)], further].concat();
    others.map(|kind| rule(&conditions(kind))).collect()
}

/// Returns the filter for numbers beyond those that the lists know: newer system calls, and those of the x32 ABI, which
/// hardly any program uses.
///
/// A list of the forbidden ones of x32 would double the time that the kernel takes to install a filter. After ENOSYS
/// libraries fall back to older system calls.
fn other_numbers() -> BpfProgram {
    // The number is the first field of `seccomp_data`.
    let load = instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0);
    let allow = instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW);
    let x32 = if cfg!(target_arch = "x86_64") { refuse_from(X32_BIT, libc::EPERM).to_vec() } else { Vec::new() };
    [vec![load], x32, refuse_from(FIRST_UNKNOWN, libc::ENOSYS).to_vec(), vec![allow]].concat()
}

/// Returns the instructions that let system calls from `number` on fail with `errno`.
fn refuse_from(number: u32, errno: libc::c_int) -> [sock_filter; 2] {
    [
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, number),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | errno.cast_unsigned()),
    ]
}

/// Makes an instruction that goes on at the next one if it holds, else `skipped_if_false` instructions later.
pub(super) fn instruction(code: u32, skipped_if_false: u8, operand: u32) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf: skipped_if_false, k: operand }
}

/// Makes a rule that matches if all conditions hold: the argument's index, the comparison, the value.
pub(super) fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, String> {
    let conditions = conditions
        .iter()
        .cloned()
        .map(|(argument, operator, value)| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value));

    let rule = conditions.collect::<Result<_, _>>().and_then(SeccompRule::new);
    rule.map_err(|error| error.to_string())
}

/// Compiles a filter that lets the system calls of `rules` fail with `errno`.
fn filter(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, String> {
    let arch = std::env::consts::ARCH.try_into().map_err(|_| "no filter of system calls for this processor")?;
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)
        .map_err(|error| Error::from(error).to_string())?;

    filter.try_into().map_err(|error: seccompiler::BackendError| Error::from(error).to_string())
}
