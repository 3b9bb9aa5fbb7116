//! Ways out of cages, by files, sockets, processes and the kernel: what `tests/bin/cage_escapes.rs` attempts, and what
//! is left outside after it.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the numbers of attempts are what `--nocapture` is for")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use crate::support::{climax, fakecli, run, until};

/// Fewer attempts than this mean that the attack itself broke off.
const MIN_ATTEMPTS: usize = 400;

/// Files of the ground, with their text. Those named like secrets hold [`SECRET`].
const FILES: [(&str, &str); 12] = [
    ("project/.git/HEAD", "ref: refs/heads/main\n"),
    ("project/.git/config", "[core]\n"),
    ("project/.git/hooks/pre-commit", "#!/bin/sh\n"),
    ("project/.envrc", "true\n"),
    ("project/.vscode/settings.json", "{}\n"),
    ("project/.claude/settings.json", "{}\n"),
    ("project/.mcp.json", "{}\n"),
    ("project/kept", "kept\n"),
    ("project/src/main.rs", "fn main() {}\n"),
    ("home/.bashrc", "true\n"),
    ("outside/program", "#!/bin/sh\ntrue\n"),
    ("caches/climax/projects/other/read/kept", "kept\n"),
];

/// Files that no cage shows.
const SECRETS: [&str; 21] = [
    "outside/file",
    "project/.env",
    "project/.env.local",
    "project/sub/.env",
    "project/sub/server.pem",
    "project/server.pem",
    "project/id_ed25519",
    "project/.npmrc",
    "project/conf/prod.env",
    "project/real-settings",
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

const SECRET: &str = "-----BEGIN PRIVATE KEY----- //registry.example/:_authToken=secret\n";

/// Links in the project, with what they lead to.
const LINKS: [(&str, &str); 5] = [
    ("alias", ".env"),
    ("settings.env", "real-settings"),
    ("link-to-file", "../outside/file"),
    ("link-to-dir", "../outside"),
    ("path", "../outside"),
];

/// What there is to attack: a project, a home directory, other files, servers and a process.
struct Ground {
    dir: tempfile::TempDir,
    outside: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    streams: Vec<UnixListener>,
    datagrams: UnixDatagram,
    name: String,
    memory_file: PathBuf,
    /// The IDs of shared memory, a queue and locks.
    shared: Vec<String>,
}

impl Ground {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (name, text) in FILES.into_iter().chain(SECRETS.map(|name| (name, SECRET))) {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        }
        let unreadable_name = at("project").join(OsStr::from_bytes(b"dir-\xff"));
        fs::create_dir_all(&unreadable_name).unwrap();
        fs::write(unreadable_name.join(".env"), SECRET).unwrap();
        fs::create_dir(at("outside/empty")).unwrap();
        fs::set_permissions(at("outside/program"), fs::Permissions::from_mode(0o755)).unwrap();
        for (name, to) in LINKS {
            symlink(to, at("project").join(name)).unwrap();
        }
        put_attacker(&at("project"));

        let mut outside = Command::new(fakecli());
        outside.arg("sleep").current_dir(dir.path()).process_group(0).stdin(Stdio::null()).stdout(Stdio::null());
        let name = format!("climax-cage-attack-{}", dir.path().file_name().unwrap().display());
        let memory_file = Path::new("/dev/shm").join(&name);
        fs::write(&memory_file, SECRET).unwrap();

        let by_name = |kind: &str| SocketAddr::from_abstract_name(format!("{name}{kind}")).unwrap();
        let streams = vec![
            UnixListener::bind(at("outside/socket")).unwrap(),
            UnixListener::bind(at("project/socket")).unwrap(),
            UnixListener::bind_addr(&by_name("")).unwrap(),
        ];
        let datagrams = UnixDatagram::bind_addr(&by_name("-datagrams")).unwrap();
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        for stream in &streams {
            stream.set_nonblocking(true).unwrap();
        }

        let outside = outside.spawn().unwrap();
        let key = 0x00c1_0000 + (outside.id() & 0xffff);
        let (_, shared, _) = run(Command::new(attacker()).args(["prepare", &key.to_string()]));
        let mut shared: Vec<String> = shared.split(' ').map(str::to_owned).collect();
        assert_eq!(shared.len(), 3, "{shared:?}");
        shared.push(format!("key={key}"));
        Self { dir, outside, tcp, udp, streams, datagrams, name, memory_file, shared }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A command that runs a line in a cage.
    fn climax(&self, cage: &str, isolation: &str, line: &str) -> Command {
        let mut command = climax();
        let path = std::env::var("PATH").unwrap();
        command.args(["sh", "--cage", cage, "-c", line]).current_dir(self.at("project"));
        command.env("HOME", self.at("home")).env("CLIMAX_ISOLATION", isolation);
        command.env("XDG_CACHE_HOME", self.at("caches"));
        command.env("PATH", format!("{path}:{}", self.at("project/path").display()));
        command.env("VIRTUAL_ENV", self.at("project/link-to-dir")).env("SSH_AUTH_SOCK", self.at("outside/socket"));
        for name in ["FAKE_TOKEN", "AWS_SECRET_ACCESS_KEY", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY"] {
            command.env(name, "secret");
        }
        command
    }

    /// Runs all attempts in a cage, and fails for each that escapes.
    fn attack(&mut self, cage: &str, isolation: &str) {
        if !has_cage(cage, isolation) {
            eprintln!("{cage} by {isolation}: this kernel has no such cage");
            return;
        }
        let before = self.snapshot(cage);
        let user = rustix::process::getuid().as_raw();
        let mut words = vec![
            format!("root={}", self.dir.path().canonicalize().unwrap().display()),
            format!("cage={cage}"),
            format!("isolation={isolation}"),
            format!("pid={}", self.outside.id()),
            format!("test={}", std::process::id()),
            format!("uid={user}"),
            format!("gid={}", rustix::process::getgid().as_raw()),
            format!("tcp={}", self.tcp.local_addr().unwrap().port()),
            format!("udp={}", self.udp.local_addr().unwrap().port()),
            format!("abstract={}", self.name),
            format!("memory-file={}", self.memory_file.display()),
        ];
        words.extend(self.shared.iter().cloned());
        let start = Instant::now();
        let (status, said, errors) = run(&mut self.climax(cage, isolation, &format!("./attacker {}", words.join(" "))));

        let mut counts = BTreeMap::<&str, usize>::new();
        let mut escaped = Vec::new();
        for line in said.lines() {
            let Some([class, _, verdict]) = <[&str; 3]>::try_from(line.split(' ').take(3).collect::<Vec<_>>()).ok()
            else {
                continue;
            };
            *counts.entry(class).or_default() += 1;
            if verdict != "held" {
                escaped.push(line);
            }
        }
        let sum: usize = counts.values().sum();
        println!("{cage} by {isolation}: {sum} attempts in {:?}: {counts:?}", start.elapsed());
        assert!(escaped.is_empty(), "{cage} by {isolation}:\n{}", escaped.join("\n"));
        assert!(status == 0 && sum >= MIN_ATTEMPTS, "{status}, {sum} attempts: {errors}\n{said}");
        self.check_outside(cage, &before);
    }

    /// Fails if something outside has changed or was reached, whatever the attempts say of themselves.
    fn check_outside(&mut self, cage: &str, before: &Snapshot) {
        let after = self.snapshot(cage);
        let changed: Vec<_> = before.iter().filter(|(path, file)| after.get(*path) != Some(file)).collect();
        let new: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
        assert!(changed.is_empty() && new.is_empty(), "changed: {changed:?}, new: {new:?}");
        assert_eq!(fs::read_to_string(&self.memory_file).unwrap(), SECRET);
        assert!(self.tcp.accept().is_err(), "a connection came");
        assert!(self.streams.iter().all(|stream| stream.accept().is_err()), "a local connection came");
        assert!(self.udp.recv(&mut [0]).is_err() && self.datagrams.recv(&mut [0]).is_err(), "a datagram came");
        assert!(self.outside.try_wait().unwrap().is_none(), "the process outside has ended");
    }

    /// Looks at all files that the cage may not change.
    fn snapshot(&self, cage: &str) -> Snapshot {
        let mut found = Snapshot::new();
        let mut open = vec![self.dir.path().to_owned()];
        let caches = self.at("caches/climax/projects");
        while let Some(path) = open.pop() {
            // Those of the cage itself. Beside them nothing changes.
            if path.strip_prefix(&caches).is_ok_and(|below| below.display().to_string().starts_with("project-")) {
                continue;
            }
            let inside = path.strip_prefix(self.at("project")).ok().map(Path::to_owned);
            // What programs outside load, and secrets, is kept even where the rest may be written.
            let name = inside.as_deref().and_then(|path| path.iter().next()).map(|name| name.display().to_string());
            let is_kept = name.is_none_or(|name| name.starts_with('.') || name == "sub");
            let about = path.symlink_metadata().unwrap();
            if about.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
            if cage == "read" || is_kept {
                let text = if about.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                let is_project = inside.is_some_and(|inside| inside.as_os_str().is_empty());
                let is_written = is_project && cage != "read" || path == caches;
                let time = (!is_written).then(|| about.modified().unwrap());
                found.insert(path, (about.permissions().mode(), time, text));
            }
        }
        found
    }
}

type Snapshot = BTreeMap<PathBuf, (u32, Option<SystemTime>, Vec<u8>)>;

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = self.outside.kill();
        let _ = self.outside.wait();
        let _ = fs::remove_file(&self.memory_file);
        let numbers = self.shared.iter().filter_map(|word| Some(word.split_once('=')?.1.to_owned()));
        run(Command::new(attacker()).arg("remove").args(numbers));
    }
}

