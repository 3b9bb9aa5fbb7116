//! The `climax` binary: the library's command line over the catalog that this package was built with.

use std::process::ExitCode;

fn main() -> ExitCode {
    climax::main(&climax::CATALOG)
}
