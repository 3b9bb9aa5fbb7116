//! The command-line arguments of `climax run`.

#[cfg(feature = "http")]
use core::net::IpAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(feature = "http")]
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, ValueEnum};
use climax_catalog::Strategy;

#[cfg(feature = "oauth")]
use super::oauth::OauthArguments;
use super::surface::SurfaceArguments;
use crate::command::retired::ProbableCommand;
use crate::command::selection::{Selection, Sources};
use crate::command::strategy::strategies;
use crate::command::value;
use crate::exec;
#[cfg(feature = "http")]
use crate::mcp::ReplicaName;
#[cfg(feature = "http")]
use crate::transport::http::{
    caller::CallerPattern,
    host_check::{Host, Origin},
    rate::Rate,
};

/// Default of `--drain`, in seconds.
#[cfg(feature = "http")]
const DEFAULT_DRAIN_S: u64 = 30;

#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) surface: SurfaceArguments,
    /// Serve skills: DIR is a directory with a SKILL.md, or holds such directories
    #[arg(long, value_name = "DIR")]
    pub(crate) skills: Vec<PathBuf>,
    /// The command that the first name may stand for.
    #[arg(skip)]
    pub(crate) probable_command: Option<ProbableCommand>,
    /// How tools are found: by substring, in the order of definition (lexical); by words, best first (bm25); or by
    /// both, best first (auto, the default)
    #[arg(long, value_name = "STRATEGY", value_parser = strategies())]
    pub(crate) search: Option<Strategy>,
    /// How many bytes of standard output, and of standard error, a result holds at most
    #[arg(long, value_name = "BYTES", default_value_t = crate::exec::DEFAULT_OUTPUT_BYTES, value_parser = value::integer::<usize>)]
    pub(crate) max_output: usize,
    /// Return text as programs print it, with terminal escapes and invisible characters
    #[arg(long)]
    pub(crate) raw_output: bool,
    /// How many programs may run at the same time; further calls wait in order of arrival [default: 4 per processor]
    #[arg(long, value_name = "N", value_parser = value::positive)]
    pub(crate) max_concurrency: Option<NonZero<usize>>,
    /// Let calls that take longer than this go on as jobs, which the tool `climax_job` reads and ends; with 0 every call
    /// becomes a job. Clients with the tasks extension get tasks instead, and without this option they get them after
    /// 5 seconds
    #[arg(long, value_name = "SECONDS", value_parser = value::seconds)]
    pub(crate) detach_after: Option<Duration>,
    /// Append a JSON line for each call to this file; SIGHUP reopens it
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// How clients reach the server
    #[arg(long, value_enum, default_value = "stdio", hide = cfg!(not(feature = "http")))]
    pub(crate) transport: Transport,
    #[cfg(feature = "http")]
    #[command(flatten)]
    pub(crate) http: HttpArguments,
    #[command(flatten)]
    pub(crate) reload: ReloadArguments,
    /// Write log records of this level and above to standard error
    #[arg(long, value_name = "LEVEL", default_value = "warn", ignore_case = true)]
    pub(crate) log_level: LogLevel,
    /// Write log records to this file instead of standard error; default: the file that `CLIMAX_LOG_FILE` names
    #[arg(long, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,
}

/// When files are reloaded, and whether clients are notified.
#[derive(Args, Debug)]
pub(crate) struct ReloadArguments {
    /// Read configs, skills and policies again whenever they change; without this, only SIGHUP makes the server do so
    #[arg(long)]
    pub(crate) watch: bool,
    /// Do not notify clients when lists (tools, prompts, resources) change
    #[arg(long)]
    pub(crate) no_notify: bool,
}

impl RunArguments {
    /// Whether the served tools and skills come from files, which can be reloaded.
    pub(crate) fn has_files(&self) -> bool {
        let Sources { configs, policy, .. } = &self.selection.sources;
        #[cfg(feature = "http")]
        let has_more = !self.http.policy_for.is_empty();
        #[cfg(not(feature = "http"))]
        let has_more = false;
        policy.is_some() || !configs.is_empty() || !self.skills.is_empty() || has_more
    }

    /// Checks the options in `given` against one another. Returns the message of a conflict.
    #[cfg(feature = "http")]
    pub(crate) fn problem(&self, given: &ArgMatches) -> Option<String> {
        let ignored = match self.transport {
            Transport::Stdio => HttpArguments::given(given),
            Transport::StreamableHttp => return self.http.ambiguity(),
        };
        (!ignored.is_empty()).then(|| {
            let (options, need) = (ignored.join(", "), if ignored.len() == 1 { "needs" } else { "need" });
            format!("{options} {need} --transport streamable-http; without it the server speaks on standard input and output")
        })
    }

    /// Returns `None`: the options that can conflict exist in builds with HTTP only.
    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "the signature is that of builds with HTTP")]
    pub(crate) fn problem(&self, _: &ArgMatches) -> Option<String> {
        None
    }

    /// Whether the server goes into the root of its client: it has one client, and was started outside of any project.
    pub(crate) fn enters_root(&self) -> bool {
        self.transport == Transport::Stdio && exec::project_of(&exec::directory()).is_none()
    }

    /// Makes the paths of files absolute, so that they name the same files after the server has gone elsewhere.
    pub(crate) fn make_paths_absolute(&mut self) {
        let Sources { configs, policy, .. } = &mut self.selection.sources;
        let paths = configs.iter_mut().chain(policy).chain(&mut self.skills);
        for path in paths.chain(&mut self.audit).chain(&mut self.log_file) {
            *path = exec::directory().join(&*path);
        }
    }

    /// Whether SIGHUP reloads files. If not, it ends the server.
    pub(crate) fn handles_hangup(&self) -> bool {
        self.has_files() || self.audit.is_some()
    }
}

