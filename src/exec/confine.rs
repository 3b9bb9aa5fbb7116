//! What a sandboxed program may ask the kernel for: the filter of system calls.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// System calls by which a process reaches into others, into the kernel, or out of its call. None is needed to be a
/// command.
///
/// The calls of `io_uring` are among them because filters do not see what is asked for through its rings; `setsid` and
/// `setpgid` because who leaves the group outlives the call.
const FORBIDDEN: &[c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_mq_open,
    libc::SYS_msgget,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_sched_setattr,
    libc::SYS_semget,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_setpgid,
    libc::SYS_setsid,
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

/// System calls that are about another process unless this argument is 0: the server is one of them.
const ABOUT_OTHERS: &[(c_long, u8)] = &[
    (libc::SYS_ioprio_set, 1),
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
];

/// Flags of `clone` that make namespaces, in which a process has powers that it has not outside.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Kinds of sockets that stay on the network where there is one: those of this machine lead to its other programs.
const NETWORK_FAMILIES: &[libc::c_int] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The bit that marks a system call of the x32 ABI, which has the same calls under other numbers.
const X32_BIT: c_long = 0x4000_0000;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Applies the filters to this process and all that it becomes and starts.
pub(super) fn forbid_system_calls(network: bool) -> Result<(), String> {
    let mut rules: Rules = FORBIDDEN.iter().map(|number| (*number, Vec::new())).collect();
    for (number, argument) in ABOUT_OTHERS {
        rules.insert(*number, vec![rule(&[(*argument, SeccompCmpOp::Ne, 0)])?]);
    }
    let makes = |flag: &libc::c_int| {
        let flag = u64::from(flag.cast_unsigned());
        rule(&[(0, SeccompCmpOp::MaskedEq(flag), flag)])
    };
    rules.insert(libc::SYS_clone, NAMESPACES.iter().map(makes).collect::<Result<_, _>>()?);
    let other = NETWORK_FAMILIES.iter().map(|family| (0, SeccompCmpOp::Ne, u64::from(family.cast_unsigned())));
    let sockets = if network { vec![rule(&other.collect::<Vec<_>>())?] } else { Vec::new() };
    rules.insert(libc::SYS_socket, sockets);
    // A pair of datagram sockets can send to any other of this machine.
    let datagram = u64::from(libc::SOCK_DGRAM.cast_unsigned());
    rules.insert(libc::SYS_socketpair, vec![rule(&[(1, SeccompCmpOp::MaskedEq(0xf), datagram)])?]);
    apply(rules, libc::EPERM)?;
    // What `clone3` is asked for stands in memory, which no filter sees. Libraries fall back to `clone`.
    apply(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS)
}

/// Matches if all conditions hold: an argument's number, the comparison, the value.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, String> {
    let conditions = conditions
        .iter()
        .cloned()
        .map(|(argument, operator, value)| SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value));
    let rule = conditions.collect::<Result<_, _>>().and_then(SeccompRule::new);
    rule.map_err(|error| error.to_string())
}

fn apply(rules: Rules, errno: libc::c_int) -> Result<(), String> {
    let text = |error: Error| error.to_string();
    let x32: Rules = if cfg!(target_arch = "x86_64") {
        rules.iter().map(|(number, rules)| (number | X32_BIT, rules.clone())).collect()
    } else {
        Rules::new()
    };
    let arch = std::env::consts::ARCH.try_into().map_err(|_| "no filter of system calls for this processor")?;
    let refuse = SeccompAction::Errno(errno.cast_unsigned());
    let all = rules.into_iter().chain(x32).collect();
    let filter = SeccompFilter::new(all, SeccompAction::Allow, refuse, arch).map_err(|error| text(error.into()))?;
    let program: BpfProgram = filter.try_into().map_err(|error: seccompiler::BackendError| text(error.into()))?;
    seccompiler::apply_filter(&program).map_err(text)
}
