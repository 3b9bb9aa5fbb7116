//! Loads skills: those of the catalog, and those of directories.

use std::path::PathBuf;

use climax_catalog::{
    Catalog, Code, Diagnostic, Diagnostics, Layer, PackedSkills, Skill, ToolIndex, check_skills, files, retain_served,
};

/// Checks the skills of directories, which may mention the tools of the catalog and of `index`.
///
/// Returns how many there are, and warnings.
///
/// # Errors
/// All mistakes in all directories.
pub(super) fn check(
    catalog: &'static Catalog,
    directories: &[PathBuf],
    index: &ToolIndex,
) -> Result<(usize, Diagnostics), Diagnostics> {
    let Skills { of_directories, warnings, .. } = Skills::load(catalog, directories, index)?;
    Ok((of_directories.len(), warnings))
}

/// The skills before a policy is applied to the tools.
#[derive(Debug, Default)]
pub(super) struct Skills {
    compiled_in: Vec<Skill>,
    of_directories: Vec<Skill>,
    warnings: Diagnostics,
}

impl Skills {
    /// Loads the skills of a catalog and of directories. Those of directories replace those of the catalog.
    ///
    /// Skills may mention the tools of the catalog and of `index`.
    ///
    /// # Errors
    /// All mistakes in all directories.
    pub(super) fn load(
        catalog: &'static Catalog,
        directories: &[PathBuf],
        index: &ToolIndex,
    ) -> Result<Self, Diagnostics> {
        let mut compiled_in = catalog.skills.as_ref().map(PackedSkills::unpack).unwrap_or_default();
        if directories.is_empty() {
            return Ok(Self { compiled_in, ..Self::default() });
        }

        let (found, mut diagnostics) = files::read_skills(directories, |path| path.display().to_string());
        let all = ToolIndex::from_configs(vec![Layer::compiled(catalog)]);
        match check_skills(found, all.tools().chain(index.tools())) {
            Ok((of_directories, mut warnings)) if !diagnostics.has_errors() => {
                let is_replaced = |skill: &Skill| of_directories.iter().any(|other| other.name == skill.name);
                warnings.extend(compiled_in.iter().filter(|skill| is_replaced(skill)).map(replaced));
                compiled_in.retain(|skill| !is_replaced(skill));
                Ok(Self { compiled_in, of_directories, warnings })
            }
            checked => {
                diagnostics.extend(checked.map_or_else(|found| found, |(_, warnings)| warnings));
                Err(diagnostics)
            }
        }
    }

    /// Returns the skills that mention served tools only, and warnings about those of directories.
    pub(super) fn served(self, index: &ToolIndex) -> (Vec<Skill>, Diagnostics) {
        let Self { mut compiled_in, mut of_directories, mut warnings } = self;
        let is_served = |tool: &str| index.get(tool).is_some();
        // Many compiled-in skills are left out wherever a server is started for a few CLIs.
        drop(retain_served(&mut compiled_in, is_served));
        warnings.extend(retain_served(&mut of_directories, is_served));
        compiled_in.append(&mut of_directories);
        (compiled_in, warnings)
    }
}

/// Warns that a skill of a directory replaces a compiled-in one.
fn replaced(skill: &Skill) -> Diagnostic {
    let message = "replaces the compiled-in skill of this name".to_owned();
    Diagnostic::file(Code::Override, &skill.name, message, "rename the directory if both are wanted")
}