/// The path of `tests/bin/cage_escapes.rs`, which cargo builds as an example.
fn attacker() -> PathBuf {
    fakecli().with_file_name("cage_escapes")
}

/// Copies the attacker into a directory, by a program of its own: while this process could write the file, a child of
/// another test might inherit that, and nobody could execute it.
fn put_attacker(directory: &Path) {
    let copied = Command::new("cp").arg(attacker()).arg(directory.join("attacker")).status();
    assert!(copied.unwrap().success());
}

/// Whether this kernel has a cage, told by a line that runs in it.
fn has_cage(cage: &str, isolation: &str) -> bool {
    let dir = tempfile::tempdir().unwrap();
    put_attacker(dir.path());
    let mut command = climax();
    command.args(["sh", "--cage", cage, "-c", "./attacker try /proc/version"]);
    let (status, _, errors) = run(command.current_dir(dir.path()).env("CLIMAX_ISOLATION", isolation));
    assert!(status == 0 || errors.contains("no cage") || errors.contains("confine"), "{errors}");
    status == 0
}

#[test]
fn nothing_escapes_the_read_cage() {
    Ground::new().attack("read", "namespaces");
}

#[test]
fn nothing_escapes_the_read_cage_without_namespaces() {
    Ground::new().attack("read", "landlock");
}

