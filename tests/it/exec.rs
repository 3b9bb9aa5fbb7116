//! The executor with real processes: captured output, timeouts, process groups.

use std::future::{Future, pending};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use climax::catalog::policy::Executor;
use climax::exec::Invocation;
use climax::exec::Limits;
use climax::exec::{End, Outcome, Runner, SpawnError, Stop};

use crate::support::{PATIENCE, announced, binary, fakecli, is_running, run, until};

/// An invocation of fakecli.
struct Fake {
    invocation: Invocation,
    limits: Limits,
}

impl Fake {
    fn new(words: &[&str]) -> Self {
        let argv = std::iter::once(fakecli().display().to_string()).chain(words.iter().map(ToString::to_string));
        let invocation = Invocation::new(argv.collect(), PATIENCE);
        Self { invocation, limits: Limits::default() }
    }

    fn env(mut self, name: &str, value: &str) -> Self {
        self.invocation.env.push((name.into(), value.into()));
        self
    }

    fn timeout_ms(mut self, millis: u64) -> Self {
        self.invocation.timeout = Duration::from_millis(millis);
        self
    }

    async fn run(self) -> Outcome {
        self.try_run(pending()).await.unwrap()
    }

    async fn try_run(self, stop: impl Future<Output = Stop>) -> Result<Outcome, SpawnError> {
        Runner::new(Executor::Local, self.limits, 1).run(&self.invocation, None, stop).await
    }
}

fn pid_file() -> (tempfile::TempDir, PathBuf, String) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pids");
    let name = file.display().to_string();
    (dir, file, name)
}

/// Waits until `count` processes have announced themselves.
async fn announcement(file: PathBuf, count: usize) {
    while announced(&file).len() < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn all_gone(file: &std::path::Path) {
    until("the processes to be gone", || announced(file).iter().all(|pid| !is_running(*pid)));
}

#[tokio::test]
async fn captures_both_streams_and_the_exit_status() {
    let outcome = Fake::new(&["both"]).run().await;
    assert_eq!((outcome.stdout.text().as_str(), outcome.stderr.text().as_str()), ("  out\n\n", "err\n\n"));
    assert_eq!(outcome.end, End::Exited(0));
    assert_eq!(Fake::new(&["exit", "7"]).run().await.end, End::Exited(7));
    assert_eq!(Fake::new(&["abort"]).run().await.end, End::Signaled(6));
    assert_eq!(Fake::new(&["bytes"]).run().await.stdout.text(), "a\u{fffd}\u{fffd}b\n");
}

#[tokio::test]
async fn passes_each_argument_as_one_word() {
    let words = ["argv", "", "two words", "$HOME", "`id`", "a;b|c", "*", "\"'", "new\nline", "ä"];
    let outcome = Fake::new(&words).run().await;
    let expected: Vec<String> = words[1..].iter().map(|word| format!("<{word}>")).collect();
    assert_eq!(outcome.stdout.text(), expected.join("\n"));
}

#[tokio::test]
async fn standard_input_is_null_or_the_text() {
    assert_eq!(Fake::new(&["stdin"]).run().await.stdout.text(), "0 bytes: ");
    let mut fake = Fake::new(&["stdin"]);
    fake.invocation.stdin = Some("a\nä".into());
    assert_eq!(fake.run().await.stdout.text(), "4 bytes: a\nä");
}

#[tokio::test]
async fn unread_standard_input_is_no_error() {
    let mut fake = Fake::new(&["exit", "0", "done"]);
    fake.invocation.stdin = Some("x".repeat(4 << 20));
    let outcome = fake.run().await;
    assert_eq!((outcome.end, outcome.stdout.text()), (End::Exited(0), "done".into()));
}

#[tokio::test]
async fn child_inherits_only_three_descriptors() {
    climax::exec::keep_descriptors_private();
    let _open = std::fs::File::open("/dev/null").unwrap();
    let outcome = Fake::new(&["fds"]).run().await;
    assert_eq!(outcome.stdout.text(), "0=/dev/null");
}

#[test]
fn no_command_gives_programs_what_it_inherited() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let [program, config, secret] = ["says", "says.yaml", "secret"].map(path);
    let script = "#!/bin/sh\n{ echo reached >&7; } 2>/dev/null\necho 'usage: says [--loud]  says a word'\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let tools = "tools: [{name: word, description: Says it, risk: read, needs: {}}]";
    std::fs::write(&config, format!("name: says\ncommand: {program}\n{tools}\n")).unwrap();
    let served = ["--only", "--config", &config];

    let inheriting = |words: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec 7>>\"$0\"; exec \"$@\"", &secret]).args(words);
        run(shell.env("HOME", dir.path()))
    };
    let (_, direct, _) = inheriting(&[&program]);
    assert!(direct.contains("usage"), "{direct}");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "reached\n", "a program that inherits it can write to it");
    std::fs::write(&secret, "").unwrap();

    for (command, words) in [
        ("call", vec!["word"]),
        ("sh", vec!["-c", &program]),
        #[cfg(feature = "import")]
        ("import", vec!["--help-of", &program]),
    ] {
        let (served, words) = if command == "import" { (&[][..], words) } else { (&served[..], words) };
        let all = [&[binary(), command], served, &words].concat();
        let (status, stdout, stderr) = inheriting(&all);
        assert!(status == 0 && stdout.contains("says"), "{command}: {stdout}{stderr}");
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "", "{command}");
    }
}

