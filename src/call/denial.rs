//! Tells that confinement was probably the reason of a failure, and which need would have permitted it.
//!
//! Pure. The kernel tells a program only the error number, and the program tells it in its own words.

use std::path::{Path, PathBuf};

use climax_catalog::Cage;

use crate::exec::{CageRights, End, Invocation, Outcome, Rights};

/// Texts by which programs tell that the system refused something. Source: `strerror`(3).
const REFUSALS: [&str; 6] =
    ["permission denied", "operation not permitted", "read-only file system", "eacces", "erofs", "eperm"];

/// Texts by which programs tell that they have no network.
const NO_NETWORK: [&str; 11] = [
    "resolve host",
    "name resolution",
    "resolve hostname",
    "lookup address",
    "dial tcp",
    "dial udp",
    "dial unix",
    "network is unreachable",
    "enetunreach",
    "socket",
    "connect",
];

/// Maximum number of lines of standard error that are searched.
const MAX_LINES: usize = 200;

/// Adds to a failed outcome what its confinement probably refused.
///
/// `prefetch` is the command that downloads beforehand what the program would load from the network. `could_write` returns
/// whether the server itself may write a path: a program that it confines could, then, without.
pub(crate) fn explained(
    invocation: &Invocation,
    prefetch: Option<&str>,
    outcome: Outcome,
    could_write: &dyn Fn(&Path) -> bool,
) -> Outcome {
    let has_failed = !outcome.succeeded() && matches!(outcome.end, End::Exited(_) | End::Signaled(_));
    if !has_failed || outcome.sandbox.is_some() {
        return outcome;
    }
    let stderr = outcome.stderr.text();
    let said = match &invocation.confinement {
        Some(confinement) => denial(confinement, prefetch, &stderr, could_write),
        None => denial_of_places(&invocation.places, &stderr, could_write),
    };
    Outcome { sandbox: said.map(Into::into), ..outcome }
}

/// Returns which file a program could not change because it lies outside of the directories of all that its call names.
fn denial_of_places(places: &[PathBuf], stderr: &str, could_write: &dyn Fn(&Path) -> bool) -> Option<String> {
    let (project, path) = (places.first()?, Path::new(path(line_with(&REFUSALS, stderr)?)?));
    if places.iter().any(|place| path.starts_with(place)) || !could_write(path) {
        return None;
    }
    let what = format!(
        "it could not change {}, since all that the call names to change lies in {} or is temporary",
        path.display(),
        project.display()
    );
    Some(text(&what, &format!("write: [{}]", path.parent().unwrap_or(path).display())))
}

/// Returns the first line with one of these texts, in whatever case.
fn line_with<'s>(texts: &[&str], stderr: &'s str) -> Option<&'s str> {
    let has_one = |line: &&str| {
        let line = line.to_ascii_lowercase();
        texts.iter().any(|text| line.contains(text))
    };
    stderr.lines().take(MAX_LINES).find(has_one)
}

/// Returns what was probably refused, by what the program wrote to standard error.
fn denial(
    confinement: &Rights,
    prefetch: Option<&str>,
    stderr: &str,
    could_write: &dyn Fn(&Path) -> bool,
) -> Option<String> {
    let line_with = |texts: &[&str]| line_with(texts, stderr);
    if let Some(rights) = &confinement.cage {
        let network = line_with(&NO_NETWORK).map(|_| match prefetch {
            Some(command) => format!("`{command}` downloads beforehand what it lacks."),
            None => "A config with `needs: {network: true}` permits it.".to_owned(),
        });
        return denial_of_cage(confinement, rights, line_with(&REFUSALS), network);
    }
    if !confinement.network && !confinement.local_sockets && line_with(&NO_NETWORK).is_some() {
        return Some(text("it had no network", "network: true"));
    }

    match path(line_with(&REFUSALS)?).map(Path::new) {
        Some(path) if confinement.write.iter().any(|open| path.starts_with(open)) || !could_write(path) => None,
        Some(path) => {
            let directory = path.parent().unwrap_or(path).display();
            Some(text(&format!("it could not change {}", path.display()), &format!("write: [{directory}]")))
        }
        None => Some(text("it could change files of its temporary directory only", "write: [DIRECTORY]")),
    }
}

