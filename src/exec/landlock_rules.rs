//! What the sandbox and confinement share: rules of Landlock for paths.

use std::ffi::OsString;

use landlock::{ABI, AccessFs, BitFlags, PathBeneath, PathFd, RulesetCreated, RulesetCreatedAttr as _, make_bitflags};

/// The newest Landlock ABI that the crate supports.
pub(super) const MAX_ABI: ABI = ABI::V9;

/// Rights to make device files, which are never granted.
pub(super) const DEVICES: BitFlags<AccessFs> = make_bitflags!(AccessFs::{MakeChar | MakeBlock});

/// Grants `access` to `paths` and everything below them.
pub(super) fn allow(
    mut ruleset: RulesetCreated,
    paths: &[OsString],
    access: fn(ABI) -> BitFlags<AccessFs>,
) -> Result<RulesetCreated, String> {
    for path in paths {
        let path_text = path.display();
        let open = PathFd::new(path).map_err(|error| format!("a path of the policy's sandbox: {error}"))?;
        let is_file = std::fs::metadata(path).is_ok_and(|found| !found.is_dir());
        let all = access(MAX_ABI);
        // The kernel rejects rights for directories in a rule for a file.
        let rule = PathBeneath::new(open, if is_file { all & AccessFs::from_file(MAX_ABI) } else { all });
        ruleset = ruleset.add_rule(rule).map_err(|error| format!("`{path_text}`: {error}"))?;
    }
    Ok(ruleset)
}
