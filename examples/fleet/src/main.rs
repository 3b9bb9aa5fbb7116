//! A sealed server over this package's configs, with a tool that is written in Rust.

mod memory;

climax::include_catalog!();

fn main() -> std::process::ExitCode {
    climax::Program::new(&CATALOG).native("memory_free", memory::Free).main()
}