/// How clients reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// Over standard input and output
    Stdio,
    /// Over HTTP
    #[cfg(feature = "http")]
    StreamableHttp,
}

/// The options of streamable HTTP.
#[cfg(feature = "http")]
#[derive(Args, Debug)]
#[command(next_help_heading = "Options for --transport streamable-http")]
#[cfg_attr(not(feature = "oauth"), command(arg = without_oauth()))]
pub(crate) struct HttpArguments {
    /// Address to listen on; an address that is not loopback needs --token-file, --oauth-issuer or --insecure-no-auth
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = value::address)]
    pub(crate) host: IpAddr,
    /// Port to listen on; 0 takes a free one. A socket from systemd overrides address and port
    #[arg(long, value_name = "PORT", default_value_t = 8080, value_parser = value::port)]
    pub(crate) port: u16,
    /// Require a bearer token of this file, which has one `NAME TOKEN` per line; SIGHUP reloads it
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    #[cfg(feature = "oauth")]
    #[command(flatten)]
    pub(crate) oauth: OauthArguments,
    /// Require no token, so that everybody who reaches the server can use it
    #[arg(long, conflicts_with_all = ["token_file", "oauth_issuer"])]
    pub(crate) insecure_no_auth: bool,
    /// Accept requests for this host name too, with any port or only with the given one
    #[arg(long, value_name = "NAME[:PORT]")]
    pub(crate) allowed_host: Vec<Host>,
    /// Accept requests from web pages of this origin too (CORS)
    #[arg(long, value_name = "SCHEME://NAME[:PORT]")]
    pub(crate) allowed_origin: Vec<Origin>,
    /// Use this policy instead of --policy for the token NAME, or for access tokens with WORD in the claim CLAIM
    #[arg(long, value_name = "NAME|CLAIM:WORD=FILE", value_parser = policy_for)]
    pub(crate) policy_for: Vec<(CallerPattern, PathBuf)>,
    /// How many requests each caller may make, such as 10/s or 600/m; default: any number
    #[arg(long, value_name = "N/s|m|h")]
    pub(crate) rate: Option<Rate>,
    /// How many seconds running calls may still take after SIGTERM
    #[arg(long, value_name = "SECONDS", default_value_t = DEFAULT_DRAIN_S, value_parser = value::integer::<u64>)]
    pub(crate) drain: u64,
    /// For how many seconds after SIGTERM new calls are still served, so that proxies first see `/readyz` fail
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = value::integer::<u64>)]
    pub(crate) drain_delay: u64,
    /// Sign the request state of approvals and forms with the key in this file, so that replicas can share it
    #[arg(long, value_name = "FILE")]
    pub(crate) state_key_file: Option<PathBuf>,
    /// Name this replica in the header Climax-Replica and in the ids of tasks, jobs and outputs; without NAME, its name
    /// is that of the host
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = replica)]
    pub(crate) replica: Option<ReplicaName>,
}

#[cfg(feature = "http")]
impl HttpArguments {
    /// Returns the options that are given on the command line, as `--name`.
    fn given(matches: &ArgMatches) -> Vec<String> {
        let options = Self::augment_args(clap::Command::default());
        let is_given = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
        let given = options.get_arguments().filter(|option| is_given(option.get_id().as_str()));
        given.filter_map(|option| Some(format!("--{}", option.get_long()?))).collect()
    }

    /// Returns the message of a conflict, if the same caller has two policies.
    fn ambiguity(&self) -> Option<String> {
        let policies = self.policy_for.iter().enumerate();
        let mut twice = policies.filter_map(|(at, (who, file))| {
            let (_, other) = self.policy_for[..at].iter().find(|(earlier, _)| earlier == who)?;
            Some((who, other.display(), file.display()))
        });
        let (who, one, other) = twice.next()?;
        let who = match who {
            CallerPattern::Token(name) => name.clone(),
            CallerPattern::Claim(claim, word) => format!("{claim}:{word}"),
        };

        Some(format!("--policy-for {who} is given twice, with {one} and with {other}: name one policy for it"))
    }
}

/// Reads the name of a replica. No text stands for the first label of the host's name.
#[cfg(feature = "http")]
fn replica(text: &str) -> Result<ReplicaName, String> {
    if !text.is_empty() {
        return text.parse();
    }
    let host = crate::exec::host_name();
    let label = host.split('.').next().unwrap_or_default();
    label.parse().map_err(|expected| format!("the name of the host is `{host}`, {expected}: give --replica=NAME"))
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LogLevel {
    Off,
    Error,
    #[value(alias = "warning")]
    Warn,
    Info,
    Debug,
    Trace,
}

#[cfg(feature = "http")]
fn policy_for(text: &str) -> Result<(CallerPattern, PathBuf), String> {
    match text.split_once('=') {
        Some((who, path)) if !who.is_empty() && !path.is_empty() => Ok((CallerPattern::parse(who), path.into())),
        _ => Err("expected NAME=FILE or CLAIM:WORD=FILE, such as ci=ci-policy.yaml".to_owned()),
    }
}

/// An option whose only use is an error that names the feature.
#[cfg(all(feature = "http", not(feature = "oauth")))]
fn without_oauth() -> clap::Arg {
    let error = "this binary was built without OAuth; build it with `cargo install --path . --features oauth`";
    clap::Arg::new("oauth_issuer")
        .long("oauth-issuer")
        .hide(true)
        .value_parser(move |_: &str| Err::<String, _>(error.to_owned()))
}
