//! The build-script side: files in, `OUT_DIR` and cargo directives out.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use climax_catalog::policy::{self, PolicyFile};
use climax_catalog::{
    Compiled, Diagnostics, Layer, PackedSkills, SkillDirectory, ToolIndex, check_skills, compile, files, retain_served,
};

use crate::emit::{Generated, emit};
use crate::report;

/// Replaces the configs of the build script: files or directories, separated as in `PATH`.
const CONFIGS_VARIABLE: &str = "CLIMAX_CONFIGS";

/// Replaces the policy of the build script.
const POLICY_VARIABLE: &str = "CLIMAX_POLICY";

/// Names directories of skills, separated as in `PATH`.
const SKILLS_VARIABLE: &str = "CLIMAX_SKILLS";

/// Seals the catalog if it is `1`; does not if it is `0` or empty.
const SEALED_VARIABLE: &str = "CLIMAX_SEALED";

/// Compiles configs into `OUT_DIR`, where `climax::include_catalog!()` includes them.
///
/// ```no_run
/// // build.rs
/// climax_codegen::Build::new().configs("configs").policy("policy.yaml").sealed(true).run();
/// ```
#[derive(Clone, Debug)]
pub struct Build {
    configs: Vec<PathBuf>,
    skills: Vec<PathBuf>,
    policy: Option<PathBuf>,
    /// Whether the catalog is sealed; `Err` holds an unknown value of [`SEALED_VARIABLE`].
    sealed: Result<bool, String>,
}

impl Default for Build {
    fn default() -> Self {
        Self { configs: Vec::new(), skills: Vec::new(), policy: None, sealed: Ok(false) }
    }
}

