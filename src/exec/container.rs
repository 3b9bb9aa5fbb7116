//! Calls that run in containers: the command line of the container runtime.
//!
//! Pure. What the agent gives stands after the image, where runtimes take no options, or is the end of a word.

use climax_catalog::policy::{Container, Runtime};

use super::invocation::Invocation;
use climax_catalog::expansion::{Lookup, policy_path};

/// The command line that runs `invocation` in a new container of this name.
pub(super) fn contained(
    container: &Container,
    name: &str,
    invocation: &Invocation,
    variables: Lookup<'_>,
) -> Invocation {
    let mut argv = vec![container.runtime.as_str().to_owned(), "run".to_owned(), "--rm".to_owned()];
    argv.push(format!("--name={name}"));
    if container.runtime == Runtime::Podman {
        // It would hand on the proxies of this machine, with their passwords.
        argv.push("--http-proxy=false".to_owned());
    }
    if invocation.stdin.is_some() {
        argv.push("--interactive".to_owned());
    }
    argv.extend(container.volumes.iter().map(|volume| format!("--volume={}", policy_path(volume, variables))));
    argv.extend(invocation.files_dir.iter().map(|dir| format!("--volume={0}:{0}", dir.display())));
    argv.extend(container.network.iter().map(|network| format!("--network={network}")));
    let inside = invocation.cwd.as_ref().map(|dir| dir.display().to_string());
    argv.extend(inside.or_else(|| container.working_dir.clone()).map(|dir| format!("--workdir={dir}")));
    argv.extend(invocation.env.iter().map(|(name, value)| format!("--env={name}={value}")));
    argv.push(container.image.clone());
    argv.extend(invocation.argv.iter().cloned());
    Invocation {
        argv,
        env: Vec::new(),
        program_dir: None,
        cwd: None,
        stdin: invocation.stdin.clone(),
        files_dir: None,
        timeout: invocation.timeout,
    }
}

/// The command lines that end and remove the container of this name, wherever it stands.
pub(super) fn removal(container: &Container, name: &str, limit: std::time::Duration) -> [Invocation; 2] {
    [vec!["kill"], vec!["rm", "--force"]].map(|words| {
        let words = std::iter::once(container.runtime.as_str()).chain(words).chain([name]);
        Invocation {
            argv: words.map(str::to_owned).collect(),
            env: Vec::new(),
            program_dir: None,
            cwd: None,
            stdin: None,
            files_dir: None,
            timeout: limit,
        }
    })
}