#[tokio::test]
async fn passes_environment_and_directory() {
    let outcome = Fake::new(&["env", "A", "B"]).env("A", "$B").run().await;
    assert_eq!(outcome.stdout.text(), "A=Ok(\"$B\")\nB=Err(NotPresent)");
    let dir = tempfile::tempdir().unwrap();
    let mut fake = Fake::new(&["cwd"]);
    fake.invocation.cwd = Some(dir.path().to_owned());
    assert_eq!(fake.run().await.stdout.text(), dir.path().canonicalize().unwrap().display().to_string());
}

#[tokio::test]
async fn finds_programs_on_the_path_and_relative_to_the_program_directory() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(fakecli(), dir.path().join("own-name")).unwrap();
    let mut fake = Fake::new(&["argv", "found"]).env("PATH", dir.path().to_str().unwrap());
    fake.invocation.argv[0] = "own-name".into();
    assert_eq!(fake.run().await.stdout.text(), "<found>");
    let mut fake = Fake::new(&["argv", "relative"]);
    fake.invocation.argv[0] = "./own-name".into();
    fake.invocation.program_dir = Some(dir.path().to_owned());
    assert_eq!(fake.run().await.stdout.text(), "<relative>");
}

#[tokio::test]
async fn call_directory_does_not_choose_the_program() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(fakecli(), dir.path().join("own-name")).unwrap();
    let mut fake = Fake::new(&["argv"]);
    fake.invocation.argv[0] = "./own-name".into();
    fake.invocation.cwd = Some(dir.path().to_owned());
    assert!(matches!(fake.try_run(pending()).await, Err(SpawnError::NotFound(_))));
}

