//! Attacks on processes outside, on what they share, and on the end of the cage.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use libc::c_long;

use crate::harness::{Target, Verdict, address, attempt, call, fork, must_fail, must_refuse, read, wait, write};

/// The name of the message queue outside.
const QUEUE: &[u8] = b"climax-cage-attack\0";

pub(crate) fn attack(target: &Target) {
    signals(target);
    memory(target);
    scheduling(target);
    shared(target);
    programs(target);
}

fn pidfd(process: c_long) -> io::Result<c_long> {
    call(libc::SYS_pidfd_open, &[process, 0])
}

/// Sends signals that change nothing where they arrive.
fn signals(target: &Target) {
    const CLASS: &str = "signals";
    let signal = c_long::from(libc::SIGURG);
    // `siginfo_t` of `sigqueue`: the signal, an error, and the code.
    let mut information = [0_i32; 32];
    (information[0], information[2]) = (libc::SIGURG, -1);
    let information = address(&information);

    for (name, process) in [("outside", target.number("pid")), ("init", 1), ("test", target.number("test"))] {
        must_refuse(CLASS, &format!("none to {name}"), libc::SYS_kill, &[process, 0]);
        must_refuse(CLASS, &format!("kill {name}"), libc::SYS_kill, &[process, signal]);
        must_refuse(CLASS, &format!("tkill {name}"), libc::SYS_tkill, &[process, signal]);
        must_refuse(CLASS, &format!("tgkill {name}"), libc::SYS_tgkill, &[process, process, signal]);
        must_refuse(CLASS, &format!("queued to {name}"), libc::SYS_rt_sigqueueinfo, &[process, signal, information]);
        must_refuse(
            CLASS,
            &format!("queued to thread of {name}"),
            libc::SYS_rt_tgsigqueueinfo,
            &[process, process, signal, information],
        );
        must_fail(CLASS, &format!("descriptor of {name}"), || {
            pidfd(process).and_then(|open| call(libc::SYS_pidfd_send_signal, &[open, signal, 0, 0]))
        });
        must_fail(CLASS, &format!("directory of {name}"), || {
            read(format!("/proc/{process}")).and_then(|open| call(libc::SYS_pidfd_send_signal, &[open, signal, 0, 0]))
        });
    }
    must_refuse(CLASS, "group outside", libc::SYS_kill, &[-target.number("pid"), signal]);
}

fn memory(target: &Target) {
    const CLASS: &str = "tracing";
    let process = target.number("pid");
    let bytes = [0_u64; 8];
    let parts = [address(&bytes), 64];
    for (name, request) in [("attach", 16), ("seize", 0x4206), ("interrupt", 0x4207), ("look", 1), ("change", 4)] {
        must_refuse(CLASS, name, libc::SYS_ptrace, &[request, process, 0, 0]);
    }
    must_refuse(CLASS, "be traced", libc::SYS_ptrace, &[0, 0, 0, 0]);
    must_refuse(CLASS, "read", libc::SYS_process_vm_readv, &[process, address(&parts), 1, address(&parts), 1, 0]);
    must_refuse(CLASS, "write", libc::SYS_process_vm_writev, &[process, address(&parts), 1, address(&parts), 1, 0]);
    must_fail(CLASS, "descriptor", || pidfd(process).and_then(|open| call(libc::SYS_pidfd_getfd, &[open, 0, 0])));
    must_fail(CLASS, "advice", || {
        pidfd(process).and_then(|open| call(libc::SYS_process_madvise, &[open, address(&parts), 1, 20, 0]))
    });
    must_refuse(CLASS, "compare", libc::SYS_kcmp, &[process, process, 0, 0, 0]);
    must_refuse(CLASS, "locks", libc::SYS_get_robust_list, &[process, address(&bytes), address(&bytes)]);
    must_refuse(CLASS, "pages", libc::SYS_move_pages, &[process, 0, 0, 0, 0, 0]);
    must_refuse(CLASS, "counters", libc::SYS_perf_event_open, &[address(&[0_u64; 16]), process, -1, -1, 0]);
    for name in
        ["mem", "environ", "maps", "smaps", "auxv", "pagemap", "syscall", "stack", "personality", "io", "ns/mnt"]
    {
        attempt(CLASS, &format!("proc {name}"), || match fs::read(format!("/proc/{process}/{name}")) {
            Ok(bytes) => Verdict::Escaped(format!("{} bytes", bytes.len())),
            Err(error) => Verdict::Held(error.to_string()),
        });
    }
    for name in ["mem", "clear_refs", "oom_score_adj", "comm", "autogroup", "timerslack_ns", "attr/current"] {
        must_fail(CLASS, &format!("proc change {name}"), || write(format!("/proc/{process}/{name}")));
    }
    // Their numbers are in directories that their owner may list. What they lead to is not.
    for number in 0..3 {
        must_fail(CLASS, &format!("proc link of {number}"), || fs::read_link(format!("/proc/{process}/fd/{number}")));
        must_fail(CLASS, &format!("proc state of {number}"), || fs::read(format!("/proc/{process}/fdinfo/{number}")));
    }
    attempt(CLASS, "proc map_files", || {
        let found = fs::read_dir(format!("/proc/{process}/map_files"));
        let found = found.and_then(|mut entries| entries.next().transpose());
        match found {
            Ok(Some(entry)) => Verdict::Escaped(entry.file_name().display().to_string()),
            Ok(None) => Verdict::Held("none".to_owned()),
            Err(error) => Verdict::Held(error.to_string()),
        }
    });
    for name in ["mem", "environ", "maps", "auxv"] {
        must_fail(CLASS, &format!("init {name}"), || fs::read(format!("/proc/1/{name}")));
    }
}

