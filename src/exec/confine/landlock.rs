//! Restricts the files and the TCP connections of this thread and of what it starts (Landlock).

use std::error::Error;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope, make_bitflags,
};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The newest Landlock ABI that the crate supports.
const MAX_ABI: ABI = ABI::V9;

/// The oldest Landlock ABI by which calls are confined to their needs: it restricts truncation.
const MIN_NEEDS_ABI: ABI = ABI::V3;

/// The oldest Landlock ABI of the sandbox: it restricts truncation (V3) and signals to other processes (V6).
const MIN_SANDBOX_ABI: ABI = ABI::V6;

/// Rights to make device files, which are never granted.
const DEVICES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock});

/// Devices that keep nothing of what is written.
const DATA_DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Devices that only give bytes.
const RANDOM_DEVICES: [&str; 2] = ["/dev/random", "/dev/urandom"];

/// A step of confinement that the system refused.
#[derive(Debug)]
pub(super) struct Refused {
    text: String,
    /// The system's own error, if there was one.
    errno: Option<i32>,
}

impl Refused {
    /// Makes a refusal of an error, whose sources may hold that of the system.
    fn by(error: &(dyn Error + 'static)) -> Self {
        let mut source = Some(error);
        let mut errno = None;
        while let Some(error) = source.filter(|_| errno.is_none()) {
            errno = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
            source = error.source();
        }

        Self { text: error.to_string(), errno }
    }

    /// Makes a refusal of a path that cannot be opened.
    fn at(path: &Path, errno: Errno) -> Self {
        Self { text: errno.to_string(), errno: Some(errno.raw_os_error()) }.about(path)
    }

    /// Adds the path.
    fn about(self, path: &Path) -> Self {
        Self { text: format!("`{}`: {}", path.display(), self.text), ..self }
    }

    /// Returns the system's own error if it lacks room, else the text.
    pub(super) fn exhaustion(self) -> Result<io::Error, String> {
        let lack_of_room = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
        self.errno.filter(|errno| lack_of_room.contains(errno)).map(io::Error::from_raw_os_error).ok_or(self.text)
    }
}

impl From<String> for Refused {
    fn from(text: String) -> Self {
        Self { text, errno: None }
    }
}

impl From<Refused> for String {
    fn from(refused: Refused) -> Self {
        refused.text
    }
}

/// Returns the newest Landlock ABI of use that the kernel has, as a number; `None` if it cannot confine.
#[must_use]
pub fn kernel_abi() -> Option<u8> {
    static FOUND: OnceLock<Option<u8>> = OnceLock::new();

    // ABI 7 and 8 restrict nothing more.
    let known = [ABI::V9, ABI::V6, ABI::V5, ABI::V4, MIN_NEEDS_ABI];
    *FOUND.get_or_init(|| known.into_iter().find(|abi| kernel_has(*abi)).map(|abi| abi as u8))
}

/// Whether the kernel has all restrictions of an ABI.
fn kernel_has(abi: ABI) -> bool {
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let files = strict.handle_access(AccessFs::from_all(abi));
    let files = if abi < ABI::V6 { files } else { files.and_then(|files| files.scope(Scope::from_all(abi))) };

    files.and_then(Ruleset::create).is_ok()
}

/// Restricts writing to `write`, and TCP if there is no network, as far as the kernel can.
pub(super) fn restrict_to_needs(write: &[PathBuf], network: bool) -> Result<(), Refused> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(writing(MIN_NEEDS_ABI))
        .map_err(|error| Refused::by(&error))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(writing(MAX_ABI))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(MAX_ABI)))
        .map_err(|error| Refused::by(&error))?;

    let created = with_tcp(ruleset, network)?;
    let created = allow_existing(created, write, |abi| writing(abi) & !DEVICES)?;
    let created = allow_existing(created, &DATA_DEVICES, |_| AccessFs::WriteFile.into())?;

    created.restrict_self().map(drop).map_err(|error| Refused::by(&error))
}

/// Restricts all access to files to `read` and `write`, and TCP if there is no network.
///
/// # Errors
/// The kernel lacks a restriction, or a path is refused.
pub(super) fn restrict_to_sandbox(read: &[OsString], write: &[OsString], network: bool) -> Result<(), String> {
    let unsupported = "the kernel has no Landlock, or one that is too old: Linux 6.12 is needed";
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(MIN_SANDBOX_ABI))
        .map_err(|_| unsupported)?
        .scope(Scope::from_all(MIN_SANDBOX_ABI))
        .map_err(|_| unsupported)?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(MAX_ABI))
        .map_err(|error| error.to_string())?;

    let created = with_tcp(ruleset, network)?;
    let created = allow(created, read, AccessFs::from_read).map_err(path_refused)?;
    let created = allow(created, write, |abi| AccessFs::from_all(abi) & !DEVICES).map_err(path_refused)?;

    created.restrict_self().map(drop).map_err(|error| error.to_string())
}

/// The rules of a cage, before they hold: what is not granted will be refused.
pub(super) struct CageRules(RulesetCreated);

