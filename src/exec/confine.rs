//! Restricts the system calls and the capabilities of a program in the sandbox, or confined to its needs (seccomp).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use libc::c_long;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
};
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

// libc lacks the number for musl on aarch64. Source: include/uapi/asm-generic/unistd.h of Linux.
#[cfg(all(target_arch = "aarch64", target_env = "musl"))]
const KEXEC_FILE_LOAD: c_long = 294;
#[cfg(not(all(target_arch = "aarch64", target_env = "musl")))]
const KEXEC_FILE_LOAD: c_long = libc::SYS_kexec_file_load;

/// System calls that reach other processes, the kernel, or beyond the call. Ordinary commands need none of them.
///
/// `io_uring` is forbidden because a filter does not see the operations in its rings. `setsid` and `setpgid` are
/// forbidden because a process that leaves the process group outlives the call. Landlock covers neither the queues and
/// semaphores of other programs nor extended attributes and watches of files.
const FORBIDDEN: &[c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_inotify_add_watch,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    KEXEC_FILE_LOAD,
    libc::SYS_kexec_load,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_mq_getsetattr,
    libc::SYS_mq_notify,
    libc::SYS_mq_open,
    libc::SYS_mq_timedreceive,
    libc::SYS_mq_timedsend,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_removexattr,
    REMOVEXATTRAT,
    libc::SYS_request_key,
    libc::SYS_sched_setattr,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    libc::SYS_setxattr,
    SETXATTRAT,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// System calls that programs may use under their needs: to watch files, which they may read, and to leave the process
/// group, which the start of a program does under the filter.
const UNHELD: &[c_long] = &[
    libc::SYS_inotify_add_watch,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
    libc::SYS_setpgid,
    libc::SYS_setsid,
];

/// System calls that change permissions, owners and times of files, which Landlock does not govern.
const METADATA: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    FILE_SETATTR,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
];

// System calls that the C library does not name. They have these numbers on all processors. Source: Linux 6.17,
// `syscall_64.tbl` and `unistd.h`.
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const OPEN_TREE_ATTR: c_long = 467;
const FILE_SETATTR: c_long = 469;

/// The first system call that is newer than the lists here.
const FIRST_UNKNOWN: u32 = 470;

/// Requests of `ioctl` that change attributes of a file which is open for reading, or put input into a terminal.
/// Source: Linux, `uapi/linux/fs.h` and `asm-generic/ioctls.h`.
const REQUESTS: [u64; 7] = [
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4004_6602, // FS_IOC32_SETFLAGS
    0x401c_5820, // FS_IOC_FSSETXATTR
    0x800c_6613, // FS_IOC_SET_ENCRYPTION_POLICY
    0x4080_6685, // FS_IOC_ENABLE_VERITY
    0x5412,      // TIOCSTI
    0x541c,      // TIOCLINUX
];

/// System calls that reach another process, such as the server, unless the argument at this index is 0.
const REACHING_OTHERS: &[(c_long, u8)] = &[
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
    // Any kind but 0, a process, stands for a process group or for all processes of a user.
    (libc::SYS_setpriority, 0),
];

/// Flags of `clone` that make namespaces. A process has privileges in its own namespaces that it lacks outside.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Socket families that are allowed with network access. Others, such as Unix sockets, reach programs on this machine.
const NETWORK_FAMILIES: &[libc::c_int] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The bit that marks a system call of the x32 ABI, which repeats the system calls under other numbers.
const X32_BIT: u32 = 0x4000_0000;

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
}

impl Filter {
    /// Returns the families of sockets that it permits.
    fn families(self) -> Vec<libc::c_int> {
        let (network, local_sockets) = match self {
            Self::Sandbox { network } => (network, false),
            Self::Needs { network, local_sockets, metadata: _ } => (network, local_sockets),
        };
        let families = NETWORK_FAMILIES.iter().copied().filter(|_| network);
        families.chain([libc::AF_UNIX].into_iter().filter(|_| local_sockets)).collect()
    }

    fn permits_metadata(self) -> bool {
        matches!(self, Self::Sandbox { .. } | Self::Needs { metadata: true, .. })
    }

    /// The number of filters.
    pub(super) const COUNT: usize = 10;

    /// Returns its place among all filters.
    pub(super) fn place(self) -> usize {
        match self {
            Self::Sandbox { network } => usize::from(network),
            Self::Needs { network, local_sockets, metadata } => {
                2 + usize::from(network) + 2 * usize::from(local_sockets) + 4 * usize::from(metadata)
            }
        }
    }
}

/// The compiled filters, which take longer to compile than to install.
static COMPILED: [OnceLock<Result<Vec<BpfProgram>, String>>; Filter::COUNT] =
    [const { OnceLock::new() }; Filter::COUNT];

