//! Drafts many programs at once.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use climax_catalog::ToolIndex;
use climax_import::Draft;
use futures_util::{StreamExt as _, stream};

use super::program::{file_of, is_bundled};
use crate::command::output::{FAILURE, counted, print};
use crate::command::runtime::runtime;
use crate::command::{import, terminal};
use crate::exec::default_concurrency;
use crate::identity;

/// Time between two lines that say how far it is.
const PAUSE: Duration = Duration::from_secs(3);

/// What became of a program.
enum Fate {
    Drafted(Draft, Vec<&'static str>),
    /// It needs no draft, for this reason.
    Skipped(String),
    Failed(String),
}

/// Drafts programs into a directory and prints a table. A program that nobody named may have no help.
pub(super) fn run(bundled: &ToolIndex, programs: &[String], directory: &Path, is_found: bool) -> ExitCode {
    if let Err(error) = fs::create_dir_all(directory) {
        terminal::complain(&format!("cannot make {}: {error}", directory.display()));
        return ExitCode::from(FAILURE);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::complain(&error.to_string());
            return ExitCode::from(FAILURE);
        }
    };

    let mut fates = runtime.block_on(drafted(bundled, programs, directory));
    fates.sort_by_key(|(at, _)| *at);
    let named = || fates.iter().map(|(at, fate)| (&programs[*at], fate));
    let drafts =
        || fates.iter().filter_map(|(_, fate)| if let Fate::Drafted(draft, _) = fate { Some(draft) } else { None });
    let failed = fates.iter().filter(|(_, fate)| matches!(fate, Fate::Failed(_))).count();

    let header = ["PROGRAM", "TOOLS", "ARGS", "FROM", "RISK", "REVIEW"];
    let table = terminal::table(header, named().map(|(program, fate)| row(program, fate)));
    let (name, path) = (identity::name(), directory.display());
    let summary = format!(
        "{} with {} in {path}; {} without a draft\nServe them: {name} run --config {path}",
        counted(drafts().count(), "program"),
        counted(drafts().map(|draft| draft.tools).sum(), "tool"),
        fates.len() - drafts().count()
    );
    let is_done = failed == 0 || is_found && drafts().count() > 0;
    print(&format!("{table}\n\n{summary}"), if is_done { ExitCode::SUCCESS } else { ExitCode::from(FAILURE) })
}

/// Drafts all programs, and says how far it is. Returns what became of each, by its place.
async fn drafted(bundled: &ToolIndex, programs: &[String], directory: &Path) -> Vec<(usize, Fate)> {
    let runner = import::ScratchRunner::new();
    let done = Cell::new(0);
    let current = RefCell::new(Vec::<&str>::new());
    let one = async |at: usize| {
        let program = programs[at].as_str();
        current.borrow_mut().push(program);
        let fate = Box::pin(fate(&runner, bundled, program, directory)).await;
        current.borrow_mut().retain(|other| *other != program);
        done.set(done.get() + 1);
        (at, fate)
    };
    let work = stream::iter(0..programs.len()).map(one).buffer_unordered(default_concurrency()).collect::<Vec<_>>();
    let mut work = std::pin::pin!(work);
    loop {
        if let Ok(fates) = tokio::time::timeout(PAUSE, &mut work).await {
            return fates;
        }
        let now = current.borrow().join(", ");
        terminal::complain(&format!("drafted {} of {}; now: {now}", done.get(), counted(programs.len(), "program")));
    }
}

async fn fate(runner: &import::ScratchRunner, bundled: &ToolIndex, program: &str, directory: &Path) -> Fate {
    if is_bundled(bundled, program) {
        return Fate::Skipped("bundled".to_owned());
    }
    let file = directory.join(file_of(program));
    if file.exists() {
        return Fate::Skipped(format!("{} exists", file.display()));
    }

    match import::drafted(runner, &import::Args::of(program), true).await {
        Ok(import::Drafted { draft, sources }) => {
            match import::checked(&draft).and_then(|()| import::write_new(&file, &draft)) {
                Ok(()) => Fate::Drafted(draft, sources),
                Err(message) => Fate::Failed(message),
            }
        }
        Err(message) => Fate::Failed(message),
    }
}

fn row(program: &str, fate: &Fate) -> [String; 6] {
    let none = String::new;
    match fate {
        Fate::Drafted(draft, sources) => {
            let review = counted(draft.guesses, "guess").replace("guesss", "guesses");
            let numbers = [draft.tools, draft.args].map(|number| number.to_string());
            let [tools, args] = numbers;
            [program.to_owned(), tools, args, sources.join(", "), risks(draft), review]
        }
        Fate::Skipped(why) => [program.to_owned(), none(), none(), none(), none(), why.clone()],
        Fate::Failed(why) => [program.to_owned(), none(), none(), none(), none(), format!("no draft: {why}")],
    }
}

/// Says how many tools have each risk: `1 caged, 2 write`.
fn risks(draft: &Draft) -> String {
    let names = ["caged", "read", "write", "destructive"];
    let some = draft.risks.iter().zip(names).filter(|(count, _)| **count > 0);
    some.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}
