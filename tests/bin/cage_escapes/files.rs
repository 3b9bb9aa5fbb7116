//! Attacks on files: those outside of the project, secrets, and what programs outside load.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use libc::c_long;

use crate::harness::{
    HERE, Target, Verdict, address, at, attempt, c_path, call, must_fail, must_refuse, open, read, refused, temporary,
    write,
};

/// What no cage may show, below the directory of the test.
const SECRETS: [&str; 19] = [
    "project/.env",
    "project/.env.local",
    "project/sub/.env",
    "project/sub/server.pem",
    "project/server.pem",
    "project/id_ed25519",
    "project/.npmrc",
    "project/conf/prod.env",
    "home/.ssh/id_ed25519",
    "home/.aws/credentials",
    "home/.netrc",
    "home/.cargo/credentials.toml",
    "home/.docker/config.json",
    "home/.kube/config",
    "home/.gnupg/private",
    "home/.git-credentials",
    "home/.bash_history",
    "home/.m2/settings.xml",
    "home/notes",
];

pub(crate) fn attack(target: &Target) {
    read_outside(target);
    change_outside(target);
    read_secrets(target);
    write_outside(target);
    if target.is_workspace() {
        change_protected(target);
    } else {
        change_project(target);
    }
    devices();
}

/// The verdict on the content of a file: it must not be seen.
fn hidden(result: io::Result<Vec<u8>>) -> Verdict {
    match result {
        Ok(bytes) if bytes.is_empty() => Verdict::Held("empty".to_owned()),
        Ok(bytes) => Verdict::Escaped(String::from_utf8_lossy(&bytes).chars().take(40).collect()),
        Err(error) => Verdict::Held(error.to_string()),
    }
}

fn must_hide(class: &str, name: &str, path: impl AsRef<Path>) {
    attempt(class, name, || hidden(fs::read(path)));
}

/// The path by which a descriptor is opened again.
fn reopened(descriptor: c_long) -> PathBuf {
    format!("/proc/self/fd/{descriptor}").into()
}

fn read_outside(target: &Target) {
    const CLASS: &str = "files";
    let file = target.path("outside/file");
    let dir = target.path("outside");
    let from_root = file.strip_prefix("/").unwrap();

    must_hide(CLASS, "direct", &file);
    must_hide(CLASS, "parent", "../outside/file");
    must_hide(CLASS, "parent of a directory", "sub/../../outside/file");
    must_hide(CLASS, "root of this process", Path::new("/proc/self/root").join(from_root));
    must_hide(CLASS, "root of this thread", Path::new("/proc/thread-self/root").join(from_root));
    must_hide(CLASS, "directory of this process", "/proc/self/cwd/../outside/file");
    must_hide(CLASS, "link that was there", "link-to-file");
    must_hide(CLASS, "link to a directory that was there", "link-to-dir/file");
    must_hide(CLASS, "link on the search path", "path/file");
    attempt(CLASS, "link that is made", || {
        symlink(&file, temporary("made-link")).unwrap();
        hidden(fs::read(temporary("made-link")))
    });
    attempt(CLASS, "descriptor of a directory", || {
        let directory = open(&dir, libc::O_PATH | libc::O_DIRECTORY);
        refused(directory.and_then(|dir| call(libc::SYS_openat, &[dir, address(b"file\0"), 0])))
    });
    must_fail(CLASS, "descriptor of a path", || open(&file, libc::O_PATH).and_then(|open| read(reopened(open))));
    must_fail(CLASS, "change of directory", || std::env::set_current_dir(&dir).and_then(|()| read("file")));
    for (name, resolve) in [("plain", 0_u64), ("without links", 4), ("in root", 0x10)] {
        attempt(CLASS, &format!("openat2 {name}"), || {
            let root = open("/", libc::O_PATH).unwrap();
            let path = c_path(from_root);
            refused(call(libc::SYS_openat2, &[root, at(&path), address(&[0, 0, resolve]), 24]))
        });
    }
    must_fail(CLASS, "list", || fs::read_dir(&dir));
    must_fail(CLASS, "list the home directory", || fs::read_dir(target.path("home")));
    must_fail(CLASS, "list what surrounds the project", || fs::read_dir(target.path("")));
    attempt(CLASS, "handle", || {
        // `struct file_handle`: the size of the handle, its kind, and the handle.
        let mut handle = [0_u32; 34];
        handle[0] = 128;
        let (path, mount) = (c_path(&file), 0_u64);
        let named = call(libc::SYS_name_to_handle_at, &[HERE, at(&path), address(&handle), address(&mount), 0]);
        let mount = read("/usr").unwrap();
        refused(named.and_then(|_| call(libc::SYS_open_by_handle_at, &[mount, address(&handle), 0])))
    });
    must_fail(CLASS, "execute", || std::process::Command::new(target.path("outside/program")).status());
    must_fail(CLASS, "execute a descriptor", || {
        let (none, flags) = ([0_u64; 1], c_long::from(libc::AT_EMPTY_PATH));
        open(target.path("outside/program"), libc::O_PATH)
            .and_then(|open| call(libc::SYS_execveat, &[open, address(b"\0"), address(&none), address(&none), flags]))
    });
    for name in ["cwd/outside/file", "root/etc/passwd", "fd/0", "exe"] {
        let path = format!("/proc/{}/{name}", target.text("pid"));
        must_fail(CLASS, &format!("{name} of a process outside"), || read(path));
    }
    must_hide(CLASS, "directory of init", "/proc/1/cwd/../outside/file");
    must_hide(CLASS, "root of init", Path::new("/proc/1/root").join(from_root));
    for number in 0..8 {
        must_fail(CLASS, &format!("descriptor {number} of init"), || write(format!("/proc/1/fd/{number}")));
    }
    must_fail(CLASS, "memory of init", || read("/proc/1/mem"));
    if target.has_namespaces() {
        attempt(CLASS, "words of init", || {
            // They hold the word by which messages of the cage are told from those of programs.
            let words = fs::read("/proc/1/cmdline").unwrap_or_default();
            let is_secret = |word: &[u8]| word.len() == 32 && word.iter().all(u8::is_ascii_hexdigit);
            let is_order = words.split(|byte| *byte == 0).any(|word| is_secret(word) || word.contains(&b'='));
            if is_order { Verdict::Escaped("an order".to_owned()) } else { Verdict::Held("no order".to_owned()) }
        });
    }
}