fn scheduling(target: &Target) {
    const CLASS: &str = "scheduling";
    let process = target.number("pid");
    let bytes = [0_u64; 8];
    let value = address(&bytes);
    must_refuse(CLASS, "limits", libc::SYS_prlimit64, &[process, 7, 0, value]);
    must_refuse(CLASS, "change of limits", libc::SYS_prlimit64, &[process, 7, address(&[64_u64, 64]), 0]);
    must_refuse(CLASS, "processors", libc::SYS_sched_setaffinity, &[process, 8, address(&[u64::MAX])]);
    must_refuse(CLASS, "policy", libc::SYS_sched_setscheduler, &[process, 0, value]);
    must_refuse(CLASS, "parameters", libc::SYS_sched_setparam, &[process, value]);
    must_refuse(CLASS, "attributes", libc::SYS_sched_setattr, &[process, address(&[48_u64, 0, 0, 0, 0, 0]), 0]);
    must_refuse(CLASS, "real time", libc::SYS_sched_setscheduler, &[0, 1, address(&[1_i32])]);
    must_refuse(CLASS, "priority", libc::SYS_setpriority, &[0, process, 0]);
    must_refuse(CLASS, "priority of a group", libc::SYS_setpriority, &[1, process, 0]);
    must_refuse(CLASS, "priority of a user", libc::SYS_setpriority, &[2, target.number("uid"), 0]);
    must_refuse(CLASS, "own priority raised", libc::SYS_setpriority, &[0, 0, -5]);
    must_refuse(CLASS, "input and output", libc::SYS_ioprio_set, &[1, process, 0]);
    must_refuse(CLASS, "input and output of a user", libc::SYS_ioprio_set, &[3, target.number("uid"), 0x4000]);
    must_refuse(CLASS, "group of a process", libc::SYS_setpgid, &[process, 0]);
    must_refuse(CLASS, "memory of a process", libc::SYS_migrate_pages, &[process, 1, value, value]);
}

/// What processes outside share with others.
fn shared(target: &Target) {
    const CLASS: &str = "shared";
    let [memory, queue, locks] = ["shm", "msg", "sem"].map(|name| target.number(name));
    let bytes = [0_u64; 32];
    must_refuse(CLASS, "memory", libc::SYS_shmat, &[memory, 0, 0]);
    must_refuse(CLASS, "memory by its key", libc::SYS_shmget, &[target.number("key"), 0, 0]);
    must_refuse(CLASS, "state of memory", libc::SYS_shmctl, &[memory, 2, address(&bytes)]);
    must_refuse(CLASS, "end of memory", libc::SYS_shmctl, &[memory, 0, 0]);
    must_refuse(CLASS, "queue by its key", libc::SYS_msgget, &[target.number("key"), 0]);
    must_refuse(CLASS, "message", libc::SYS_msgsnd, &[queue, address(&[1_u64, 1]), 8, 0x800]);
    must_refuse(CLASS, "message of others", libc::SYS_msgrcv, &[queue, address(&bytes), 8, 0, 0x800]);
    must_refuse(CLASS, "end of a queue", libc::SYS_msgctl, &[queue, 0, 0]);
    must_refuse(CLASS, "locks by their key", libc::SYS_semget, &[target.number("key"), 0, 0]);
    must_refuse(CLASS, "lock", libc::SYS_semop, &[locks, address(&[0_u16, 1, 0x800]), 1]);
    must_refuse(CLASS, "end of locks", libc::SYS_semctl, &[locks, 0, 0]);
    must_refuse(CLASS, "queue by its name", libc::SYS_mq_open, &[address(QUEUE), 0, 0, 0]);
    must_refuse(CLASS, "end of a named queue", libc::SYS_mq_unlink, &[address(QUEUE)]);
    let file = target.text("memory-file");
    must_fail(CLASS, "memory file", || read(file));
    must_fail(CLASS, "change of a memory file", || write(file));
    must_fail(CLASS, "end of a memory file", || fs::remove_file(file));
    for (name, keyring) in [("thread", -1), ("process", -2), ("session", -3), ("user", -4)] {
        let key = [address(b"user\0"), address(b"climax\0"), address(b"x"), 1, keyring];
        must_refuse("keys", &format!("new in {name}"), libc::SYS_add_key, &key);
        must_refuse("keys", &format!("of {name}"), libc::SYS_keyctl, &[0, keyring, 1]);
    }
    must_refuse("keys", "request", libc::SYS_request_key, &[address(b"user\0"), address(b"climax\0"), 0, -3]);
    must_refuse("keys", "join", libc::SYS_keyctl, &[1, 0]);
}

