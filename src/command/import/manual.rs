//! The manual page of a program, where it is installed.

use std::path::{Path, PathBuf};

use climax_import::{self as import, HelpPage};

use super::reader::HelpReader;
use crate::exec::{path_of_program, variable};

/// Sections with commands.
const SECTIONS: [&str; 2] = ["1", "8"];

/// Parts of sections that packages give names of their own: those of Perl, of OpenSSL, and of the X Window System.
const PARTS: [&str; 5] = ["", "p", "pm", "ssl", "x"];

/// Reads the manual page of a command; `None` if there is none that says something.
pub(super) async fn page(reader: &HelpReader<'_>, program: &str, words: &[String]) -> Option<HelpPage> {
    let name = Path::new(program).file_name()?.to_str()?;
    let name = std::iter::once(name).chain(words.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
    // A script that was named by its path is another program than that of the manual.
    if program.contains('/') && !Path::new(program).starts_with("/usr") || !is_installed(&name) {
        return None;
    }
    path_of_program("man")?;

    let text = reader.output_of(["man", "--", &name].map(str::to_owned).to_vec()).await.ok()?;
    let page = import::read(&text, words);
    (page.is_manual && page.says_something()).then_some(page)
}

/// Returns whether a page of this name is among the system's or the user's.
fn is_installed(name: &str) -> bool {
    let home = variable("HOME").map(|home| PathBuf::from(home).join(".local/share/man"));
    let roots = ["/usr/share/man", "/usr/local/share/man", "/usr/local/man", "/opt/homebrew/share/man"];
    roots.iter().map(PathBuf::from).chain(home).any(|root| {
        SECTIONS.iter().any(|section| {
            let directory = root.join(format!("man{section}"));
            ["", ".gz", ".zst", ".xz", ".bz2"].iter().any(|ending| {
                let is_file = |part: &&str| directory.join(format!("{name}.{section}{part}{ending}")).is_file();
                PARTS.iter().any(is_file)
            })
        })
    })
}
