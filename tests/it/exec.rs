//! Real processes: what is captured, what is killed, what is left.

use std::future::{Future, pending};
use std::path::PathBuf;
use std::time::Duration;

use climax::catalog::policy::Executor;
use climax::exec::Invocation;
use climax::exec::Limits;
use climax::exec::{End, Outcome, Runner, SpawnError, Stop};

use crate::support::{PATIENCE, announced, fakecli, is_running, until};

/// A run of fakecli.
struct Fake {
    invocation: Invocation,
    limits: Limits,
}

impl Fake {
    fn new(words: &[&str]) -> Self {
        let argv = std::iter::once(fakecli().display().to_string()).chain(words.iter().map(ToString::to_string));
        let invocation = Invocation {
            argv: argv.collect(),
            env: Vec::new(),
            program_dir: None,
            cwd: None,
            stdin: None,
            files_dir: None,
            timeout: PATIENCE,
        };
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

/// Completes once `count` processes have announced themselves.
async fn announcement(file: PathBuf, count: usize) {
    while announced(&file).len() < count {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn all_gone(file: &std::path::Path) {
    until("the processes to be gone", || announced(file).iter().all(|pid| !is_running(*pid)));
}

#[tokio::test]
async fn output_is_kept_apart_and_the_status_is_known() {
    let outcome = Fake::new(&["both"]).run().await;
    assert_eq!((outcome.stdout.text().as_str(), outcome.stderr.text().as_str()), ("  out\n\n", "err\n\n"));
    assert_eq!(outcome.end, End::Exited(0));
    assert_eq!(Fake::new(&["exit", "7"]).run().await.end, End::Exited(7));
    assert_eq!(Fake::new(&["abort"]).run().await.end, End::Signaled(6));
    assert_eq!(Fake::new(&["bytes"]).run().await.stdout.text(), "a\u{fffd}\u{fffd}b\n");
}

#[tokio::test]
async fn every_argument_arrives_as_one_word() {
    let words = ["argv", "", "two words", "$HOME", "`id`", "a;b|c", "*", "\"'", "new\nline", "ä"];
    let outcome = Fake::new(&words).run().await;
    let expected: Vec<String> = words[1..].iter().map(|word| format!("<{word}>")).collect();
    assert_eq!(outcome.stdout.text(), expected.join("\n"));
}

#[tokio::test]
async fn the_child_gets_null_or_the_text_as_standard_input() {
    assert_eq!(Fake::new(&["stdin"]).run().await.stdout.text(), "0 bytes: ");
    let mut fake = Fake::new(&["stdin"]);
    fake.invocation.stdin = Some("a\nä".into());
    assert_eq!(fake.run().await.stdout.text(), "4 bytes: a\nä");
}

#[tokio::test]
async fn a_child_that_does_not_read_its_input_is_no_error() {
    let mut fake = Fake::new(&["exit", "0", "done"]);
    fake.invocation.stdin = Some("x".repeat(4 << 20));
    let outcome = fake.run().await;
    assert_eq!((outcome.end, outcome.stdout.text()), (End::Exited(0), "done".into()));
}

#[tokio::test]
async fn the_child_inherits_three_descriptors_and_no_more() {
    climax::exec::keep_descriptors_private();
    let _open = std::fs::File::open("/dev/null").unwrap();
    let outcome = Fake::new(&["fds"]).run().await;
    assert_eq!(outcome.stdout.text(), "0=/dev/null");
}

#[tokio::test]
async fn environment_and_directory_are_the_config_s() {
    let outcome = Fake::new(&["env", "A", "B"]).env("A", "$B").run().await;
    assert_eq!(outcome.stdout.text(), "A=Ok(\"$B\")\nB=Err(NotPresent)");
    let dir = tempfile::tempdir().unwrap();
    let mut fake = Fake::new(&["cwd"]);
    fake.invocation.cwd = Some(dir.path().to_owned());
    assert_eq!(fake.run().await.stdout.text(), dir.path().canonicalize().unwrap().display().to_string());
}

#[tokio::test]
async fn programs_are_found_as_a_shell_finds_them() {
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
async fn the_directory_of_a_call_does_not_choose_the_program() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(fakecli(), dir.path().join("own-name")).unwrap();
    let mut fake = Fake::new(&["argv"]);
    fake.invocation.argv[0] = "./own-name".into();
    fake.invocation.cwd = Some(dir.path().to_owned());
    assert!(matches!(fake.try_run(pending()).await, Err(SpawnError::NotFound(_))));
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
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
async fn too_long_a_command_line_is_refused_by_the_system_and_reported() {
    let error = Fake::new(&["argv", &"x".repeat(4 << 20)]).try_run(pending()).await.unwrap_err();
    assert!(matches!(error, SpawnError::Refused(..)), "{error}");
}

#[tokio::test]
async fn head_and_tail_of_long_output_are_kept() {
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
async fn a_flood_is_read_to_its_end_and_counted() {
    let outcome = Fake::new(&["flood", "100000000"]).run().await;
    assert_eq!(outcome.end, End::Exited(0));
    let kept = u64::try_from(Limits::default().stream_bytes).unwrap();
    assert_eq!(outcome.stdout.dropped_bytes(), 100_000_000 - kept);
}

#[tokio::test]
async fn a_timeout_ends_the_whole_group_and_keeps_what_was_printed() {
    let (_dir, file, name) = pid_file();
    let outcome = Fake::new(&["family"]).env("FAKECLI_PIDS", &name).timeout_ms(700).run().await;
    assert_eq!(outcome.end, End::TimedOut(Duration::from_millis(700)));
    assert_eq!(outcome.stdout.text(), "ready\n");
    assert_eq!(announced(&file).len(), 1);
    all_gone(&file);
}

#[tokio::test]
async fn members_of_the_group_have_the_grace_period_too() {
    let dir = tempfile::tempdir().unwrap();
    let done = dir.path().join("done");
    let member = "trap 'sleep 0.2; : > \"$0\"; exit' TERM; echo ready; while :; do sleep 0.01; done";
    let mut fake = Fake::new(&[]).timeout_ms(300);
    let leader = format!("sh -c '{}' \"$0\" & exec sleep 600", member.replace('\'', "'\\''"));
    fake.invocation.argv = vec!["sh".into(), "-c".into(), leader, done.display().to_string()];
    assert_eq!(fake.run().await.end, End::TimedOut(Duration::from_millis(300)));
    assert!(done.exists(), "the member was killed although it was ending");
}

#[tokio::test]
async fn a_child_that_ignores_term_is_killed() {
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
async fn a_call_that_is_dropped_leaves_nothing() {
    let (_dir, file, name) = pid_file();
    let running = Fake::new(&["family"]).env("FAKECLI_PIDS", &name);
    tokio::select! {
        _ = running.run() => unreachable!("it sleeps"),
        () = announcement(file.clone(), 1) => {}
    }
    all_gone(&file);
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipes_does_not_hold_the_answer() {
    let (_dir, file, name) = pid_file();
    let outcome = Fake::new(&["leave-behind"]).env("FAKECLI_PIDS", &name).run().await;
    assert_eq!(outcome.end, End::Exited(0));
    assert_eq!(outcome.stdout.text(), "ready\n");
    all_gone(&file);
}

#[tokio::test]
async fn a_daemon_does_not_turn_success_into_a_timeout() {
    for way in ["daemon", "double-fork"] {
        let (_dir, file, name) = pid_file();
        let outcome = Fake::new(&[way]).env("FAKECLI_PIDS", &name).run().await;
        assert_eq!(outcome.end, End::Exited(0));
        until("the daemon to start", || announced(&file).len() == 1);
        let daemon = announced(&file)[0];
        assert!(is_running(daemon), "a process that left the session on purpose is not ours to end");
        std::process::Command::new("kill").arg(daemon.to_string()).status().unwrap();
        all_gone(&file);
    }
}

#[tokio::test]
async fn no_zombie_is_left() {
    for _ in 0..50 {
        Fake::new(&["exit", "0"]).run().await;
    }
    let own = std::process::id().to_string();
    let zombies = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit(") ").next()?.split(' ').collect();
        (fields[0] == "Z" && fields[1] == own && stat.contains("fakecli")).then_some(stat)
    });
    // Other tests of this process run at the same time; one of their children may be between its end and its reaping.
    assert!(zombies.count() <= 8);
}
