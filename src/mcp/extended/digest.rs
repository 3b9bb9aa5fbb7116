//! What tells two catalogs apart.

use climax_catalog::{ArgView, ToolIndex};
use sha2::{Digest as _, Sha256};

/// SHA-256, in hexadecimal, over everything that is served: entries, command lines, limits and risks, in their order.
///
/// The same configs give the same digest on every machine, whatever their formatting.
pub(crate) fn digest(index: &ToolIndex) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    for tool in index.tools() {
        let cli = tool.cli();
        add(tool.entry().as_json());
        add(tool.risk().as_str());
        add(&tool.timeout_ms().to_string());
        add(tool.confirm_message().unwrap_or_default());
        cli.words().chain(["\0"]).chain(tool.words()).for_each(&mut add);
        tool.args().chain(cli.global_args()).for_each(|arg| add_arg(arg, &mut add));
        for (name, value) in cli.env() {
            add(name);
            add(value);
        }
        add(cli.working_dir().unwrap_or_default());
    }
    hex(&hash.finalize())
}

fn add_arg(arg: ArgView<'_>, add: &mut impl FnMut(&str)) {
    for text in [arg.name(), arg.place().as_str(), arg.flag(), arg.default().unwrap_or_default()] {
        add(text);
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
