//! Changes what a program sees of the files, in a mount namespace of its own.
//!
//! Everything becomes read-only. The directories that it may write are mounted over themselves, so that they can be
//! writable again; secrets are mounted over by a file that nobody may read.
//!
//! Source: `mount_setattr`(2), `open_tree`(2), `move_mount`(2).

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change, move_mount, open_tree,
};

/// The memory files of the machine. In a cage it has its own, which goes with it.
pub(super) const MEMORY_FILES: &str = "/dev/shm";

/// Most bytes of memory files.
const MEMORY_FILES_OPTIONS: &CStr = c"size=1g,mode=1777";

/// What a program sees otherwise than it is.
#[derive(Debug, Default)]
pub(super) struct View {
    /// The directories that it may write.
    pub(super) writable: Vec<PathBuf>,
    /// What it may not change in these.
    pub(super) frozen: Vec<PathBuf>,
    /// The files and directories whose content it may not see.
    pub(super) hidden: Vec<PathBuf>,
}

impl View {
    /// Returns the directories between what may be written and what is hidden or frozen in it, the outer ones first.
    ///
    /// Mounted over themselves they cannot be renamed. Elsewhere the next call would not find what they hold.
    fn held(&self) -> BTreeSet<PathBuf> {
        let is_within =
            |path: &Path| self.writable.iter().any(|writable| path.starts_with(writable) && path != writable);
        let is_frozen = |path: &Path| self.frozen.iter().any(|frozen| path.starts_with(frozen));
        let above = self.hidden.iter().chain(&self.frozen).flat_map(|path| path.ancestors().skip(1));
        above.filter(|path| is_within(path) && !is_frozen(path)).map(Path::to_owned).collect()
    }
}

/// Mounts what all views have in common, before a view is known.
///
/// Until [`show`] this process still sees what is mounted and unmounted outside.
///
/// # Errors
/// The kernel refuses a step.
pub(super) fn prepare() -> Result<(), String> {
    let own = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", MEMORY_FILES, "tmpfs", own, MEMORY_FILES_OPTIONS).map_err(|error| refused(MEMORY_FILES, error))?;
    make_hiding_places()?;

    // A machine that hides parts of `/proc`, as containers do, refuses another one. Landlock keeps others' out of reach.
    // Read-only, because root owns its entries, and their modes are those of the whole machine.
    let _ = mount("proc", "/proc", "proc", own | MountFlags::NOEXEC | MountFlags::RDONLY, None);
    Ok(())
}

/// Mounts the view over what this process sees, which has to be prepared.
///
/// # Errors
/// The kernel refuses a step.
pub(super) fn show(view: &View) -> Result<(), String> {
    let directory = std::env::current_dir().map_err(|error| format!("the directory of the call: {error}"))?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|error| refused("/", error))?;

    let held = view.held();
    for path in view.writable.iter().chain(&held).chain(&view.frozen) {
        bind(path, path)?;
    }
    for path in &view.hidden {
        bind(Path::new(if path.is_dir() { HIDDEN_DIRECTORY } else { HIDDEN_FILE }), path)?;
    }

    set_attributes(c"/", libc::AT_RECURSIVE, READ_ONLY, 0).map_err(|error| refused("/", error))?;
    for path in view.writable.iter().chain(&held).map(PathBuf::as_path).chain([Path::new(MEMORY_FILES)]) {
        // A file system that was read-only before stays so.
        let _ = set_writable(path);
    }

    // The directory of this process is still the one below.
    std::env::set_current_dir(directory).map_err(|error| format!("the directory of the call: {error}"))
}

/// A file and a directory that nobody may read, to be mounted over those that are hidden.
const HIDDEN_FILE: &str = "/dev/shm/.hidden-file";
const HIDDEN_DIRECTORY: &str = "/dev/shm/.hidden-directory";

fn make_hiding_places() -> Result<(), String> {
    let nobody = Permissions::from_mode(0o000);
    let made = fs::File::create(HIDDEN_FILE)
        .and_then(|file| file.set_permissions(nobody))
        .and_then(|()| fs::DirBuilder::new().mode(0o000).create(HIDDEN_DIRECTORY));
    made.map_err(|error| format!("{MEMORY_FILES}: {error}"))
}

/// Mounts a file or a directory over another one.
fn bind(from: &Path, over: &Path) -> Result<(), String> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let moved = open_tree(CWD, from, flags)
        .and_then(|tree| move_mount(tree, "", CWD, over, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH));
    moved.map_err(|error| refused(&over.display().to_string(), error))
}

fn set_writable(path: &Path) -> Result<(), String> {
    let mut text = path.as_os_str().as_bytes().to_vec();
    text.push(0);
    let text = CStr::from_bytes_with_nul(&text).map_err(|_| format!("{}: a NUL in a path", path.display()))?;
    set_attributes(text, 0, 0, READ_ONLY).map_err(|error| refused(&path.display().to_string(), error))
}

fn refused(path: &str, error: Errno) -> String {
    format!("{path} cannot be mounted: {error}")
}

/// `MOUNT_ATTR_RDONLY`. Source: Linux, `uapi/linux/mount.h`.
const READ_ONLY: u64 = 1;

/// Makes all mounts below a path read-only. It does not allocate.
pub(super) fn set_read_only(path: &CStr) -> Result<(), Errno> {
    set_attributes(path, libc::AT_RECURSIVE, READ_ONLY, 0)
}

/// Sets and clears attributes of the mount at a path.
fn set_attributes(path: &CStr, flags: libc::c_int, set: u64, clear: u64) -> Result<(), Errno> {
    /// Source: `mount_setattr`(2).
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }

    let attributes = Attributes { set, clear, propagation: 0, user_namespace: 0 };
    #[expect(unsafe_code, reason = "the path and the attributes live as long as the call")]
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)) }
}
