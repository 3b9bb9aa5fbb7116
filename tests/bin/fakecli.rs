//! A program for tests. Its first argument selects the behaviour.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::zombie_processes,
    reason = "tests drive it: a panic is a failed test, and some behaviours leave children on purpose"
)]

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest = args.get(1..).unwrap_or_default();
    let number = |at: usize| rest[at].parse::<u64>().unwrap();
    match args.first().map_or("", String::as_str) {
        "argv" => print(&rest.iter().map(|word| format!("<{word}>")).collect::<Vec<_>>().join("\n")),
        "env" => {
            print(&rest.iter().map(|name| format!("{name}={:?}", std::env::var(name))).collect::<Vec<_>>().join("\n"));
        }
        "cwd" => print(&std::env::current_dir().unwrap().display().to_string()),
        "stdin" => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).unwrap();
            print(&format!("{} bytes: {text}", text.len()));
        }
        "fds" => print(&descriptors()),
        "both" => {
            print("  out\n\n");
            io::stderr().write_all(b"err\n\n").unwrap();
        }
        "bytes" => io::stdout().write_all(b"a\xff\xfeb\n").unwrap(),
        // Characters that JSON writes in six bytes each.
        "control" => print(&"\u{1}".repeat(usize::try_from(number(0)).unwrap())),
        "exit" => {
            print(&rest[1..].join(" "));
            return ExitCode::from(u8::try_from(number(0)).unwrap());
        }
        // Lines at an interval: their number, the milliseconds between them.
        "lines" => lines(number(0), number(1), |line| print(&format!("line {line}\n"))),
        // The same on standard error, with as many lines on standard output.
        "complain" => lines(number(0), number(1), |line| {
            print("output\n");
            io::stderr().write_all(format!("line {line}\n").as_bytes()).unwrap();
        }),
        "abort" => std::process::abort(),
        "flood" => flood(number(0)),
        "try" => match attempt(&rest[0], rest.get(1).map_or("", String::as_str)) {
            Ok(()) => print("ok"),
            Err(error) => print(&error.to_string()),
        },
        "make" => {
            make(&rest[0], Path::new(&rest[1]));
            if let Some(second) = rest.get(2) {
                std::fs::write(second, "a,b\n").unwrap();
            }
            print(&format!("made {}", rest[1]));
        }
        "sleep" => sleep(),
        // Announces its pid, then ignores TERM.
        "stubborn" => {
            ignore_term();
            announce();
            sleep();
        }
        "announce" => {
            announce();
            sleep();
        }
        // A grandchild that holds the pipes open, in the same group or in a session of its own.
        "family" | "daemon" => {
            let mut child = grandchild(args[0] == "daemon");
            child.arg("announce").spawn().unwrap();
            if args[0] == "family" {
                sleep();
            }
        }
        // The same, from a child that exits.
        "double-fork" => {
            Command::new(std::env::current_exe().unwrap()).arg("daemon").status().unwrap();
        }
        // Processes that become children of the parent: their number, and whether each leaves the group and the session.
        "give" => give(number(0), rest.get(1).is_some_and(|word| word == "away")),
        // A process with a set-user-ID bit becomes that user altogether, and sleeps.
        "become" => {
            become_owner();
            announce();
            sleep();
        }
        // The same as a background process of this one: the path of the program.
        "leave-become" => {
            Command::new(&rest[0]).arg("become").spawn().unwrap();
            wait_for_line();
        }
        "leave-behind" => {
            grandchild(false).arg("announce").spawn().unwrap();
            wait_for_line();
        }
        "serve" => serve(&rest[0]),
        other => {
            io::stderr().write_all(format!("fakecli: unknown behaviour {other:?}\n").as_bytes()).unwrap();
            return ExitCode::from(64);
        }
    }
    ExitCode::SUCCESS
}

/// Answers HTTP requests at an address, each on a connection of its own.
fn serve(address: &str) {
    let listener = std::net::TcpListener::bind(address).unwrap();
    for connection in listener.incoming() {
        let mut connection = connection.unwrap();
        let _ = connection.read(&mut [0; 4096]);
        let _ = connection.write_all(b"HTTP/1.0 200 OK\r\n\r\nserved in the session\n");
    }
}

