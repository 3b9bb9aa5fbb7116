//! Completion of command lines: programs, subcommands, options, values and paths out of a catalog.

use climax::call::line::{Candidate, CompletionContext, complete};
use climax::catalog::ToolIndex;

use crate::support::index;

const CONFIG: &str = "\
name: vcs
command: vcs {options}
programs: [vc]
description: Versions of files
common_args:
  - {name: directory, type: string, cwd: true, aliases: [-C], description: Start there}
tools:
  - name: vcs_log
    description: Show commits
    command: log
    aliases: [history]
    args:
      - {name: number, type: integer, flag: --number=, aliases: [-n], description: How many}
      - {name: graph, type: boolean, flag: --graph, description: Draw lines}
      - {name: order, type: string, flag: --order=, enum: [{value: date, title: By time}, topo]}
      - {name: color, type: string, flag: '--color={}', enum: [always, never]}
      - {name: colored, type: boolean, flag: --color}
      - {name: paths, type: string, positional: true, list: true}
  - name: vcs_remote_add
    description: Add a remote
    command: remote add
    args: [{name: name, type: string, positional: true, required: true}]
  - {name: vcs_remote, description: List remotes, command: remote}
  - name: vcs_branch_delete
    description: Delete a branch
    command: branch --delete
    args: [{name: kind, type: string, positional: true, enum: [local, tracking], required: true}]
";

fn candidates(index: &ToolIndex, marked: &str) -> (String, Vec<Candidate>) {
    let cursor = marked.find('^').unwrap();
    let line = marked.replacen('^', "", 1);
    let paths = |start: &str| {
        let all = ["a file", "main.rs", "src/", "src/lib.rs"];
        all.iter().filter(|path| path.starts_with(start)).map(|path| (*path).to_owned()).collect()
    };
    let context = CompletionContext { names_program: &|first, word| first == word, paths: &paths };
    let found = complete(index, &line, cursor, context);
    (line[found.range].to_owned(), found.candidates)
}

#[test]
fn word_at_the_cursor_is_completed() {
    let index = index(CONFIG);
    for (line, replaced, expected) in [
        ("^", "", "cd |vc |vcs "),
        ("vc^", "vc", "vc |vcs "),
        ("true && vc^s log", "vc", "vc |vcs "),
        ("A=1 v^", "v", "vc |vcs "),
        ("vcs ^", "", "branch |history |log |remote "),
        ("vcs -C dir l^", "l", "log "),
        ("vc h^", "h", "history "),
        ("vcs | vcs l^", "l", "log "),
        ("vcs remote ^", "", "add "),
        ("vcs -^", "-", "-C |--delete "),
        ("vcs log --g^", "--g", "--graph "),
        ("vcs log --graph --g^", "--g", ""),
        ("vcs history --n^", "--n", "--number "),
        ("vcs log --c^", "--c", "--color "),
        ("vcs log --order ^", "", "date |topo "),
        ("vcs log --order=t^", "--order=t", "--order=topo "),
        ("vcs log -n 3 s^", "s", "src/|src/lib.rs "),
        ("vcs log a^", "a", "'a file' "),
        ("vcs log -- -^", "-", ""),
        ("vcs branch --delete ^", "", "local |tracking "),
        ("cd ^", "", "src/"),
        ("src/^", "src/", "src/|src/lib.rs "),
        ("other ^", "", ""),
        ("vcs log 'a^", "", ""),
        ("vcs log $(^", "", ""),
    ] {
        let (found, candidates) = candidates(&index, line);
        let mut texts: Vec<String> = candidates.iter().map(Candidate::written).collect();
        texts.sort_unstable();
        let mut expected: Vec<&str> = expected.split('|').filter(|text| !text.is_empty()).collect();
        expected.sort_unstable();
        assert_eq!((found.as_str(), texts), (replaced, expected.into_iter().map(str::to_owned).collect()), "{line}");
    }
}

#[test]
fn candidates_have_the_descriptions_of_the_catalog() {
    let index = index(CONFIG);
    for (line, text, description) in [
        ("vc^", "vcs", "Versions of files"),
        ("vcs l^", "log", "Show commits"),
        ("vcs log --g^", "--graph", "Draw lines"),
        ("vcs log --order d^", "date", "By time"),
    ] {
        let found = candidates(&index, line).1;
        let one = found.iter().find(|one| one.text == text).unwrap_or_else(|| panic!("{line}: {found:?}"));
        assert_eq!(one.description, description, "{line}");
    }
}