impl Build {
    /// Starts without configs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the environment: `CLIMAX_CONFIGS` (default: the directory `configs`), `CLIMAX_POLICY`,
    /// `CLIMAX_SKILLS` (default: no skills), and `CLIMAX_SEALED`, which seals the catalog if it is `1`.
    ///
    /// Relative paths start at the directory of the package that is built. If two paths define a tool of the same name,
    /// the later path wins.
    #[must_use]
    pub fn from_env() -> Self {
        for variable in [CONFIGS_VARIABLE, SKILLS_VARIABLE, POLICY_VARIABLE, SEALED_VARIABLE] {
            println_directive(&format!("cargo::rerun-if-env-changed={variable}"));
        }

        let (configs, skills) = (paths(CONFIGS_VARIABLE), paths(SKILLS_VARIABLE));
        let policy = env::var_os(POLICY_VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        let sealed = match env::var_os(SEALED_VARIABLE).unwrap_or_default().to_string_lossy().as_ref() {
            "" | "0" => Ok(false),
            "1" => Ok(true),
            other => Err(other.to_owned()),
        };

        Self { configs: if configs.is_empty() { vec!["configs".into()] } else { configs }, skills, policy, sealed }
    }

    /// Adds a config file, or a directory of them.
    #[must_use]
    pub fn configs(mut self, path: impl Into<PathBuf>) -> Self {
        self.configs.push(path.into());
        self
    }

    /// Adds a directory of skills, or the directory of one. The tools that they mention must exist.
    #[must_use]
    pub fn skills(mut self, path: impl Into<PathBuf>) -> Self {
        self.skills.push(path.into());
        self
    }

    /// Compiles a policy in. Hidden tools are not compiled in, and policies at run time can only narrow it further. The
    /// tools and args that it names must exist.
    #[must_use]
    pub fn policy(self, path: impl Into<PathBuf>) -> Self {
        Self { policy: Some(path.into()), ..self }
    }

    /// Seals the catalog: no tool can be added or changed at run time.
    #[must_use]
    pub fn sealed(self, sealed: bool) -> Self {
        Self { sealed: Ok(sealed), ..self }
    }

    /// Generates the code, or fails the build with every mistake in the configs.
    ///
    /// Prints cargo directives on stdout, errors included, and returns: a panic would only add noise.
    pub fn run(self) {
        let directives = match self.generate() {
            Ok(directives) | Err(directives) => directives,
        };
        for directive in directives {
            println_directive(&directive);
        }
    }

    fn generate(&self) -> Result<Vec<String>, Vec<String>> {
        // An unknown value must not leave a catalog open that was meant to be sealed.
        let sealed = self.sealed.as_ref().map_err(|found| {
            vec![format!(
                "cargo::error={SEALED_VARIABLE} is `{}`, expected 1 to seal the catalog, or 0 or nothing not to",
                found.escape_debug()
            )]
        })?;
        let root = workspace_root();
        let shown = |path: &Path| relative(path, &root);
        let (config_files, mut diagnostics) = files::expand_all(&self.configs, shown);
        let (sources, unread) = files::read(&config_files, shown);
        diagnostics.extend(unread);
        let policy = self.policy.as_deref().map(|path| read_policy(path, &root)).transpose();
        let (directories, unread) = files::read_skills(&self.skills, shown);
        diagnostics.extend(unread);
        let compiled = compile(&sources).and_then(|compiled| with_skills(compiled, directories));
        let compiled = match (compiled, policy) {
            (Ok(compiled), Ok(policy)) if !diagnostics.has_errors() => under(compiled, policy),
            (compiled, policy) => {
                diagnostics.extend(compiled.map_or_else(|found| found, |compiled| compiled.warnings));
                diagnostics.extend(policy.err().unwrap_or_default());
                Err(diagnostics)
            }
        };
        let Compiled { mut catalog, warnings } = compiled.map_err(|found| report::directives(&found))?;
        catalog.sealed = *sealed;
        let generated = emit(&catalog).map_err(|error| vec![format!("cargo::error={error}")])?;
        write(&generated).map_err(|error| vec![format!("cargo::error={error}")])?;
        let mut directives = report::directives(&warnings);
        let watched = self.configs.iter().chain(&config_files).chain(&self.skills).chain(&self.policy);
        directives.extend(watched.map(|path| format!("cargo::rerun-if-changed={}", path.display())));

        Ok(directives)
    }
}

/// Reads a policy file. Messages show `path` relative to `root`.
fn read_policy(path: &Path, root: &Path) -> Result<PolicyFile, Diagnostics> {
    let (sources, unread) = files::read(&[path.to_owned()], |path| relative(path, root));
    sources.first().map_or(Err(unread), policy::read)
}

/// Returns the paths that a variable names.
fn paths(variable: &str) -> Vec<PathBuf> {
    let named = env::var_os(variable).unwrap_or_default();
    env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect()
}

/// Checks the skills against the tools of the catalog, and adds them to it.
fn with_skills(compiled: Compiled, directories: Vec<SkillDirectory>) -> Result<Compiled, Diagnostics> {
    if directories.is_empty() {
        return Ok(compiled);
    }

    let Compiled { mut catalog, mut warnings } = compiled;
    let index = ToolIndex::from_configs(vec![Layer::loaded(catalog.clone())]);
    match check_skills(directories, index.tools()) {
        Ok((skills, found)) => {
            warnings.extend(found);
            catalog.skills = PackedSkills::pack(&skills);
            Ok(Compiled { catalog, warnings })
        }
        Err(found) => {
            warnings.extend(found);
            Err(warnings)
        }
    }
}

/// Compiles the policy, if there is one, into the catalog. Skills that mention hidden tools are left out.
fn under(compiled: Compiled, policy: Option<PolicyFile>) -> Result<Compiled, Diagnostics> {
    let Some(policy) = policy else { return Ok(compiled) };
    let Compiled { catalog, mut warnings } = compiled;
    let mut skills = catalog.skills.as_ref().map(PackedSkills::unpack).unwrap_or_default();
    match policy.compile_in(catalog) {
        Ok(Compiled { mut catalog, warnings: found }) => {
            warnings.extend(found);
            warnings.extend(retain_served(&mut skills, |tool| catalog.find(tool).is_some()));
            catalog.skills = PackedSkills::pack(&skills);
            Ok(Compiled { catalog, warnings })
        }
        Err(found) => {
            warnings.extend(found);
            Err(warnings)
        }
    }
}

/// The workspace root: the directory of the lock file.
fn workspace_root() -> PathBuf {
    let package = env::current_dir().unwrap_or_default();
    let root = package.ancestors().find(|dir| dir.join("Cargo.lock").exists());
    root.unwrap_or(&package).to_owned()
}

fn relative(path: &Path, root: &Path) -> String {
    let absolute = env::current_dir().unwrap_or_default().join(path);
    absolute.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn write(generated: &Generated) -> Result<(), String> {
    let out = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set: call `Build::run` from a build script only")?;
    let out = PathBuf::from(out);
    for (name, content) in generated.files() {
        let path = out.join(name);
        fs::write(&path, content).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    Ok(())
}

/// Prints a directive for cargo. If cargo is gone, nothing reads the error either.
fn println_directive(directive: &str) {
    let _ = writeln!(std::io::stdout(), "{directive}");
}
