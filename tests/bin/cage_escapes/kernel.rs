//! Attacks on the kernel: namespaces, mounts, capabilities, and what belongs to the whole machine.

use std::fs;

use libc::c_long;

use crate::harness::{
    HERE, Target, Verdict, address, at, attempt, c_path, call, must_fail, must_refuse, open, read, temporary,
};

pub(crate) fn attack(target: &Target) {
    namespaces(target);
    mounts(target);
    capabilities(target);
    machine();
}

fn namespaces(target: &Target) {
    const CLASS: &str = "namespaces";
    for (name, flag) in [
        ("time", 0x80),
        ("mnt", libc::CLONE_NEWNS),
        ("cgroup", libc::CLONE_NEWCGROUP),
        ("uts", libc::CLONE_NEWUTS),
        ("ipc", libc::CLONE_NEWIPC),
        ("user", libc::CLONE_NEWUSER),
        ("pid", libc::CLONE_NEWPID),
        ("net", libc::CLONE_NEWNET),
    ] {
        let flag = c_long::from(flag);
        must_refuse(CLASS, &format!("unshare {name}"), libc::SYS_unshare, &[flag]);
        must_refuse(CLASS, &format!("unshare user and {name}"), libc::SYS_unshare, &[flag | 0x1000_0000]);
        // `clone` takes the lowest bits as a signal.
        if flag != 0x80 {
            must_fail(CLASS, &format!("clone {name}"), || started(libc::SYS_clone, &[flag | 0x11]));
        }
        let mut order = [0_u64; 11];
        (order[0], order[4]) = (flag.cast_unsigned(), 0x11);
        must_fail(CLASS, &format!("clone3 {name}"), || started(libc::SYS_clone3, &[address(&order), 88]));
        for process in ["self", "1", target.text("pid")] {
            must_fail(CLASS, &format!("enter {name} of {process}"), || {
                read(format!("/proc/{process}/ns/{name}")).and_then(|open| call(libc::SYS_setns, &[open, flag]))
            });
        }
    }
    must_fail(CLASS, "enter all of a process", || {
        let process = call(libc::SYS_pidfd_open, &[target.number("pid"), 0])?;
        call(libc::SYS_setns, &[process, libc::CLONE_NEWUSER.into()])
    });
}

/// Starts a child by a system call; the child ends at once.
fn started(number: c_long, arguments: &[c_long]) -> std::io::Result<c_long> {
    let child = call(number, arguments)?;
    if child == 0 {
        std::process::exit(0);
    }
    Ok(child)
}

fn mounts(target: &Target) {
    const CLASS: &str = "mounts";
    let own = temporary("mount");
    let _ = fs::create_dir(&own);
    let [over, outside, secret] = [own, target.path("outside"), target.path("project/.env")].map(c_path);
    let root = address(b"/\0");
    for (name, from, over, kind, flags) in [
        ("bind", at(&outside), at(&over), 0, libc::MS_BIND),
        ("bind of all", root, at(&over), 0, libc::MS_BIND | libc::MS_REC),
        ("memory", 0, at(&over), address(b"tmpfs\0"), 0),
        ("processes", 0, at(&over), address(b"proc\0"), 0),
        ("overlay", 0, at(&over), address(b"overlay\0"), 0),
        ("remount", 0, root, 0, libc::MS_REMOUNT | libc::MS_BIND),
        ("shared", 0, root, 0, libc::MS_SHARED | libc::MS_REC),
        ("move", at(&outside), at(&over), 0, libc::MS_MOVE),
    ] {
        let flags = c_long::try_from(flags).unwrap();
        must_refuse(CLASS, name, libc::SYS_mount, &[from, over, kind, flags, 0]);
    }
    for path in ["/", "/proc", "/sys", "/dev/shm", ".", ".git", "sub"] {
        let gone = c_path(path);
        must_refuse(CLASS, &format!("unmount {path}"), libc::SYS_umount2, &[at(&gone), 2]);
    }
    must_refuse(CLASS, "unmount what hides a secret", libc::SYS_umount2, &[at(&secret), 2]);
    must_refuse(CLASS, "unmount without links", libc::SYS_umount2, &[at(&secret), 8]);
    must_refuse(CLASS, "other root", libc::SYS_pivot_root, &[at(&over), at(&over)]);
    must_refuse(CLASS, "root of this process", libc::SYS_chroot, &[at(&over)]);
    must_refuse(CLASS, "same root", libc::SYS_chroot, &[root]);
    must_refuse(CLASS, "tree", libc::SYS_open_tree, &[HERE, root, 1]);
    must_refuse(CLASS, "tree with attributes", 467, &[HERE, root, 1, address(&[0_u64; 4]), 32]);
    must_fail(CLASS, "move of a tree", || {
        let from = open("/usr", libc::O_PATH)?;
        call(libc::SYS_move_mount, &[from, address(b"\0"), HERE, at(&over), 4])
    });
    must_refuse(CLASS, "file system", libc::SYS_fsopen, &[address(b"tmpfs\0"), 0]);
    must_refuse(CLASS, "mount of a file system", libc::SYS_fsmount, &[0, 0, 0]);
    must_refuse(CLASS, "change of a file system", libc::SYS_fspick, &[HERE, root, 0]);
    must_refuse(CLASS, "setting of a file system", libc::SYS_fsconfig, &[0, 6, 0, 0, 0]);
    must_refuse(CLASS, "attributes", libc::SYS_mount_setattr, &[HERE, root, 0x8000, address(&[0_u64, 1, 0, 0]), 32]);
    must_refuse(CLASS, "swap", libc::SYS_swapon, &[at(&over), 0]);
    must_refuse(CLASS, "end of swap", libc::SYS_swapoff, &[at(&over)]);
    must_refuse(CLASS, "quota", libc::SYS_quotactl, &[0x0080_0001, 0, 0, 0]);
    must_refuse(CLASS, "quota of a descriptor", libc::SYS_quotactl_fd, &[0, 0x0080_0001, 0, 0]);
    must_refuse(CLASS, "watch of all files", libc::SYS_fanotify_init, &[0, 0]);
    must_refuse(CLASS, "names of files", libc::SYS_fanotify_init, &[0x200, 0]);
}