#[test]
fn nothing_escapes_the_workspace_cage() {
    Ground::new().attack("workspace", "namespaces");
}

/// Processes whose words hold a mark.
fn marked(mark: &str) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let holds = |id: &u32| {
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|word| word == mark.as_bytes()) && words.starts_with(b"./attacker")
    };
    ids.filter(holds).collect()
}

#[test]
fn no_process_is_left_after_the_end_of_a_cage() {
    if !has_cage("read", "namespaces") {
        return;
    }
    let ground = Ground::new();
    let mark = format!("mark-{}", ground.name);
    let (status, _, errors) = run(&mut ground.climax("read", "namespaces", &format!("./attacker leave {mark}")));
    assert_eq!(status, 0, "{errors}");
    assert_eq!(marked(&mark), Vec::<u32>::new());

    let mut command = ground.climax("read", "namespaces", &format!("./attacker leave {mark} stay"));
    let mut server = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("daemons", || marked(&mark).len() >= 5);
    server.kill().unwrap();
    server.wait().unwrap();
    until("the end of the daemons of a server that was killed", || marked(&mark).is_empty());
}

#[test]
fn processes_that_end_hide_none_that_are_too_many() {
    if !has_cage("read", "namespaces") {
        return;
    }
    let ground = Ground::new();
    let start = Instant::now();
    let (_, said, errors) = run(&mut ground.climax("read", "namespaces", "./attacker bomb"));
    assert!(!said.contains("ESCAPED"), "{errors}");
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}