fn change_outside(target: &Target) {
    const CLASS: &str = "changes";
    let file = target.path("outside/file");
    let dir = target.path("outside");
    let own = temporary("own");
    let (c_file, c_own) = (c_path(&file), c_path(&own));
    let (path, own_path) = (at(&c_file), at(&c_own));

    fs::write(&own, "own").unwrap();
    must_fail(CLASS, "write", || write(&file));
    must_fail(CLASS, "append", || open(&file, libc::O_WRONLY | libc::O_APPEND));
    must_fail(CLASS, "truncate by open", || open(&file, libc::O_RDONLY | libc::O_TRUNC));
    must_refuse(CLASS, "truncate", libc::SYS_truncate, &[path, 0]);
    must_fail(CLASS, "create", || open(dir.join("new"), libc::O_WRONLY | libc::O_CREAT));
    must_fail(CLASS, "unnamed file", || open(&dir, libc::O_TMPFILE | libc::O_WRONLY));
    must_fail(CLASS, "make a directory", || fs::create_dir(dir.join("new")));
    must_fail(CLASS, "make a link", || symlink("/", dir.join("new")));
    must_fail(CLASS, "remove", || fs::remove_file(&file));
    must_fail(CLASS, "remove a directory", || fs::remove_dir(dir.join("empty")));
    must_fail(CLASS, "rename in place", || fs::rename(&file, dir.join("other")));
    must_fail(CLASS, "rename to here", || fs::rename(&file, temporary("taken")));
    must_fail(CLASS, "rename to there", || fs::rename(&own, dir.join("given")));
    must_refuse(CLASS, "exchange", libc::SYS_renameat2, &[HERE, own_path, HERE, path, 2]);
    must_refuse(CLASS, "rename with a whiteout", libc::SYS_renameat2, &[HERE, path, HERE, own_path, 4]);
    must_fail(CLASS, "hard link to here", || fs::hard_link(&file, temporary("hard")));
    must_fail(CLASS, "hard link to there", || fs::hard_link(&own, dir.join("hard")));
    let hard = c_path(temporary("hard-descriptor"));
    must_fail(CLASS, "hard link of a descriptor", || {
        let flags = c_long::from(libc::AT_EMPTY_PATH);
        open(&file, libc::O_PATH)
            .and_then(|open| call(libc::SYS_linkat, &[open, address(b"\0"), HERE, at(&hard), flags]))
    });
    must_fail(CLASS, "hard link by proc", || {
        let flags = c_long::from(libc::AT_SYMLINK_FOLLOW);
        let from = c_path(reopened(open(&file, libc::O_PATH)?));
        call(libc::SYS_linkat, &[HERE, at(&from), HERE, at(&hard), flags])
    });
    must_refuse(CLASS, "mode", libc::SYS_fchmodat, &[HERE, path, 0o777]);
    must_refuse(CLASS, "mode by fchmodat2", 452, &[HERE, path, 0o777]);
    must_fail(CLASS, "mode by a descriptor", || {
        let again = c_path(reopened(open(&file, libc::O_PATH)?));
        call(libc::SYS_fchmodat, &[HERE, at(&again), 0o777])
    });
    must_refuse(CLASS, "owner", libc::SYS_fchownat, &[HERE, path, target.number("uid"), target.number("gid"), 0]);
    must_refuse(CLASS, "times", libc::SYS_utimensat, &[HERE, path, 0, 0]);
    #[cfg(target_arch = "x86_64")]
    for (name, number) in [("chmod", libc::SYS_chmod), ("utime", libc::SYS_utime), ("utimes", libc::SYS_utimes)] {
        must_refuse(CLASS, &format!("old {name}"), number, &[path, 0]);
    }
    let attribute = [path, address(b"user.climax\0"), address(b"x"), 1];
    must_refuse(CLASS, "extended attribute", libc::SYS_setxattr, &attribute);
    must_refuse(CLASS, "extended attribute of a link", libc::SYS_lsetxattr, &attribute);
    must_refuse(CLASS, "removed attribute", libc::SYS_removexattr, &attribute);
    must_fail(CLASS, "flags of a file", || {
        read("kept").and_then(|open| call(libc::SYS_ioctl, &[open, 0x4008_6602, address(&0x20_u64)]))
    });
    let kinds =
        [("pipe", libc::S_IFIFO), ("file", libc::S_IFREG), ("socket", libc::S_IFSOCK), ("device", libc::S_IFCHR)];
    for (name, kind) in kinds {
        let node = c_path(dir.join("node"));
        must_refuse(CLASS, &format!("node of a {name}"), libc::SYS_mknodat, &[HERE, at(&node), mode(kind), 0x103]);
    }
    for (name, kind, device) in [("disk", libc::S_IFBLK, 0xfe00), ("memory", libc::S_IFCHR, 0x101)] {
        let node = c_path(temporary(name));
        must_refuse(CLASS, &format!("own node of {name}"), libc::SYS_mknodat, &[HERE, at(&node), mode(kind), device]);
    }
    // All that mount `/proc` share its entries, and root owns them. The mode is the usual one, so nothing is harmed.
    for (entry, mode) in [("/proc/version", 0o444), ("/sys/kernel/uevent_seqnum", 0o444), ("/dev/zero", 0o666)] {
        let entry_path = c_path(entry);
        must_refuse(CLASS, &format!("mode of {entry}"), libc::SYS_fchmodat, &[HERE, at(&entry_path), mode]);
    }
}