impl CageRules {
    /// Makes rules that grant nothing but the devices that hold nothing. Without `has_network`, TCP will be refused too.
    ///
    /// # Errors
    /// The kernel lacks a restriction.
    pub(super) fn new(has_network: bool) -> Result<Self, String> {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(MIN_NEEDS_ABI))
            .map_err(|_| "the kernel has no Landlock, or one that is too old: Linux 6.2 is needed")?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(MAX_ABI))
            .and_then(|ruleset| ruleset.scope(Scope::from_all(MAX_ABI)))
            .map_err(|error| error.to_string())?;

        let created = with_tcp(ruleset, has_network)?;
        let created = allow_existing(created, &RANDOM_DEVICES, |_| AccessFs::ReadFile.into())?;
        let created = allow_existing(created, &DATA_DEVICES, |_| AccessFs::ReadFile | AccessFs::WriteFile)?;
        Ok(Self(created))
    }

    /// Grants reading and executing these files, and what is below them.
    ///
    /// # Errors
    /// The kernel refuses a path.
    pub(super) fn reading(self, paths: &[impl AsRef<Path>]) -> Result<Self, String> {
        Ok(Self(allow_existing(self.0, paths, AccessFs::from_read)?))
    }

    /// Grants listing these directories, and those below them.
    ///
    /// # Errors
    /// The kernel refuses a path.
    pub(super) fn listing(self, paths: &[impl AsRef<Path>]) -> Result<Self, String> {
        Ok(Self(allow_existing(self.0, paths, |_| AccessFs::ReadDir.into())?))
    }

    /// Grants everything but devices in these directories.
    ///
    /// # Errors
    /// The kernel refuses a path.
    pub(super) fn everything(self, paths: &[impl AsRef<Path>]) -> Result<Self, String> {
        Ok(Self(allow_existing(self.0, paths, |abi| AccessFs::from_all(abi) & !DEVICES)?))
    }

    /// Grants changing what is in these directories, and nothing of it to read.
    ///
    /// # Errors
    /// The kernel refuses a path.
    pub(super) fn changing(self, paths: &[impl AsRef<Path>]) -> Result<Self, String> {
        Ok(Self(allow_existing(self.0, paths, |abi| AccessFs::from_write(abi) & !DEVICES)?))
    }

    /// Restricts all access of this thread, and of what it starts, to what was granted.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub(super) fn restrict(self) -> Result<(), String> {
        self.0.restrict_self().map(drop).map_err(|error| error.to_string())
    }
}

/// Says that a path of the policy was refused.
fn path_refused(refused: Refused) -> String {
    format!("a path of the policy's sandbox: {}", String::from(refused))
}

/// Adds TCP to what a ruleset restricts, unless there is a network, and creates the ruleset.
fn with_tcp(ruleset: Ruleset, network: bool) -> Result<RulesetCreated, Refused> {
    let ruleset = if network { Ok(ruleset) } else { ruleset.handle_access(AccessNet::from_all(MAX_ABI)) };

    ruleset.and_then(Ruleset::create).map_err(|error| Refused::by(&error))
}

/// Returns the rights that change files. Sockets are left to [`super::seccomp`].
fn writing(abi: ABI) -> BitFlags<AccessFs> {
    AccessFs::from_write(abi) & !make_bitflags!(AccessFs::{IoctlDev | ResolveUnix})
}

/// Grants `access` to `paths` and everything below them.
fn allow(
    ruleset: RulesetCreated,
    paths: &[OsString],
    access: fn(ABI) -> BitFlags<AccessFs>,
) -> Result<RulesetCreated, Refused> {
    paths.iter().map(Path::new).try_fold(ruleset, |ruleset, path| {
        let opened = open(path).map_err(|error| Refused::at(path, error))?;
        allow_open(ruleset, &opened, path, access)
    })
}

/// Grants `access` to those of the paths that exist, since a rule for any other is refused.
fn allow_existing(
    ruleset: RulesetCreated,
    paths: &[impl AsRef<Path>],
    access: fn(ABI) -> BitFlags<AccessFs>,
) -> Result<RulesetCreated, Refused> {
    paths.iter().map(AsRef::as_ref).try_fold(ruleset, |ruleset, path| match open(path) {
        Ok(opened) => allow_open(ruleset, &opened, path, access),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(ruleset),
        // It may exist, where it cannot be seen.
        Err(_) if !path.exists() => Ok(ruleset),
        Err(error) => Err(Refused::at(path, error)),
    })
}

/// Opens a file or directory to name it in a rule.
fn open(path: &Path) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

/// Grants `access` to an open file or directory.
fn allow_open(
    ruleset: RulesetCreated,
    opened: &OwnedFd,
    path: &Path,
    access: fn(ABI) -> BitFlags<AccessFs>,
) -> Result<RulesetCreated, Refused> {
    // By `BestEffort` the rights for directories, which the kernel rejects in a rule for a file, are left out there.
    ruleset.add_rule(PathBeneath::new(opened, access(MAX_ABI))).map_err(|error| Refused::by(&error).about(path))
}
