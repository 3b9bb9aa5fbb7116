//! The profile of macOS's sandbox (Seatbelt) that permits what [`Rights`] permit, as text.
//!
//! Pure. No code runs a program under such a profile: nobody has tried one on macOS yet.

use std::fmt::Write as _;
use std::path::Path;

use super::rights::{Readable, Rights};

/// What the start of any program needs.
const START: &str = "\
(version 1)
(deny default)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (literal \"/\") (literal \"/dev/random\") (literal \"/dev/urandom\"))
(allow file-read* file-write-data (literal \"/dev/null\") (literal \"/dev/zero\"))
";

/// Returns the profile of rights. `hidden` and `frozen` are the files and directories whose content the program does not
/// see, and those that it does not change.
///
/// The last rule that fits counts, so what is refused stands behind what is permitted.
pub(crate) fn profile(rights: &Rights, hidden: &[&Path], frozen: &[&Path]) -> String {
    let Rights { read, write, network, local_sockets, metadata: _, cage: _ } = rights;
    let mut text = START.to_owned();

    let mut rule = |words: &str, path: &Path| {
        let _ = writeln!(text, "({words} (subpath {}))", quoted(path));
    };
    match read {
        Readable::Everything => rule("allow file-read* process-exec", Path::new("/")),
        Readable::Listed(paths) => paths.iter().for_each(|path| rule("allow file-read* process-exec", path)),
    }
    for path in write {
        rule("allow file-read* file-write* process-exec", path);
    }
    for path in hidden {
        rule("deny file-read* file-write* process-exec", path);
    }
    for path in frozen {
        rule("deny file-write*", path);
    }

    // A loopback of its own is not to be had.
    text.push_str(if *network { "(allow network* (remote ip) (local ip))\n" } else { "" });
    text.push_str(if *local_sockets { "(allow network* (remote unix-socket) (local unix-socket))\n" } else { "" });
    text
}

/// Writes a path as a string of the profile, whose language is a Scheme.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_permits_what_the_rights_do() {
        let rights = Rights {
            read: Readable::Listed(vec!["/usr".into(), "/Users/ada/pro\"ject".into()]),
            write: vec!["/private/tmp/climax-1".into(), "/Users/ada/pro\"ject".into()],
            ..Rights::default()
        };
        let (hidden, frozen) = (Path::new("/Users/ada/pro\"ject/.env"), Path::new("/Users/ada/pro\"ject/.git"));
        let profile = profile(&rights, &[hidden], &[frozen]);
        let expected = r#"(allow file-read* process-exec (subpath "/usr"))
(allow file-read* process-exec (subpath "/Users/ada/pro\"ject"))
(allow file-read* file-write* process-exec (subpath "/private/tmp/climax-1"))
(allow file-read* file-write* process-exec (subpath "/Users/ada/pro\"ject"))
(deny file-read* file-write* process-exec (subpath "/Users/ada/pro\"ject/.env"))
(deny file-write* (subpath "/Users/ada/pro\"ject/.git"))
"#;
        assert_eq!(profile.strip_prefix(START), Some(expected));
    }

    #[test]
    fn needs_open_the_network_and_nothing_closes_reading() {
        let rights = Rights { network: true, local_sockets: true, ..Rights::default() };
        let profile = profile(&rights, &[], &[]);
        let expected = "(allow file-read* process-exec (subpath \"/\"))\n\
                        (allow network* (remote ip) (local ip))\n\
                        (allow network* (remote unix-socket) (local unix-socket))\n";
        assert_eq!(profile.strip_prefix(START), Some(expected));
    }
}