/// Writes `count` lines, with a pause of so many milliseconds after each.
fn lines(count: u64, pause_ms: u64, write: impl Fn(u64)) {
    for line in 1..=count {
        write(line);
        std::thread::sleep(Duration::from_millis(pause_ms));
    }
}

/// Makes a file of this kind: a link, a FIFO, a large file, none, or a text file with `kind` as its content.
fn make(kind: &str, path: &Path) {
    match kind {
        "link" => std::os::unix::fs::symlink("/etc/passwd", path).unwrap(),
        "pipe" => {
            Command::new("mkfifo").arg(path).status().unwrap();
        }
        "large" => std::fs::File::create(path).unwrap().set_len(9 << 20).unwrap(),
        "none" => {}
        // Replaces the directory by a link to another one.
        "moved" => {
            let dir = path.parent().unwrap();
            std::fs::rename(dir, dir.with_extension("away")).unwrap();
            std::os::unix::fs::symlink("/etc", dir).unwrap();
        }
        text => std::fs::write(path, text).unwrap(),
    }
}

fn print(text: &str) {
    let mut out = io::stdout();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// Writes the process ID to the file that `FAKECLI_PIDS` names, then a line to standard output.
fn announce() {
    let pid = std::process::id();
    if let Some(path) = std::env::var_os("FAKECLI_PIDS") {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        // In one write, because several processes append at once.
        file.write_all(format!("{pid}\n").as_bytes()).unwrap();
    }
    print("ready\n");
}

/// Waits until a grandchild has announced itself.
fn wait_for_line() {
    let path = std::env::var_os("FAKECLI_PIDS").unwrap();
    while std::fs::read_to_string(&path).unwrap_or_default().is_empty() {
        std::thread::yield_now();
    }
}

fn sleep() {
    std::thread::sleep(Duration::from_mins(10));
}

/// Makes children of the parent of this process. Those that leave it end after it.
fn give(count: u64, away: bool) {
    let flags = u64::try_from(libc::CLONE_PARENT | libc::SIGCHLD).unwrap();
    for _ in 0..count {
        #[expect(unsafe_code, reason = "the child has no other thread to share memory with, and ends here")]
        unsafe {
            if libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) == 0 {
                if away {
                    libc::setsid();
                    libc::usleep(300_000);
                }
                libc::_exit(0);
            }
        }
    }
}

fn become_owner() {
    #[expect(unsafe_code, reason = "the call takes a number and touches no memory")]
    let status = unsafe { libc::setuid(libc::geteuid()) };
    assert_eq!(status, 0);
}

/// Ignores TERM.
fn ignore_term() {
    // Restarts itself under `trap '' TERM` of a shell, because ignoring a signal needs unsafe code here.
    if std::env::var_os("FAKECLI_STUBBORN").is_none() {
        use std::os::unix::process::CommandExt as _;
        let error = Command::new("sh")
            .args(["-c", "trap '' TERM; exec \"$0\" stubborn"])
            .arg(std::env::current_exe().unwrap())
            .env("FAKECLI_STUBBORN", "1")
            .exec();
        panic!("{error}");
    }
}

fn grandchild(own_session: bool) -> Command {
    let me = std::env::current_exe().unwrap();
    if own_session {
        let mut command = Command::new("setsid");
        command.arg(me);
        command
    } else {
        Command::new(me)
    }
}

