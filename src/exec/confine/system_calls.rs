//! Tables of the system calls that filters forbid, with their numbers on this processor.

use libc::c_long;

// libc lacks the number for musl on aarch64. Source: include/uapi/asm-generic/unistd.h of Linux.
#[cfg(all(target_arch = "aarch64", target_env = "musl"))]
const KEXEC_FILE_LOAD: c_long = 294;
#[cfg(not(all(target_arch = "aarch64", target_env = "musl")))]
const KEXEC_FILE_LOAD: c_long = libc::SYS_kexec_file_load;

/// System calls that reach other processes, the kernel, or beyond the call. Ordinary commands need none of them.
///
/// `io_uring` is forbidden because a filter does not see the operations in its rings.
pub(super) const FORBIDDEN: &[c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    KEXEC_FILE_LOAD,
    libc::SYS_kexec_load,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
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
    libc::SYS_request_key,
    libc::SYS_sched_setattr,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// System calls that watch files, which Landlock does not cover.
///
/// Programs may use them under their needs and in a cage, since they may read the files.
pub(super) const WATCHES: &[c_long] = &[
    libc::SYS_inotify_add_watch,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    libc::SYS_inotify_init1,
];

/// System calls by which a process leaves the process group and outlives the call.
///
/// Programs may use them under their needs, where the start of a program makes a process group under the filter, and in
/// a cage that leaves nothing to be put back after the end.
pub(super) const GROUPS: &[c_long] = &[libc::SYS_setpgid, libc::SYS_setsid];

/// System calls for queues, semaphores and shared memory of other programs, and for extended attributes of files, which
/// Landlock does not cover.
///
/// Programs may use them in namespaces of their own: what they share is theirs alone there, and files outside of the
/// writable directories are read-only, with their attributes.
pub(super) const SHARED_AND_ATTRIBUTES: &[c_long] = &[
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
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
    libc::SYS_removexattr,
    REMOVEXATTRAT,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_setxattr,
    SETXATTRAT,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];

/// System calls that change permissions, owners and times of files, which Landlock does not govern.
pub(super) const METADATA: &[c_long] = &[
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
pub(super) const FIRST_UNKNOWN: u32 = 470;

/// Requests of `ioctl` that change attributes of a file which is open for reading, or put input into a terminal.
/// Source: Linux, `uapi/linux/fs.h` and `asm-generic/ioctls.h`.
pub(super) const FORBIDDEN_REQUESTS: [u64; 7] = [
    0x4008_6602, // FS_IOC_SETFLAGS
    0x4004_6602, // FS_IOC32_SETFLAGS
    0x401c_5820, // FS_IOC_FSSETXATTR
    0x800c_6613, // FS_IOC_SET_ENCRYPTION_POLICY
    0x4080_6685, // FS_IOC_ENABLE_VERITY
    0x5412,      // TIOCSTI
    0x541c,      // TIOCLINUX
];

/// System calls that reach another process, such as the server, unless the argument at this index is 0.
pub(super) const REACHING_OTHERS: &[(c_long, u8)] = &[
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
pub(super) const NAMESPACE_FLAGS: &[libc::c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Socket families that are allowed with network access. Others, such as Unix sockets, reach programs on this machine.
pub(super) const NETWORK_FAMILIES: &[libc::c_int] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// The bit that marks a system call of the x32 ABI, which repeats the system calls under other numbers.
pub(super) const X32_BIT: u32 = 0x4000_0000;