/// A kind of file, with rights for its owner.
fn mode(kind: libc::mode_t) -> c_long {
    c_long::from(kind) | 0o600
}

fn read_secrets(target: &Target) {
    const CLASS: &str = "secrets";
    for name in SECRETS {
        must_hide(CLASS, name, target.path(name));
    }
    for name in ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssl/private", "/etc/security/opasswd"] {
        must_hide(CLASS, name, name);
    }
    let project = target.path("project");
    let secret = project.join(".env");
    must_hide(CLASS, "link to a secret", "alias");
    must_hide(CLASS, "what a link with the name of a secret leads to", "real-settings");
    must_hide(CLASS, "secret by proc", "/proc/self/cwd/.env");
    must_hide(CLASS, "secret in a directory whose name is no text", OsStr::from_bytes(b"dir-\xff/.env"));
    attempt(CLASS, "secret by a descriptor of its directory", || {
        let open = open(&project, libc::O_PATH).and_then(|dir| call(libc::SYS_openat, &[dir, address(b".env\0"), 0]));
        hidden(open.and_then(|open| fs::read(reopened(open))))
    });
    for (name, changed) in [("a secret", secret.as_path()), ("what hides a secret", Path::new("/dev/shm/.hidden-file"))]
    {
        attempt(CLASS, &format!("mode of {name}"), || {
            let changed = c_path(changed);
            let _ = call(libc::SYS_fchmodat, &[HERE, at(&changed), 0o666]);
            hidden(fs::read(&secret))
        });
    }
    attempt(CLASS, "rename of a secret", || {
        hidden(fs::rename(&secret, project.join("plain")).and_then(|()| fs::read(project.join("plain"))))
    });
    attempt(CLASS, "hard link of a secret", || {
        hidden(fs::hard_link(&secret, project.join("hard")).and_then(|()| fs::read(project.join("hard"))))
    });
    // The next call looks for secrets one level below the top, and would not find it.
    must_fail(CLASS, "rename of a directory with a secret", || fs::rename(project.join("sub"), project.join("moved")));
    must_fail(CLASS, "directory with a secret into another", || {
        fs::rename(project.join("sub"), project.join("conf/sub"))
    });
    let (sub, conf) = (c_path("sub"), c_path("src"));
    must_refuse(CLASS, "exchange of directories", libc::SYS_renameat2, &[HERE, at(&sub), HERE, at(&conf), 2]);
    must_fail(CLASS, "removal of a secret", || fs::remove_file(&secret));
    must_fail(CLASS, "change of a secret", || write(&secret));
}