/// Tries something that a sandbox may forbid.
fn attempt(what: &str, with: &str) -> io::Result<()> {
    use std::fs;
    match what {
        "read" => fs::read(with).map(drop),
        "list" => fs::read_dir(with).map(drop),
        "write" => fs::write(with, "x"),
        "remove" => fs::remove_file(with),
        "truncate" => fs::OpenOptions::new().write(true).truncate(true).open(with).map(drop),
        // Linux empties a file that is opened for reading alone, too.
        "empty" => fs::OpenOptions::new().read(true).custom_flags(libc::O_TRUNC).open(with).map(drop),
        "grow" => fs::write(with, vec![b'x'; 2 << 20]),
        "child-read" => {
            let output = Command::new(std::env::current_exe()?).args(["try", "read", with]).output()?;
            Err(io::Error::other(String::from_utf8_lossy(&output.stdout).into_owned()))
        }
        "leave-group" => Command::new("setsid")
            .arg(std::env::current_exe()?)
            .args(["exit", "0"])
            .status()
            .and_then(|status| if status.success() { Ok(()) } else { Err(io::Error::other(status.to_string())) }),
        "mode" => fs::set_permissions(with, std::os::unix::fs::PermissionsExt::from_mode(0o777)),
        "privileges" => {
            let status = fs::read_to_string("/proc/self/status")?;
            let wanted = ["CapPrm", "CapEff", "NoNewPrivs"];
            let found: Vec<&str> =
                status.lines().filter(|line| wanted.iter().any(|one| line.starts_with(one))).collect();
            Err(io::Error::other(found.join(" ")))
        }
        "connect" => std::net::TcpStream::connect(with).map(drop),
        "bind" => std::net::TcpListener::bind("127.0.0.1:0").map(drop),
        "udp" => std::net::UdpSocket::bind("127.0.0.1:0").map(drop),
        "limit" => {
            let pid = rustix::process::Pid::from_raw(with.parse().unwrap());
            let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
            Ok(rustix::process::prlimit(pid, rustix::process::Resource::Nofile, none).map(drop)?)
        }
        "signal" => {
            let pid = rustix::process::Pid::from_raw(with.parse().unwrap()).unwrap();
            Ok(rustix::process::kill_process(pid, rustix::process::Signal::TERM)?)
        }
        "raw-pair" | "stream-pair" | "sequence-pair" => {
            use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
            let kind = match what {
                "raw-pair" => SocketType::RAW,
                "stream-pair" => SocketType::STREAM,
                _ => SocketType::SEQPACKET,
            };
            Ok(socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).map(drop)?)
        }
        "renice-user" => Ok(rustix::process::setpriority_user(rustix::process::Uid::ROOT, 0)?),
        "renice" => Ok(rustix::process::setpriority_process(None, 19)?),
        "attribute" => Ok(rustix::fs::setxattr(with, "user.x", b"x", rustix::fs::XattrFlags::empty())?),
        "watch" => Ok(rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::empty()).map(drop)?),
        // A number of a system call, perhaps with its second argument: `16:21513`.
        "call" => {
            let (number, argument) = with.split_once(':').unwrap_or((with, "0"));
            system_call(number.parse().unwrap(), argument.parse().unwrap())
        }
        "pair" => std::os::unix::net::UnixDatagram::pair().map(drop),
        "unix" => std::os::unix::net::UnixDatagram::unbound().map(drop),
        "allocate" => {
            let mut all: Vec<u8> = Vec::new();
            all.try_reserve_exact(with.parse::<usize>().unwrap() << 20).map_err(io::Error::other)
        }
        "spin" => loop {
            std::hint::spin_loop();
        },
        other => Err(io::Error::other(format!("unknown attempt {other:?}"))),
    }
}

/// Makes a system call for the descriptor -1, with this second argument.
fn system_call(number: libc::c_long, argument: libc::c_long) -> io::Result<()> {
    #[expect(unsafe_code, reason = "the calls that tests try refuse these arguments, and touch no memory")]
    let result = unsafe { libc::syscall(number, -1, argument, 0, 0, 0) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn flood(bytes: u64) {
    let block = [b'x'; 16 << 10];
    let mut out = io::stdout();
    let mut left = bytes;
    while left > 0 {
        let count = usize::try_from(left).unwrap().min(block.len());
        if out.write_all(&block[..count]).is_err() {
            return;
        }
        left -= count as u64;
    }
}

/// Returns the open descriptors beyond the standard three, and the target of descriptor 0.
fn descriptors() -> String {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let mut open: Vec<String> = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        let number: u32 = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let target =
            std::fs::read_link(&path).map_or_else(|_| "gone".to_owned(), |target| target.display().to_string());
        let own = target.starts_with("/proc/");
        if (number == 0 || number > 2) && !own {
            open.push(format!("{number}={target}"));
        }
    }
    open.sort();
    open.join(" ")
}
