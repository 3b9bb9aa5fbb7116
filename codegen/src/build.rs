//! The build-script side: files in, `OUT_DIR` and cargo directives out.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use climax_catalog::{compile, files};

use crate::emit::{Generated, emit};
use crate::report;

/// Names configs to compile in instead of those that the build script names: files or directories, separated as in `PATH`.
const CONFIGS_VARIABLE: &str = "CLIMAX_CONFIGS";

/// Compiles configs into `OUT_DIR`, to be included by `climax::include_catalog!()`.
#[derive(Clone, Debug, Default)]
pub struct Build {
    configs: Vec<PathBuf>,
}

impl Build {
    /// Starts without configs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes what `CLIMAX_CONFIGS` names, or the directory `configs` if that names nothing.
    ///
    /// Relative paths start at the directory of the package that is built. Of two tools with one name the one in the
    /// later path stays.
    #[must_use]
    pub fn from_env() -> Self {
        println_directive(&format!("cargo::rerun-if-env-changed={CONFIGS_VARIABLE}"));
        let named = env::var_os(CONFIGS_VARIABLE).unwrap_or_default();
        let configs: Vec<PathBuf> = env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
        if configs.is_empty() { Self::new().configs("configs") } else { Self { configs } }
    }

    /// Adds a config file, or a directory of them.
    #[must_use]
    pub fn configs(mut self, path: impl Into<PathBuf>) -> Self {
        self.configs.push(path.into());
        self
    }

    /// Generates the code, or makes cargo fail with every mistake in the configs.
    ///
    /// Speaks cargo's build-script protocol on stdout. Returns either way: a second report would be noise.
    pub fn run(self) {
        let directives = match self.generate() {
            Ok(directives) | Err(directives) => directives,
        };
        for directive in directives {
            println_directive(&directive);
        }
    }

    fn generate(&self) -> Result<Vec<String>, Vec<String>> {
        let root = workspace_root();
        let shown = |path: &Path| relative(path, &root);
        let (config_files, mut diagnostics) = files::expand_all(&self.configs, shown);
        let (sources, unread) = files::read(&config_files, shown);
        diagnostics.extend(unread);
        let compiled = match compile(&sources) {
            Ok(compiled) if !diagnostics.has_errors() => compiled,
            Ok(_) => return Err(report::directives(&diagnostics)),
            Err(found) => {
                diagnostics.extend(found);
                return Err(report::directives(&diagnostics));
            }
        };
        let generated = emit(&compiled.catalog).map_err(|error| vec![format!("cargo::error={error}")])?;
        write(&generated).map_err(|error| vec![format!("cargo::error={error}")])?;
        let mut directives = report::directives(&compiled.warnings);
        let watched = self.configs.iter().chain(&config_files);
        directives.extend(watched.map(|path| format!("cargo::rerun-if-changed={}", path.display())));
        Ok(directives)
    }
}

/// Where cargo was most likely called from: the directory of the lock file.
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

/// Cargo reads directives from stdout; if it has gone away there is nobody left to tell.
fn println_directive(directive: &str) {
    let _ = writeln!(std::io::stdout(), "{directive}");
}
