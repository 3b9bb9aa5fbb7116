//! Loads skills: those of the catalog, and those of directories.

use climax_catalog::{
    Catalog, Diagnostics, Layer, PackedSkills, Skill, ToolIndex, check_skills, files, retain_served,
};
use std::path::PathBuf;

/// Loads the skills of a catalog and of directories. Those of directories replace those of the catalog.
///
/// `index` holds the tools before the policy is applied. Returns the skills with warnings about them.
///
/// # Errors
/// All mistakes in all directories.
pub(super) fn load(
    catalog: &'static Catalog,
    directories: &[PathBuf],
    index: &ToolIndex,
) -> Result<(Vec<Skill>, Diagnostics), Diagnostics> {
    let mut skills = catalog.skills.as_ref().map(PackedSkills::unpack).unwrap_or_default();
    if directories.is_empty() {
        return Ok((skills, Diagnostics::default()));
    }
    let (found, mut diagnostics) = files::read_skills(directories, |path| path.display().to_string());
    let compiled_in = ToolIndex::from_configs(vec![Layer::compiled(catalog)]);
    let (added, warnings) = match check_skills(found, compiled_in.tools().chain(index.tools())) {
        Ok(checked) if !diagnostics.has_errors() => checked,
        checked => {
            diagnostics.extend(checked.map_or_else(|found| found, |(_, warnings)| warnings));
            return Err(diagnostics);
        }
    };
    skills.retain(|skill| !added.iter().any(|other| other.name == skill.name));
    skills.extend(added);
    Ok((skills, warnings))
}

/// Keeps the skills all of whose tools are served. Returns a warning for each skill of a directory that is left out.
pub(super) fn retain(catalog: &Catalog, skills: &mut Vec<Skill>, index: &ToolIndex) -> Diagnostics {
    let compiled_in = catalog.skills.as_ref().map(PackedSkills::unpack).unwrap_or_default();
    let of_catalog: Vec<&str> = compiled_in.iter().map(|skill| skill.name.as_str()).collect();
    let warnings = retain_served(skills, |tool| index.get(tool).is_some());
    warnings.into_iter().filter(|warning| !of_catalog.contains(&warning.path())).collect()
}