#[tokio::test]
async fn start_errors_name_the_cause() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "no program").unwrap();
    let problem = async |program: String, cwd: Option<PathBuf>| {
        let mut fake = Fake::new(&[]);
        fake.invocation.argv = vec![program];
        fake.invocation.cwd = cwd;
        fake.try_run(pending()).await.unwrap_err().to_string().replace(dir.path().to_str().unwrap(), "DIR")
    };
    let executable = dir.path().join("executable");
    std::fs::write(&executable, "no format that the system knows").unwrap();
    std::fs::set_permissions(&executable, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = dir.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = |path: &std::path::Path| path.display().to_string();
    let said = [
        problem(path(&script), None).await,
        problem("no-such-program-anywhere".into(), None).await,
        problem("/no/such/program".into(), None).await,
        problem(path(&file), None).await,
        problem(path(&executable), None).await,
        problem("true".into(), Some(dir.path().join("absent"))).await,
        problem("true".into(), Some(file.clone())).await,
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn reports_a_command_line_that_is_too_long() {
    let error = Fake::new(&["argv", &"x".repeat(4 << 20)]).try_run(pending()).await.unwrap_err();
    assert!(matches!(error, SpawnError::System(..)), "{error}");
}

#[tokio::test]
async fn long_output_is_cut_to_head_and_tail() {
    let mut fake = Fake::new(&["exit", "0", "äbcdefghä"]);
    fake.limits.stream_bytes = 6;
    let text = fake.run().await.stdout.text();
    assert_eq!(text, "äb\n[… 5 bytes omitted …]\nhä");
    let mut fake = Fake::new(&["exit", "0", "aäääääb"]);
    fake.limits.stream_bytes = 4;
    assert_eq!(fake.run().await.stdout.text(), "a\n[… 10 bytes omitted …]\nb");
    let mut fake = Fake::new(&["exit", "0", "😀😀😀😀"]);
    fake.limits.stream_bytes = 7;
    assert_eq!(fake.run().await.stdout.text(), "😀\n[… 12 bytes omitted …]");
    let mut fake = Fake::new(&["exit", "0", "gone"]);
    fake.limits.stream_bytes = 0;
    assert_eq!(fake.run().await.stdout.text(), "[… 4 bytes omitted …]");
    let mut fake = Fake::new(&["exit", "0", "exact!"]);
    fake.limits.stream_bytes = 6;
    assert_eq!(fake.run().await.stdout.text(), "exact!");
}

#[tokio::test]
async fn flood_of_output_is_read_and_counted() {
    let outcome = Fake::new(&["flood", "100000000"]).run().await;
    assert_eq!(outcome.end, End::Exited(0));
    let kept = u64::try_from(Limits::default().stream_bytes).unwrap();
    assert_eq!(outcome.stdout.dropped_bytes(), 100_000_000 - kept);
}

#[tokio::test]
async fn timeout_ends_the_group_and_returns_the_output() {
    let (_dir, file, name) = pid_file();
    let outcome = Fake::new(&["family"]).env("FAKECLI_PIDS", &name).timeout_ms(3_000).run().await;
    assert_eq!(outcome.end, End::TimedOut(Duration::from_secs(3)));
    assert_eq!(outcome.stdout.text(), "ready\n");
    assert_eq!(announced(&file).len(), 1);
    all_gone(&file);
}

#[tokio::test]
async fn grace_period_applies_to_all_group_members() {
    let dir = tempfile::tempdir().unwrap();
    let done = dir.path().join("done");
    let member = "trap 'sleep 0.2; : > \"$0\"; exit' TERM; echo ready; while :; do sleep 0.01; done";
    let mut fake = Fake::new(&[]).timeout_ms(2_000);
    let leader = format!("sh -c '{}' \"$0\" & exec sleep 600", member.replace('\'', "'\\''"));
    fake.invocation.argv = vec!["sh".into(), "-c".into(), leader, done.display().to_string()];
    assert_eq!(fake.run().await.end, End::TimedOut(Duration::from_secs(2)));
    assert!(done.exists(), "the member was killed within the grace period");
}

#[tokio::test]
async fn child_that_ignores_term_is_killed() {
    let (_dir, file, name) = pid_file();
    let mut fake = Fake::new(&["stubborn"]).env("FAKECLI_PIDS", &name);
    fake.limits.grace = Duration::from_millis(50);
    let ready = file.clone();
    let stop = async move {
        announcement(ready, 1).await;
        Stop::Cancelled
    };
    let outcome = fake.try_run(stop).await.unwrap();
    assert_eq!(outcome.end, End::Stopped(Stop::Cancelled));
    all_gone(&file);
}

#[tokio::test]
async fn dropped_call_leaves_no_process() {
    let (_dir, file, name) = pid_file();
    let running = Fake::new(&["family"]).env("FAKECLI_PIDS", &name);
    tokio::select! {
        _ = running.run() => unreachable!("it sleeps"),
        () = announcement(file.clone(), 1) => {}
    }
    all_gone(&file);
}

#[tokio::test]
async fn grandchild_with_open_pipes_does_not_delay_the_result() {
    let (_dir, file, name) = pid_file();
    let outcome = Fake::new(&["leave-behind"]).env("FAKECLI_PIDS", &name).run().await;
    assert_eq!(outcome.end, End::Exited(0));
    assert_eq!(outcome.stdout.text(), "ready\n");
    assert_eq!(outcome.background_processes, 1);
    all_gone(&file);
}

#[tokio::test]
async fn background_processes_are_those_that_go_on_after_the_program() {
    let run = async |script: &str| {
        let mut shell = Fake::new(&[]);
        shell.invocation.argv = ["sh", "-c", script].map(str::to_owned).to_vec();
        shell.run().await.background_processes
    };
    for (script, count) in [
        ("true", 0),
        ("sleep 60 >/dev/null 2>&1 & sleep 60 & sleep 60 >/dev/null 2>&1 & true", 3),
        // It ends by itself while it is awaited.
        ("sleep 0.02 >/dev/null 2>&1 & true", 0),
        ("setsid true & wait", 0),
        ("sleep 60 & kill $!; true", 0),
    ] {
        assert_eq!(run(script).await, count, "{script}");
    }
    let timed_out = Fake::new(&["family"]).timeout_ms(200).run().await;
    assert_eq!(timed_out.background_processes, 0, "the result says that it was ended");
}

#[tokio::test]
async fn daemon_does_not_delay_the_result() {
    for way in ["daemon", "double-fork"] {
        let (_dir, file, name) = pid_file();
        let outcome = Fake::new(&[way]).env("FAKECLI_PIDS", &name).run().await;
        assert_eq!(outcome.end, End::Exited(0));
        until("the daemon to start", || announced(&file).len() == 1);
        let daemon = announced(&file)[0];
        assert!(is_running(daemon), "a process that left the session must not be ended");
        std::process::Command::new("kill").arg(daemon.to_string()).status().unwrap();
        all_gone(&file);
    }
}

/// The zombies among the children of this process. Source: proc(5), `stat`: name in parentheses, state, parent.
fn zombie_children() -> Vec<i32> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.ok()?.path();
        let stat = std::fs::read_to_string(path.join("stat")).ok()?;
        let mut fields = stat.rsplit(") ").next()?.split(' ');
        let is_zombie_child = fields.next() == Some("Z") && fields.next() == Some(&own);
        path.file_name()?.to_str()?.parse().ok().filter(|_| is_zombie_child)
    });
    processes.collect()
}

#[tokio::test]
async fn leaves_no_zombie() {
    // Other tests of this process have children too, so each script prints its process ID.
    let mut children: Vec<i32> = Vec::new();
    for (script, timeout_ms) in [("echo $$", 10_000), ("echo $$; exit 3", 10_000), ("echo $$; exec sleep 600", 300)] {
        for _ in 0..5 {
            let mut fake = Fake::new(&[]).timeout_ms(timeout_ms);
            fake.invocation.argv = vec!["sh".into(), "-c".into(), script.into()];
            children.push(fake.run().await.stdout.text().trim().parse().unwrap());
        }
    }
    let left: Vec<i32> = zombie_children().into_iter().filter(|zombie| children.contains(zombie)).collect();
    assert_eq!(left, [0; 0], "these children were not reaped");
}
