//! Compiles this package's configs and policy into the binary.

fn main() {
    climax_codegen::Build::new().configs("configs").policy("policy.yaml").sealed(true).run();
}