/// Returns what the cage of a program probably refused, and what would permit it. `network` says the latter of the network,
/// if the program had none.
fn denial_of_cage(
    confinement: &Rights,
    rights: &CageRights,
    refused: Option<&str>,
    network: Option<String>,
) -> Option<String> {
    let cage = rights.cage.as_str();
    let wider = match rights.cage {
        Cage::Read if rights.project.is_some() => {
            "`cage: workspace` of climax_run, or `climax sh --cage workspace`, lets it write in the project. "
        }
        Cage::Read | Cage::Workspace => "",
    };
    let reach = match (&rights.project, rights.cage) {
        (Some(project), Cage::Read) => format!(
            "It reads the project {}, without secrets such as .env, and writes temporary files in $TMPDIR",
            project.display()
        ),
        (Some(project), Cage::Workspace) => format!(
            "It reads the project {}, without secrets such as .env, and writes there, but for .git and settings that other \
             programs load, and in $TMPDIR",
            project.display()
        ),
        (None, _) => {
            "It has no project, since the server started in none (in the directory of a project it has one), and \
                      writes temporary files in $TMPDIR"
                .to_owned()
        }
    };

    let (what, need) = match (refused, network) {
        (Some(line), _) => (
            path(line).map_or_else(|| line.trim().to_owned(), |path| format!("access to {path}")),
            "A config with `needs` permits single paths.".to_owned(),
        ),
        (None, Some(need)) if !confinement.network => ("the network".to_owned(), need),
        (None, _) => return None,
    };
    let is_temporary = refused.and_then(path).is_some_and(|path| path.starts_with("/tmp/"));
    let temporary = if is_temporary {
        "Of /tmp it opens what its session has made; another file there reaches it by `< FILE`. "
    } else {
        ""
    };
    Some(format!("Probably denied by the cage `{cage}`: {what}. {reach}; it has no network. {temporary}{wider}{need}"))
}

fn text(what: &str, need: &str) -> String {
    format!("Probably denied by confinement: {what}. `needs: {{{need}}}` in the config of the tool permits it.")
}

/// Returns the first absolute path in a line.
fn path(line: &str) -> Option<&str> {
    let ends = |c: char| c.is_whitespace() || "'\"`:,;()[]".contains(c) || c == '\u{2018}' || c == '\u{2019}';
    line.split(ends).find(|word| word.len() > 1 && word.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::SecretDepth;

    #[test]
    fn tells_the_path_or_the_network_that_was_refused() {
        let is_ours = |path: &Path| !path.starts_with("/proc");
        let said = |stderr: &str| denial(&Rights::default(), None, stderr, &is_ours).unwrap_or_default();
        let touch = said("touch: cannot touch '/srv/x': Permission denied");
        assert!(touch.contains("could not change /srv/x") && touch.contains("`needs: {write: [/srv]}`"), "{touch}");
        assert_eq!(said("cat: /proc/x: Permission denied"), "");
        assert!(said("curl: (6) Could not resolve host: a.example").contains("it had no network"));
        assert!(said("x: Operation not permitted").contains("temporary directory only"));
        assert_eq!(said("fatal: bad revision 'x'"), "");
        let open = Rights { write: vec!["/srv".into()], ..Rights::default() };
        assert_eq!(denial(&open, None, "touch: '/srv/x': Permission denied", &is_ours), None);
    }

    #[test]
    fn names_the_cage_the_file_and_the_way_on() {
        let caged = |cage| Rights {
            cage: Some(CageRights {
                cage,
                project: Some("/srv/p".into()),
                frozen: Vec::new(),
                tracked: false,
                depth: SecretDepth::Near,
                secrets: Vec::new(),
                open: Vec::new(),
            }),
            ..Rights::default()
        };
        let said = |cage, stderr: &str| denial(&caged(cage), Some("x fetch"), stderr, &|_| true).unwrap_or_default();
        let read = said(Cage::Read, "OSError: [Errno 30] Read-only file system: '/srv/p/x'");
        for part in ["cage `read`", "access to /srv/p/x", "the project /srv/p", "`cage: workspace`"] {
            assert!(read.contains(part), "{part}: {read}");
        }
        let workspace = said(Cage::Workspace, "curl: (6) Could not resolve host: a.example");
        assert!(workspace.contains("the network") && !workspace.contains("cage: workspace"), "{workspace}");
        assert!(workspace.contains("`x fetch` downloads beforehand what it lacks"), "{workspace}");
        let temporary = said(Cage::Read, "python3: can't open file '/tmp/x.py': [Errno 13] Permission denied");
        assert!(temporary.contains("another file there reaches it by `< FILE`"), "{temporary}");
        assert!(!read.contains("/tmp"), "{read}");
        assert_eq!(said(Cage::Read, "1 test failed"), "");
    }
}
