//! What all attacks share: their target, their processes, their lines, and system calls by number.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use libc::c_long;

/// Seconds until an attempt is killed.
const PATIENCE_S: c_long = 3;

/// What became of an attempt, with a detail.
pub(crate) enum Verdict {
    Held(String),
    Escaped(String),
}

/// What there is to attack.
pub(crate) struct Target(BTreeMap<String, String>);

impl Target {
    pub(crate) fn from_arguments() -> Self {
        let pair = |word: String| word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self(std::env::args().skip(1).filter_map(pair).collect())
    }

    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("`{name}=` is missing"))
    }

    pub(crate) fn number(&self, name: &str) -> c_long {
        self.text(name).parse().unwrap()
    }

    /// A path below the directory that holds the project, the home directory and other files.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        Path::new(self.text("root")).join(name)
    }

    pub(crate) fn has_namespaces(&self) -> bool {
        self.text("isolation") == "namespaces"
    }

    pub(crate) fn is_workspace(&self) -> bool {
        self.text("cage") == "workspace"
    }
}

/// A path in the directory for temporary files.
pub(crate) fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(name)
}

/// Runs an attempt in a process of its own, and prints its line.
pub(crate) fn attempt(class: &str, name: &str, attack: impl FnOnce() -> Verdict) {
    let line = |verdict| {
        let (word, detail) = match verdict {
            Verdict::Held(detail) => ("held", detail),
            Verdict::Escaped(detail) => ("ESCAPED", detail),
        };
        let text = format!("{class} {} {word} {}\n", name.replace(' ', "_"), detail.replace('\n', " "));
        io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()).unwrap();
    };

    match fork() {
        Ok(0) => {
            let _ = call(libc::SYS_setitimer, &[0, address(&[0, 0, PATIENCE_S, 0])]);
            line(attack());
            std::process::exit(0);
        }
        Ok(child) => match wait(child) {
            0 => {}
            status if status & 0x7f != 0 => line(Verdict::Held(format!("ended by signal {}", status & 0x7f))),
            _ => line(Verdict::Escaped("the attack itself failed".to_owned())),
        },
        Err(error) => line(Verdict::Escaped(format!("the attack could not start: {error}"))),
    }
}

/// Starts a copy of this process, and returns its ID; 0 in the copy.
///
/// Process namespaces count from 1, so that a copy can have the number of a process outside and would attack itself
/// in its place. Such a copy ends, and another is started.
pub(crate) fn fork() -> io::Result<c_long> {
    let target = Target::from_arguments();
    let outside = ["pid", "test"].map(|name| target.0.get(name).and_then(|number| number.parse().ok()));
    loop {
        // SAFETY: this process has one thread.
        match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 if outside.contains(&Some(call(libc::SYS_getpid, &[])?)) => std::process::exit(0),
            0 => return Ok(0),
            child if outside.contains(&Some(child.into())) => drop(wait(child.into())),
            child => return Ok(child.into()),
        }
    }
}

/// Waits for a child, and returns its status.
pub(crate) fn wait(child: c_long) -> i32 {
    let mut status = 0_i32;
    let to = std::ptr::from_mut(&mut status) as c_long;
    while call(libc::SYS_wait4, &[child, to]).is_err_and(|error| error.kind() == io::ErrorKind::Interrupted) {}
    status
}

/// The verdict on what the kernel has to refuse.
pub(crate) fn refused<T, E: Display>(result: Result<T, E>) -> Verdict {
    match result {
        Ok(_) => Verdict::Escaped("permitted".to_owned()),
        Err(error) => Verdict::Held(error.to_string()),
    }
}

/// Attempts something that the kernel has to refuse.
pub(crate) fn must_fail<T, E: Display>(class: &str, name: &str, attack: impl FnOnce() -> Result<T, E>) {
    attempt(class, name, || refused(attack()));
}

/// Attempts a system call that the kernel has to refuse.
pub(crate) fn must_refuse(class: &str, name: &str, number: c_long, arguments: &[c_long]) {
    must_fail(class, name, || call(number, arguments));
}

/// Makes a system call. Missing arguments are 0.
pub(crate) fn call(number: c_long, arguments: &[c_long]) -> io::Result<c_long> {
    let of = |at: usize| arguments.get(at).copied().unwrap_or_default();
    // SAFETY: pointers among the arguments are to values that outlive the call, or to memory that nothing else uses.
    match unsafe { libc::syscall(number, of(0), of(1), of(2), of(3), of(4), of(5)) } {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

/// The address of a value, as an argument of a system call.
pub(crate) fn address<T: ?Sized>(value: &T) -> c_long {
    std::ptr::from_ref(value).cast::<u8>() as c_long
}

/// A path as system calls take it.
pub(crate) fn c_path(path: impl AsRef<Path>) -> CString {
    CString::new(path.as_ref().to_str().unwrap()).unwrap()
}

/// The address of the bytes of a path.
pub(crate) fn at(path: &CString) -> c_long {
    address(path.as_bytes())
}

/// The start of paths: the directory of this process.
pub(crate) const HERE: c_long = libc::AT_FDCWD as c_long;

/// Opens a path.
pub(crate) fn open(path: impl AsRef<Path>, flags: libc::c_int) -> io::Result<c_long> {
    let path = c_path(path);
    call(libc::SYS_openat, &[HERE, at(&path), flags.into(), 0o600])
}

/// Opens a path to read.
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<c_long> {
    open(path, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY)
}

/// Opens a path to write, and writes nothing.
pub(crate) fn write(path: impl AsRef<Path>) -> io::Result<c_long> {
    open(path, libc::O_WRONLY | libc::O_NONBLOCK | libc::O_NOCTTY)
}
