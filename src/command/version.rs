//! `climax version`: prints the version, the build and the compiled-in catalog.

use std::process::ExitCode;

use climax_catalog::{Catalog, Layer, Policy, ToolIndex, digest};
use serde_json::json;

use crate::command::output::print;
use crate::identity;

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Prints the version. Two binaries with the same digest serve the same catalog and policy.
pub(crate) fn run(catalog: &'static Catalog, arguments: &Args) -> ExitCode {
    let index = ToolIndex::from_configs(vec![Layer::compiled(catalog)]);
    let version = env!("CARGO_PKG_VERSION");
    let [target, compiler] = [env!("CLIMAX_TARGET"), env!("CLIMAX_RUSTC")];
    let commit = option_env!("CLIMAX_COMMIT");
    let digest = digest(&index, &Policy::compiled_in(catalog));
    let [clis, tools] = [catalog.clis.len(), catalog.tools.len()];

    if arguments.json {
        let json = json!({
            "name": identity::name(),
            "version": version,
            "target": target,
            "rustc": compiler,
            "commit": commit,
            "sealed": catalog.sealed,
            "policy": catalog.policy.is_some(),
            "clis": clis,
            "tools": tools,
            "catalog_digest": digest,
        });
        return print(&json.to_string(), ExitCode::SUCCESS);
    }

    let commit = commit.map(|commit| format!(", commit {commit}")).unwrap_or_default();
    let program = if identity::is_own() {
        format!("{}, built with climax {version}", identity::name())
    } else {
        format!("climax {version}")
    };
    let sealed = if catalog.sealed { "sealed: no tool can be added or changed\n" } else { "" };
    let policy = if catalog.policy.is_some() { "a policy is compiled in\n" } else { "" };
    let text = format!(
        "{program} ({target}, {compiler}{commit})\n{tools} tools of {clis} CLIs\n{policy}{sealed}catalog {digest}\n"
    );

    print(&text, ExitCode::SUCCESS)
}
