//! Compiles `configs/`, or what `CLIMAX_CONFIGS` names, into the binary, and says what it was compiled by.

use std::env;
use std::process::Command;

fn main() {
    climax_codegen::Build::from_env().run();
    let variable = |name: &str| env::var(name).unwrap_or_default();
    #[expect(clippy::disallowed_methods, reason = "a build script is not the server")]
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let rustc =
        rustc.map_or_else(|_| String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo::rustc-env=CLIMAX_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=CLIMAX_RUSTC={rustc}");
    println!("cargo::rerun-if-env-changed=CLIMAX_COMMIT");
    println!("cargo::rerun-if-env-changed=CLIMAX_PORTABLE");
    println!("cargo::rustc-check-cfg=cfg(native_linux, has_code)");
    // Linux's own ways: pidfd, Landlock, seccomp, /proc/self/exe. CLIMAX_PORTABLE leaves them out, so that Linux can
    // test what other systems run.
    if variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CLIMAX_PORTABLE").is_empty() {
        println!("cargo::rustc-cfg=native_linux");
        // Nothing else isolates the engine of `climax_code`.
        if env::var_os("CARGO_FEATURE_CODE").is_some() {
            println!("cargo::rustc-cfg=has_code");
        }
    }
}
