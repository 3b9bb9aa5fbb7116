//! A project in a home directory, and lines that run in it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{Server, climax, run};

/// A project in a home directory, with a secret and a repository.
pub(crate) struct Desk {
    pub(crate) root: tempfile::TempDir,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let desk = Self { root };
        for directory in ["project/.git/hooks", "project/conf", "home/.ssh"] {
            fs::create_dir_all(desk.path(directory)).unwrap();
        }
        for (file, text) in [
            ("project/notes", "notes of the project\n"),
            ("project/.env", "TOKEN=secret-of-the-project\n"),
            ("project/conf/.env", "TOKEN=secret-of-conf\n"),
            ("project/.env.example", "TOKEN=\n"),
            ("project/conf/script", "#!/bin/sh\necho script\n"),
            ("project/.git/config", "[core]\n"),
            ("home/.ssh/id_ed25519", "secret-of-the-home\n"),
            ("outside", "outside of the project\n"),
        ] {
            fs::write(desk.path(file), text).unwrap();
        }
        fs::set_permissions(desk.path("project/conf/script"), fs::Permissions::from_mode(0o700)).unwrap();
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Returns `climax` in the project, where `name` is the home directory's.
    pub(crate) fn climax(&self) -> Command {
        let mut command = climax();
        command.current_dir(self.path("project")).env("HOME", self.path("home"));
        command
    }

    /// Runs a line: the exit status, standard output and standard error.
    pub(crate) fn sh(&self, options: &[&str], line: &str) -> (i32, String, String) {
        run(self.climax().arg("sh").args(options).args(["-c", line]))
    }

    /// The same on a kernel that cannot make namespaces.
    pub(crate) fn sh_without_namespaces(&self, options: &[&str], line: &str) -> (i32, String, String) {
        run(self.climax().env("CLIMAX_ISOLATION", "landlock").arg("sh").args(options).args(["-c", line]))
    }
}

/// A server in the project that runs lines.
pub(crate) fn server(desk: &Desk, more: &[&str]) -> Server {
    let mut command = desk.climax();
    let audit = desk.path("audit").display().to_string();
    command.args(["--meta", "search,call,run,read", "--audit", &audit]).args(more);
    let mut server = Server::spawn(&mut command);
    server.initialize("2025-11-25");
    server
}

pub(crate) fn run_line(server: &mut Server, arguments: &Value) -> Value {
    server.tool("climax_run", arguments.clone())
}