fn write_outside(target: &Target) {
    const CLASS: &str = "writes";
    for name in [".bashrc", ".profile", ".ssh/authorized_keys", ".config/x", ".cargo/bin/cargo", ".local/bin/git"] {
        let path = target.path("home").join(name);
        must_fail(CLASS, name, || open(&path, libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND));
    }
    for directory in
        ["/", "/etc", "/usr/bin", "/usr/lib", "/tmp", "/var/tmp", "/opt", "/root", "/boot", "/run", "/home"]
    {
        let path = Path::new(directory).join("climax-cage-probe");
        must_fail(CLASS, directory, || open(&path, libc::O_WRONLY | libc::O_CREAT));
    }
    for file in [
        "/proc/sysrq-trigger",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sys/kernel/modprobe",
        "/proc/sys/vm/drop_caches",
        "/proc/sys/fs/binfmt_misc/register",
        "/proc/self/uid_map",
        "/proc/self/oom_score_adj",
        "/proc/1/oom_score_adj",
        "/sys/kernel/uevent_helper",
        "/sys/power/state",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ] {
        must_fail(CLASS, file, || write(file));
    }
    for file in ["cgroup.procs", "unified/cgroup.procs", "memory/cgroup.procs", "memory/release_agent"] {
        must_fail("cgroups", file, || write(Path::new("/sys/fs/cgroup").join(file)));
    }
    must_fail("cgroups", "new", || fs::create_dir("/sys/fs/cgroup/climax-cage-probe"));
    for (name, resource, most) in [("size of a file", 1, 1 << 30), ("dump", 4, 0)] {
        attempt("bounds", name, || {
            let mut limits = [u64::MAX; 2];
            let to = std::ptr::from_mut(&mut limits) as c_long;
            call(libc::SYS_prlimit64, &[0, resource, 0, to]).unwrap();
            let detail = format!("{limits:?} bytes");
            if limits.iter().all(|limit| *limit <= most) { Verdict::Held(detail) } else { Verdict::Escaped(detail) }
        });
        must_refuse(
            "bounds",
            &format!("higher {name}"),
            libc::SYS_prlimit64,
            &[0, resource, address(&[u64::MAX; 2]), 0],
        );
    }
}

/// Changes of a project that may be read alone.
fn change_project(target: &Target) {
    const CLASS: &str = "project";
    let project = target.path("project");
    let kept = c_path(project.join("kept"));
    let path = at(&kept);
    must_fail(CLASS, "write", || write(project.join("kept")));
    must_fail(CLASS, "create", || open(project.join("new"), libc::O_WRONLY | libc::O_CREAT));
    must_fail(CLASS, "unnamed file", || open(&project, libc::O_TMPFILE | libc::O_WRONLY));
    must_fail(CLASS, "remove", || fs::remove_file(project.join("kept")));
    must_fail(CLASS, "rename", || fs::rename(project.join("kept"), project.join("other")));
    must_fail(CLASS, "make a directory", || fs::create_dir(project.join("new")));
    must_fail(CLASS, "make a link", || symlink("/", project.join("new")));
    must_fail(CLASS, "hook", || open(project.join(".git/hooks/new"), libc::O_WRONLY | libc::O_CREAT));
    must_fail(CLASS, "config", || write(project.join(".git/config")));
    must_refuse(CLASS, "truncate", libc::SYS_truncate, &[path, 0]);
    must_refuse(CLASS, "mode", libc::SYS_fchmodat, &[HERE, path, 0o777]);
    must_refuse(CLASS, "times", libc::SYS_utimensat, &[HERE, path, 0, 0]);
    must_refuse(CLASS, "attribute", libc::SYS_setxattr, &[path, address(b"user.x\0"), address(b"x"), 1]);
    must_fail(CLASS, "mode by a descriptor", || read("kept").and_then(|open| call(libc::SYS_fchmod, &[open, 0o777])));
    must_fail(CLASS, "write by proc", || read("kept").and_then(|open| write(reopened(open))));
}

