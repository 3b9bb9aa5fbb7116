//! `read` with its options.

use climax_shell::Field;

use super::cluster::{Cluster, is_option};
use crate::call::refusal::Refusal;

/// `read` with its options.
#[derive(Clone, Debug)]
pub(crate) struct Read<'f> {
    /// `-r`: a backslash is a character like others.
    pub(crate) is_raw: bool,
    /// `-d`: the byte that ends a line.
    pub(crate) delimiter: u8,
    /// The variables; `REPLY` has the line if there are none.
    pub(crate) names: Vec<&'f str>,
}

impl<'f> Read<'f> {
    /// Reads the words behind `read`.
    ///
    /// # Errors
    /// An option is not read.
    pub(crate) fn of(words: &'f [Field]) -> Result<Self, Refusal> {
        let mut read = Self { is_raw: false, delimiter: b'\n', names: Vec::new() };
        let mut rest = words.iter();
        while let Some(word) = rest.as_slice().first().filter(|word| is_option(word)) {
            rest.next();
            if word.text == "--" {
                break;
            }
            let mut options = Cluster::of(&word.text);
            while let Some(option) = options.next() {
                let mut value = || options.attached().or_else(|| rest.next().map(|word| word.text.clone()));
                match option.as_str() {
                    "-r" => read.is_raw = true,
                    // There is no terminal, whose echo or prompt these are about.
                    "-s" | "-e" => {}
                    "-p" => drop(value()),
                    "-d" => read.delimiter = value().and_then(|text| text.bytes().next()).unwrap_or_default(),
                    option => {
                        let remedy = match option {
                            "-a" => "arrays are not read; name a variable for each part, as in `read -r x y`",
                            "-n" | "-N" => "read the whole line, and take its start by `${x:0:1}`",
                            "-t" => "leave it out; input that does not come ends with the time of the line",
                            _ => "write `read -r NAME`",
                        };
                        return Err(Refusal::new(format!("the option `{option}` of `read` is not read"), remedy));
                    }
                }
            }
        }
        read.names = rest.map(|word| word.text.as_str()).collect();

        Ok(read)
    }
}
