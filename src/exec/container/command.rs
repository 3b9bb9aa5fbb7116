//! Builds the command line of the container runtime for a call.
//!
//! Pure. The agent's values come after the image, where runtimes take no options, or end a word that the config starts.

use climax_catalog::expansion::{Lookup, policy_path};
use climax_catalog::policy::{Container, Runtime};

use crate::exec::invocation::Invocation;

/// Builds the command line that runs `invocation` in a new container called `name`.
pub(super) fn run(container: &Container, name: &str, invocation: &Invocation, variables: Lookup<'_>) -> Invocation {
    let mut argv = vec![container.runtime.as_str().to_owned(), "run".to_owned(), "--rm".to_owned()];
    argv.push(format!("--name={name}"));

    if container.runtime == Runtime::Podman {
        // By default podman passes on the proxies of this machine, with their passwords.
        argv.push("--http-proxy=false".to_owned());
    }
    if invocation.stdin.is_some() {
        argv.push("--interactive".to_owned());
    }

    argv.extend(container.volumes.iter().map(|volume| format!("--volume={}", policy_path(volume, variables))));
    argv.extend(invocation.files_dir.iter().map(|dir| format!("--volume={0}:{0}", dir.display())));
    argv.extend(container.network.iter().map(|network| format!("--network={network}")));
    let call_dir = invocation.cwd.as_ref().map(|dir| dir.display().to_string());
    argv.extend(call_dir.or_else(|| container.working_dir.clone()).map(|dir| format!("--workdir={dir}")));
    argv.extend(invocation.env.iter().map(|(name, value)| format!("--env={name}={value}")));
    argv.push(container.image.clone());
    argv.extend(invocation.argv.iter().cloned());

    Invocation { stdin: invocation.stdin.clone(), ..Invocation::new(argv, invocation.timeout) }
}

/// Builds the command lines that end and remove the container called `name`, whatever its state.
pub(super) fn removal(container: &Container, name: &str, limit: std::time::Duration) -> [Invocation; 2] {
    [vec!["kill"], vec!["rm", "--force"]].map(|words| {
        let words = std::iter::once(container.runtime.as_str()).chain(words).chain([name]);
        Invocation::new(words.map(str::to_owned).collect(), limit)
    })
}
