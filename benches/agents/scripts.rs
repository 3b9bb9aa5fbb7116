//! Tasks that need loops, conditions and files: as one line, and as one program.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::surface::{Cost, Surface, SurfaceKind, Work};
use crate::{bash, fixture, report};

/// The surfaces that have loops.
const KINDS: [SurfaceKind; 2] = [SurfaceKind::Run, SurfaceKind::Code];

/// The CLIs that the tasks need.
const CLIS: [&str; 4] = ["coreutils", "find", "git", "grep"];

/// What the user asks, with the line and the program that do it.
const TASKS: [Script; 8] = [
    Script {
        does: "Which source file has the most functions, and how many?",
        line: r#"for f in src/*.rs; do echo "$(grep -c '^fn' "$f") $f"; done | sort -rn | head -n 1"#,
        program: r#"const files = (await run("ls src/*.rs")).stdout.trim().split("\n");
const counts = await Promise.all(files.map(async (f) => [+(await run(`grep -c '^fn' ${f}`)).stdout, f]));
counts.sort((a, b) => b[0] - a[0])[0].join(" ")"#,
    },
    Script {
        does: "Which of the files in wanted.txt exist?",
        line: r#"printf '%s\n' src/main.rs src/none.rs docs/guide.md > wanted.txt; while read -r f; do [ -f "$f" ] && echo "$f"; done < wanted.txt; rm wanted.txt"#,
        program: r#"const wanted = ["src/main.rs", "src/none.rs", "docs/guide.md"];
const found = await Promise.all(wanted.map((f) => run(`[ -f ${f} ] && echo ${f}`).catch(() => ({ stdout: "" }))));
found.map(({ stdout }) => stdout.trim()).filter(Boolean).join("\n")"#,
    },
    Script {
        does: "Write a page that lists each source file with its number of lines.",
        line: r#"{ echo '# Files'; for f in $(find src -name '*.rs' | sort); do echo "- $f: $(wc -l < "$f")"; done; } > files.md"#,
        program: r#"await run("{ echo '# Files'; for f in $(find src -name '*.rs' | sort); do echo \"- $f: $(wc -l < \"$f\")\"; done; } > files.md")"#,
    },
    Script {
        does: "Add a file with a test for the parser.",
        line: "mkdir -p tests && cat > tests/parser.rs <<'RS'\n#[test]\nfn parses() {\n    assert!(true, \"$HOME\");\n}\nRS\nwc -l tests/parser.rs",
        program: r#"(await run("mkdir -p tests && cat > tests/parser.rs <<'RS'\n#[test]\nfn parses() {\n    assert!(true, \"$HOME\");\n}\nRS\nwc -l tests/parser.rs")).stdout"#,
    },
    Script {
        does: "Which source files have a TODO, and are longer than 40 lines?",
        line: r#"grep -rl TODO src | sort | while read -r f; do if [ "$(wc -l < "$f")" -gt 40 ]; then echo "$f"; fi; done"#,
        program: r#"const files = (await run("grep -rl TODO src | sort")).stdout.trim().split("\n");
const long = await Promise.all(files.map(async (f) => +(await run(`wc -l < ${f}`)).stdout > 40));
files.filter((_, at) => long[at]).join("\n")"#,
    },
    Script {
        does: "How many commits did each author make on each of the two halves of src?",
        line: r#"for a in Ada Grace Linus; do for d in src/parser src/main.rs; do echo "$a $d $(git log --author="$a" --oneline -- "$d" | wc -l)"; done; done"#,
        program: r#"const lines = [];
for (const a of ["Ada", "Grace", "Linus"])
  for (const d of ["src/parser", "src/main.rs"])
    lines.push(`${a} ${d} ${(await run(`git log --author=${a} --oneline -- ${d} | wc -l`)).stdout.trim()}`);
lines.join("\n")"#,
    },
    Script {
        does: "Split the sales by region into a file each.",
        line: r#"mkdir -p regions; for r in $(cut -d, -f2 sales.csv | sort -u); do grep ",$r," sales.csv > "regions/$r.csv"; done; wc -l regions/*"#,
        program: r#"(await run("mkdir -p regions; for r in $(cut -d, -f2 sales.csv | sort -u); do grep \",$r,\" sales.csv > \"regions/$r.csv\"; done; wc -l regions/*")).stdout"#,
    },
    Script {
        does: "Show the size of each text list, and say which are missing.",
        line: r#"for f in first second third; do if [ -f $f.txt ]; then wc -c $f.txt; else echo "$f.txt is missing"; fi; done"#,
        program: r#"const sizes = ["first", "second", "third"].map((f) => `${f}.txt`)
  .map((f) => run(`if [ -f ${f} ]; then wc -c ${f}; else echo ${f} is missing; fi`));
(await Promise.all(sizes)).map(({ stdout }) => stdout.trim()).join("\n")"#,
    },
];

/// A task.
struct Script {
    /// What the user asks.
    does: &'static str,
    /// A line in the language of shells.
    line: &'static str,
    /// A program of `climax_code`.
    program: &'static str,
}

/// Does each task on both surfaces, each in a directory of its own, checks that output and files are those of bash, and
/// prints the table.
pub(crate) fn print() {
    let rows: Vec<_> = TASKS.iter().map(|task| (task.does, KINDS.map(|kind| cost(kind, task)))).collect();
    report::print_scripts(&KINDS, &rows);
}

fn cost(kind: SurfaceKind, task: &Script) -> Cost {
    let [expected, found] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for directory in [&expected, &found] {
        fixture::make(directory.path());
    }

    let printed = bash(task.line, expected.path());
    let mut surface = Surface::start(kind, &CLIS.map(str::to_owned), found.path());
    let mut work = Work::of(&mut surface, task.does);
    let answer = match kind {
        SurfaceKind::Run => work.ask("climax_run", &json!({ "command": task.line })),
        _ => work.ask("climax_code", &json!({ "code": task.program })),
    };
    let cost = work.ended();

    if !printed.is_empty() {
        assert_eq!(answer.trim(), printed.trim(), "{}: {}", kind.name(), task.does);
    }
    assert_eq!(files(found.path()), files(expected.path()), "{}: {}", kind.name(), task.does);
    cost
}

/// The files of a directory and their bytes, without those of git.
fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true if path.ends_with(".git") => {}
                true => open.push(path),
                false => found.push((path.strip_prefix(directory).unwrap().to_owned(), fs::read(&path).unwrap())),
            }
        }
    }
    found.sort();
    found
}
