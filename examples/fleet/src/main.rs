//! A sealed server over this package's configs.

climax::include_catalog!();

fn main() -> std::process::ExitCode {
    climax::main(&CATALOG)
}
