//! `climax sh` on a terminal: completion, underlined errors, history, and the keys that cancel and leave.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::support::{binary, is_running, until};

/// A prompt on a terminal of its own.
struct Terminal {
    keys: File,
    screen: Arc<Mutex<String>>,
    shell: Child,
}

impl Terminal {
    fn open(directory: &Path, options: &[&str]) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        tcsetwinsize(&controller, Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let path = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        let user = File::options().read(true).write(true).open(path).unwrap();
        let stream = || Stdio::from(user.try_clone().unwrap());
        #[expect(clippy::disallowed_methods, reason = "the test starts the binary")]
        let mut command = Command::new("setsid");
        command.args(["--ctty", binary(), "sh"]).args(options).current_dir(directory);
        command.env("XDG_STATE_HOME", directory.join("state")).env("TERM", "xterm").env_remove("NO_COLOR");
        let shell = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
        drop(user);
        let (mut output, keys) = (File::from(controller.try_clone().unwrap()), File::from(controller));
        let screen = Arc::new(Mutex::new(String::new()));
        let written = screen.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal that nobody has open any more is an error.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                written.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        let terminal = Self { keys, screen, shell };
        terminal.shows("> ");
        terminal
    }

    /// Types keys, after which the screen shows what is new only.
    fn types(&mut self, keys: &str) {
        self.screen.lock().unwrap().clear();
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn has(&self, text: &str) -> bool {
        self.screen.lock().unwrap().contains(text)
    }

    fn shows(&self, text: &str) {
        until(&format!("`{text}` on the screen"), || self.has(text));
    }

    /// Waits for the prompt behind a line that was typed. An end of input that comes earlier is one for the program that
    /// runs, and lost.
    fn prompts_again(&self) {
        until("the next prompt", || {
            let screen = self.screen.lock().unwrap();
            screen.rsplit_once('\n').is_some_and(|(_, last)| last.contains("> "))
        });
    }

    fn status(mut self) -> Option<i32> {
        let mut status = None;
        until("the prompt to end", || {
            status = self.shell.try_wait().unwrap();
            status.is_some()
        });
        status.and_then(|status| status.code())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[test]
fn words_are_completed_with_descriptions_and_errors_underlined() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("my notes.txt"), "kept\n").unwrap();
    let mut terminal = Terminal::open(directory.path(), &[]);
    terminal.types("git lo\t");
    terminal.shows("git log ");
    terminal.types("--date-o\t");
    terminal.shows("--date-order ");
    terminal.types("--diff-\t");
    terminal.shows("--diff-algorithm  How lines are matched");
    terminal.types("algorithm=hi\t");
    terminal.shows("--diff-algorithm=histogram");
    terminal.types(" | grpe");
    terminal.shows("\x1b[4;31mgrpe\x1b[0m");
    terminal.types("\x03");
    terminal.shows("\n");
    terminal.types("cat my\t");
    terminal.shows("'my notes.txt'");
    terminal.types("\r");
    terminal.shows("kept");
}

#[test]
fn lines_run_in_the_directory_of_the_prompt_and_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("below")).unwrap();
    let mut terminal = Terminal::open(directory.path(), &[]);
    // What is typed ahead is not lost.
    terminal.types("cd below\rpwd | wc -l\r");
    terminal.shows("below> ");
    terminal.shows("1\r\n");
    terminal.types("cd nowhere\r");
    terminal.shows("cannot change to the directory");
    terminal.types("false\r");
    terminal.prompts_again();
    terminal.types("\x04");
    assert_eq!(terminal.status(), Some(1), "the status of the last line");
    let history = std::fs::read_to_string(directory.path().join("state/climax/history")).unwrap();
    assert!(history.ends_with("cd below\npwd | wc -l\ncd nowhere\nfalse\n"), "{history}");
    let mut terminal = Terminal::open(directory.path(), &[]);
    terminal.types("\x1b[A\x1b[A\x1b[A");
    terminal.shows("pwd | wc -l");
}

#[test]
fn a_line_goes_on_until_its_constructs_end() {
    let directory = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::open(directory.path(), &[]);
    terminal.types("cat <<EOF | tr a-z A-Z\rtouch made\rEOF\r");
    terminal.shows("TOUCH MADE");
    assert!(!directory.path().join("made").exists());
    terminal.types("echo 'one\rtwo' | wc -l\r");
    terminal.shows("2\r\n");
}

#[test]
fn interrupt_ends_the_programs_and_not_the_prompt() {
    let directory = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::open(directory.path(), &[]);
    terminal.types("timeout 1000 sleep 1000 | cat\r");
    let shell = terminal.shell.id();
    let mut sleeping = None;
    until("the program to start", || {
        sleeping = descendants(shell).into_iter().find(|pid| command_line(*pid).starts_with("sleep\0"));
        sleeping.is_some()
    });
    terminal.types("\x03");
    terminal.shows("> ");
    until("the program to end", || !is_running(sleeping.unwrap()));
    terminal.types("seq 7 | tail -n 1\r");
    terminal.shows("7\r\n");
    terminal.types("exit\r");
    assert_eq!(terminal.status(), Some(0));
}

#[test]
fn hidden_tools_are_not_completed_and_approval_is_asked() {
    let directory = tempfile::tempdir().unwrap();
    let policy = directory.path().join("policy.yaml");
    std::fs::write(
        &policy,
        "default: disabled\ntools:\n  git_log: {}\n  coreutils_rm: {}\napproval: {global: destructive}\n",
    )
    .unwrap();
    std::fs::write(directory.path().join("kept"), "").unwrap();
    let mut terminal = Terminal::open(directory.path(), &["--policy", &policy.display().to_string()]);
    terminal.types("git \t");
    terminal.shows("git log ");
    terminal.types("\x03");
    terminal.shows("\n");
    terminal.types("\t");
    terminal.shows("rm");
    assert!(!terminal.has("docker") && !terminal.has("seq"), "{:?}", terminal.screen.lock().unwrap());
    terminal.types("rm kept\r");
    terminal.shows("Approve? [y/N]");
    terminal.types("\x03");
    terminal.shows("> ");
    assert!(directory.path().join("kept").exists());
    terminal.types("rm kept\r");
    terminal.shows("Approve? [y/N]");
    terminal.types("y\r");
    until("the file to be removed", || !directory.path().join("kept").exists());
}

fn command_line(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

/// All processes below a process.
fn descendants(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let own = std::fs::read_to_string(path).unwrap_or_default();
    let own: Vec<u32> = own.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    own.iter().flat_map(|pid| descendants(*pid)).chain(own.iter().copied()).collect()
}