/// Changes of what programs outside load, in a project that may be written.
fn change_protected(target: &Target) {
    const CLASS: &str = "protected";
    let project = target.path("project");
    let inside = |name: &str| project.join(name);
    attempt(CLASS, "the rest may be written", || match fs::write(inside("made"), "made") {
        Ok(()) => Verdict::Held("written, as it should".to_owned()),
        Err(error) => Verdict::Escaped(format!("the cage is too narrow: {error}")),
    });
    for name in [".git/hooks/post-checkout", ".git/new", ".vscode/tasks.json", ".claude/new"] {
        must_fail(CLASS, &format!("create {name}"), || open(inside(name), libc::O_WRONLY | libc::O_CREAT));
    }
    for name in [".git/config", ".git/hooks/pre-commit", ".envrc", ".vscode/settings.json", ".mcp.json"] {
        must_fail(CLASS, &format!("write {name}"), || write(inside(name)));
        must_fail(CLASS, &format!("remove {name}"), || fs::remove_file(inside(name)));
        let path = c_path(inside(name));
        must_refuse(CLASS, &format!("mode of {name}"), libc::SYS_fchmodat, &[HERE, at(&path), 0o777]);
        must_refuse(CLASS, &format!("times of {name}"), libc::SYS_utimensat, &[HERE, at(&path), 0, 0]);
    }
    for name in [".git", ".vscode", ".envrc", ".mcp.json", ".claude"] {
        must_fail(CLASS, &format!("rename {name}"), || fs::rename(inside(name), inside("away")));
        let (path, made) = (c_path(inside(name)), c_path(inside("made")));
        must_refuse(CLASS, &format!("exchange {name}"), libc::SYS_renameat2, &[HERE, at(&made), HERE, at(&path), 2]);
    }
    must_fail(CLASS, "rename over .envrc", || fs::rename(inside("made"), inside(".envrc")));
    must_fail(CLASS, "hard link of .git/config", || fs::hard_link(inside(".git/config"), inside("config")));
    must_fail(CLASS, "hard link as a hook", || fs::hard_link(inside("made"), inside(".git/hooks/new")));
    must_fail(CLASS, "link over .envrc", || symlink(inside("made"), inside(".envrc")));
    must_fail(CLASS, "write by a link", || symlink(".git/config", inside("by-link")).and_then(|()| write("by-link")));
    must_fail(CLASS, "write by proc", || read(inside(".git/config")).and_then(|open| write(reopened(open))));
    must_fail(CLASS, "rename of the project", || fs::rename(&project, target.path("other")));
    must_fail(CLASS, "unnamed file in .git", || open(inside(".git"), libc::O_TMPFILE | libc::O_WRONLY));
}

fn devices() {
    for name in [
        "vda",
        "sda",
        "nvme0n1",
        "mem",
        "port",
        "kmsg",
        "kvm",
        "fuse",
        "loop-control",
        "loop0",
        "uinput",
        "input/event0",
        "net/tun",
        "vhost-net",
        "vsock",
        "userfaultfd",
        "btrfs-control",
        "autofs",
        "snapshot",
        "rtc0",
        "watchdog",
        "cpu_dma_latency",
        "zram0",
        "dri/card0",
        "hwrng",
        "cpu/0/msr",
        "vcs",
        "vga_arbiter",
        "mapper/control",
        "nvram",
    ] {
        must_fail("devices", name, || read(Path::new("/dev").join(name)));
    }
    for name in ["tty", "tty0", "tty1", "ttyS0", "console", "ptmx", "pts/ptmx", "pts/0"] {
        must_fail("terminals", name, || read(Path::new("/dev").join(name)));
    }
}