/// Ways to start programs that no list of files names: they may run, and stay in the cage.
fn programs(target: &Target) {
    const CLASS: &str = "programs";
    let file = target.path("outside/file");
    let stays = |command: &mut Command| match command.status() {
        Ok(status) if status.success() => Verdict::Escaped("left the cage".to_owned()),
        Ok(status) => Verdict::Held(status.to_string()),
        Err(error) => Verdict::Held(error.to_string()),
    };
    attempt(CLASS, "memory", || {
        let open = call(libc::SYS_memfd_create, &[address(b"program\0"), 0]).unwrap();
        let path = format!("/proc/self/fd/{open}");
        fs::write(&path, fs::read("/proc/self/exe").unwrap()).unwrap();
        stays(Command::new(path).arg("try").arg(&file))
    });
    attempt(CLASS, "loader", || {
        let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
        let loader = loaders.into_iter().find(|path| Path::new(path).exists()).unwrap_or("/no/loader");
        stays(Command::new(loader).arg(std::env::current_exe().unwrap()).arg("try").arg(&file))
    });
    attempt(CLASS, "copy", || {
        let copy = crate::harness::temporary("copy");
        let new = fs::OpenOptions::new().write(true).create_new(true).mode(0o700).open(&copy);
        io::Write::write_all(&mut new.unwrap(), &fs::read("/proc/self/exe").unwrap()).unwrap();
        stays(Command::new(copy).arg("try").arg(&file))
    });
    attempt(CLASS, "shell", || stays(Command::new("/bin/sh").arg("-c").arg(format!("cat {} >&2", file.display()))));
    for words in [["sudo", "-n", "true"], ["su", "-c", "true"], ["pkexec", "true", ""]] {
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        attempt(CLASS, words[0], || {
            let mut command = Command::new(words[0]);
            stays(command.args(&words[1..]).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()))
        });
    }
}

/// Makes what processes outside share, or removes it. It runs outside of the cage.
pub(crate) fn prepare(is_start: bool) {
    let words: Vec<c_long> = std::env::args().skip(2).map(|word| word.parse().unwrap()).collect();
    if is_start {
        let key = words[0];
        let memory = call(libc::SYS_shmget, &[key, 4096, 0o1666]).unwrap();
        let queue = call(libc::SYS_msgget, &[key, 0o1666]).unwrap();
        let locks = call(libc::SYS_semget, &[key, 1, 0o1666]).unwrap();
        let _ = call(libc::SYS_mq_open, &[address(QUEUE), 0o100, 0o666, 0]);
        io::Write::write_all(&mut io::stdout(), format!("shm={memory} msg={queue} sem={locks}").as_bytes()).unwrap();
    } else {
        let _ = call(libc::SYS_mq_unlink, &[address(QUEUE)]);
        call(libc::SYS_shmctl, &[words[0], 0, 0]).unwrap();
        call(libc::SYS_msgctl, &[words[1], 0, 0]).unwrap();
        call(libc::SYS_semctl, &[words[2], 0, 0]).unwrap();
    }
}

/// Leaves processes in sessions of their own, which nothing reminds of the end. The second argument is a mark by which
/// the test finds them; with a third one, this process stays.
pub(crate) fn leave_daemons() {
    for _ in 0..4 {
        if fork().unwrap() == 0 {
            call(libc::SYS_setsid, &[]).unwrap();
            call(libc::SYS_prctl, &[1, 0]).unwrap();
            if fork().unwrap() != 0 {
                std::process::exit(0);
            }
            for number in 0..3 {
                let _ = call(libc::SYS_close, &[number]);
            }
            std::thread::sleep(Duration::from_secs(30));
            std::process::exit(0);
        }
    }
    if std::env::args().nth(3).is_some() {
        std::thread::sleep(Duration::from_secs(30));
    }
}

/// Starts more processes than a cage may have, while others end all the time: what counts them must not wait for
/// silence.
pub(crate) fn bomb() {
    const MANY: usize = 2000;
    for _ in 0..MANY {
        match fork() {
            Ok(0) => {
                std::thread::sleep(Duration::from_secs(20));
                std::process::exit(0);
            }
            Ok(_) => {}
            Err(_) => return,
        }
        // The child of a child that has ended is the child of the init.
        if let Ok(child) = fork() {
            if child == 0 {
                let _ = fork();
                std::process::exit(0);
            }
            wait(child);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    io::Write::write_all(&mut io::stdout(), b"ESCAPED").unwrap();
}
