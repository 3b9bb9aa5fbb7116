//! Compiles `configs/`, or what `CLIMAX_CONFIGS` names, into the binary.

fn main() {
    climax_codegen::Build::from_env().run();
}