/// Applies the filters to this thread, to the programs that it executes and to its children.
pub(super) fn forbid_system_calls(permitted: Filter) -> Result<(), String> {
    let compiled = COMPILED[permitted.place()].get_or_init(|| compiled(permitted)).as_ref().map_err(Clone::clone)?;
    compiled.iter().try_for_each(|program| seccompiler::apply_filter(program).map_err(|error| error.to_string()))
}

/// Compiles the filters.
fn compiled(permitted: Filter) -> Result<Vec<BpfProgram>, String> {
    let mut rules: Rules = FORBIDDEN.iter().map(|number| (*number, Vec::new())).collect();
    if !permitted.permits_metadata() {
        rules.extend(METADATA.iter().map(|number| (*number, Vec::new())));
    }
    if matches!(permitted, Filter::Needs { .. }) {
        rules.retain(|number, _| !UNHELD.contains(number));
    }
    for (number, argument) in REACHING_OTHERS {
        rules.entry(*number).or_default().push(rule(&[(*argument, SeccompCmpOp::Ne, 0)])?);
    }
    let request = |request: &u64| rule(&[(1, SeccompCmpOp::Eq, *request)]);
    rules.insert(libc::SYS_ioctl, REQUESTS.iter().map(request).collect::<Result<_, _>>()?);
    let namespace = |flag: &libc::c_int| {
        let flag = u64::from(flag.cast_unsigned());
        rule(&[(0, SeccompCmpOp::MaskedEq(flag), flag)])
    };
    rules.insert(libc::SYS_clone, NAMESPACES.iter().map(namespace).collect::<Result<_, _>>()?);
    let families = permitted.families();
    let other: Vec<_> =
        families.iter().map(|family| (0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned()))).collect();
    let sockets = if other.is_empty() { Vec::new() } else { vec![rule(&other)?] };
    rules.insert(libc::SYS_socket, sockets);
    // One of these sockets reaches its pair alone, and the start of a program needs one where `posix_spawn` would not
    // do. Others can send to any Unix socket on this machine: the kernel makes a raw one a datagram socket.
    let connected = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(|kind| u64::from(kind.cast_unsigned()));
    let others = (0..=0xf).filter(|kind| !connected.contains(kind));
    let other = |kind: u64| rule(&[(1, SeccompCmpOp::MaskedEq(0xf), kind)]);
    rules.insert(libc::SYS_socketpair, others.map(other).collect::<Result<_, _>>()?);
    // The flags of `clone3` are in memory, which filters cannot read. After ENOSYS libraries fall back to `clone`.
    let clone = filter(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)?;
    Ok(vec![filter(rules, libc::EPERM)?, clone, other_numbers()])
}

/// Returns the filter for numbers beyond those that the lists know: newer system calls, and those of the x32 ABI, which
/// hardly any program uses.
///
/// A list of the forbidden ones of x32 would double the time that the kernel takes to install a filter. After ENOSYS
/// libraries fall back to older system calls.
fn other_numbers() -> BpfProgram {
    let instruction = |code: u32, jf: u8, k: u32| {
        let code = u16::try_from(code).unwrap_or_default();
        seccompiler::sock_filter { code, jt: 0, jf, k }
    };
    let refuse = |errno: libc::c_int| libc::SECCOMP_RET_ERRNO | errno.cast_unsigned();
    let at_least = |number: u32, errno: libc::c_int| {
        [
            instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, number),
            instruction(libc::BPF_RET | libc::BPF_K, 0, refuse(errno)),
        ]
    };
    // The number is the first field of `seccomp_data`.
    let load = instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0);
    let allow = instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW);
    let x32 = if cfg!(target_arch = "x86_64") { at_least(X32_BIT, libc::EPERM).to_vec() } else { Vec::new() };
    [vec![load], x32, at_least(FIRST_UNKNOWN, libc::ENOSYS).to_vec(), vec![allow]].concat()
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
    let text = |error: Error| error.to_string();
    let arch = std::env::consts::ARCH.try_into().map_err(|_| "no filter of system calls for this processor")?;
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).map_err(|error| text(error.into()))?;
    filter.try_into().map_err(|error: seccompiler::BackendError| text(error.into()))
}

/// Drops all capabilities but `kept`. `no_new_privs`, which Landlock sets, prevents the program from regaining them.
pub(super) fn drop_capabilities(kept: CapabilitySet) -> Result<(), String> {
    let given_up = |error| format!("capabilities cannot be given up: {error}");
    let held = capabilities(None).map_err(given_up)?;
    if held.permitted.is_empty() {
        return Ok(());
    }
    for capability in (CapabilitySet::all() & !kept).iter() {
        // It fails without CAP_SETPCAP. Then `no_new_privs` alone prevents new capabilities.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let kept = held.permitted & kept;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(given_up)
}