fn capabilities(target: &Target) {
    const CLASS: &str = "capabilities";
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_default().trim().to_owned()
    };
    let names = [("CapInh", 0), ("CapPrm", 0), ("CapEff", 0), ("CapAmb", 0), ("NoNewPrivs", 1), ("Seccomp", 2)];
    for (name, expected) in names {
        attempt(CLASS, name, || match u64::from_str_radix(&value(name), 16) {
            Ok(found) if found == expected => Verdict::Held(value(name)),
            _ => Verdict::Escaped(value(name)),
        });
    }
    let other = c_long::from(target.number("uid") == 0);
    must_refuse(CLASS, "user", libc::SYS_setuid, &[other]);
    must_refuse(CLASS, "users", libc::SYS_setresuid, &[other, other, other]);
    must_refuse(CLASS, "group", libc::SYS_setgid, &[other]);
    must_refuse(CLASS, "groups", libc::SYS_setgroups, &[1, address(&[0_u32])]);
    let header = [0x2008_0522_u32, 0];
    must_refuse(CLASS, "all", libc::SYS_capset, &[address(&header), address(&[u32::MAX; 6])]);
    must_refuse(CLASS, "ambient", libc::SYS_prctl, &[47, 2, 21, 0, 0]);
    must_refuse(CLASS, "new privileges", libc::SYS_prctl, &[38, 0, 0, 0, 0]);
    must_refuse(CLASS, "no filters", libc::SYS_prctl, &[22, 0, 0, 0, 0]);
    must_refuse(CLASS, "secure bits", libc::SYS_prctl, &[28, 0, 0, 0, 0]);
}

/// What belongs to the whole machine. Where an attempt is permitted, it changes nothing.
fn machine() {
    const CLASS: &str = "machine";
    let bytes = [0_u64; 32];
    let (zeros, none) = (address(&bytes), c_path("/no/such/file"));
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    let length = c_long::try_from(name.len()).unwrap();
    let mut time = [0_i64; 2];
    call(libc::SYS_clock_gettime, &[0, std::ptr::from_mut(&mut time) as c_long]).unwrap();
    let moment = [time[0], time[1] / 1000];

    for (name, number, arguments) in [
        ("bpf map", libc::SYS_bpf, vec![0, address(&[0x0000_0004_0000_0002_u64, 0x0000_0001_0000_0004, 0]), 24]),
        ("bpf program", libc::SYS_bpf, vec![5, zeros, 128]),
        ("counters", libc::SYS_perf_event_open, vec![zeros, 0, -1, -1, 0]),
        ("counters of all", libc::SYS_perf_event_open, vec![zeros, -1, 0, -1, 0]),
        ("page faults", libc::SYS_userfaultfd, vec![0]),
        ("page faults of this process", libc::SYS_userfaultfd, vec![1]),
        ("other kernel", libc::SYS_kexec_load, vec![0, 0, 0, 0]),
        ("other kernel by a file", libc::SYS_kexec_file_load, vec![-1, -1, 0, 0, 0]),
        ("module", libc::SYS_init_module, vec![zeros, 0, address(b"\0")]),
        ("module by a file", libc::SYS_finit_module, vec![-1, address(b"\0"), 0]),
        ("end of a module", libc::SYS_delete_module, vec![at(&none), 0x800]),
        ("messages of the kernel", libc::SYS_syslog, vec![3, zeros, 256]),
        ("size of messages", libc::SYS_syslog, vec![10, 0, 0]),
        ("restart by keys", libc::SYS_reboot, vec![0xfee1_dead, 0x2812_1969, 0, 0]),
        ("name", libc::SYS_sethostname, vec![address(name.as_bytes()), length]),
        ("domain", libc::SYS_setdomainname, vec![address(b"(none)"), 6]),
        ("time of day", libc::SYS_settimeofday, vec![address(&moment), 0]),
        ("clock", libc::SYS_clock_settime, vec![0, address(&time)]),
        ("accounting", libc::SYS_acct, vec![at(&none)]),
        ("unknown", 470, vec![]),
        ("unknown and far away", 1000, vec![]),
    ] {
        must_refuse(CLASS, name, number, &arguments);
    }
    #[cfg(target_arch = "x86_64")]
    for (name, number) in [("all ports", libc::SYS_iopl), ("ports", libc::SYS_ioperm)] {
        must_refuse(CLASS, name, number, &[3, 1, 1]);
    }
    attempt("variables", "temporary directory", || {
        let path = std::env::temp_dir();
        let mode =
            fs::metadata(&path).map(|found| std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777);
        match mode {
            Ok(0o700) => Verdict::Held("for its owner alone".to_owned()),
            _ => Verdict::Escaped(format!("{}: {mode:?}", path.display())),
        }
    });
}
