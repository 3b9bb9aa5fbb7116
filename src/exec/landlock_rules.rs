//! What the sandbox and confinement share: rules of Landlock for paths.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::io;

use landlock::{ABI, AccessFs, BitFlags, PathBeneath, PathFd, RulesetCreated, RulesetCreatedAttr as _, make_bitflags};

/// The newest Landlock ABI that the crate supports.
pub(super) const MAX_ABI: ABI = ABI::V9;

/// Rights to make device files, which are never granted.
pub(super) const DEVICES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock});

/// A step of confinement that the system refused.
#[derive(Debug)]
pub(super) struct Refused {
    text: String,
    /// The system's own error, if there was one.
    errno: Option<i32>,
}

impl Refused {
    /// Makes a refusal of an error, whose sources may hold that of the system.
    pub(super) fn by(error: &(dyn Error + 'static)) -> Self {
        let mut source = Some(error);
        let mut errno = None;
        while let Some(error) = source.filter(|_| errno.is_none()) {
            errno = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
            source = error.source();
        }
        Self { text: error.to_string(), errno }
    }

    /// Adds the path.
    fn at(self, path: &OsStr) -> Self {
        Self { text: format!("`{}`: {}", path.display(), self.text), ..self }
    }

    /// Returns the system's own error if it lacks room, else the text.
    pub(super) fn exhaustion(self) -> Result<io::Error, String> {
        let of_room = [libc::EAGAIN, libc::ENOMEM, libc::EMFILE, libc::ENFILE];
        self.errno.filter(|errno| of_room.contains(errno)).map(io::Error::from_raw_os_error).ok_or(self.text)
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

/// Grants `access` to `paths` and everything below them.
pub(super) fn allow(
    mut ruleset: RulesetCreated,
    paths: &[OsString],
    access: fn(ABI) -> BitFlags<AccessFs>,
) -> Result<RulesetCreated, Refused> {
    for path in paths {
        let open = PathFd::new(path).map_err(|error| Refused::by(&error))?;
        let is_file = std::fs::metadata(path).is_ok_and(|found| !found.is_dir());
        let all = access(MAX_ABI);
        // The kernel rejects rights for directories in a rule for a file.
        let rule = PathBeneath::new(open, if is_file { all & AccessFs::from_file(MAX_ABI) } else { all });
        ruleset = ruleset.add_rule(rule).map_err(|error| Refused::by(&error).at(path))?;
    }
    Ok(ruleset)
}
