//! Prints the tables of the benchmark.

use std::path::Path;

use crate::surface::{Cost, Surface, SurfaceKind, whole_list};
use crate::task::Task;

type Row<'t> = (&'t Task, Vec<Cost>);

/// Prints the tokens of the tool list of each surface, with all bundled CLIs.
pub(crate) fn print_lists(directory: &Path) {
    println!("| options | tool list of all CLIs (measured) |\n|---|---|");
    let more: [&[&str]; 1] = [&["--meta", "search,run"]];
    for options in SurfaceKind::ALL.map(SurfaceKind::options).into_iter().chain(more) {
        println!("| `{}` | {} |", options.join(" "), whole_list(options, directory));
    }
    println!();
}

/// Prints the cost of each surface for all tasks, and for those of one call and of several.
pub(crate) fn print(surfaces: &[Surface], rows: &[Row<'_>], with_tasks: bool) {
    println!("| surface | tool list (measured) | peak memory of the server, KiB (measured) |\n|---|---|---|");
    for surface in surfaces {
        println!("| {} | {} | {} |", surface.kind.name(), surface.list, surface.memory_kib());
    }
    let (single, several): (Vec<&Row<'_>>, Vec<&Row<'_>>) = rows.iter().partition(|(task, _)| task.steps.len() == 1);
    let (pipeline, handed_on): (Vec<&Row<'_>>, Vec<&Row<'_>>) =
        several.into_iter().partition(|(task, _)| task.lines.len() == 1);
    let (documented, own): (Vec<&Row<'_>>, Vec<&Row<'_>>) =
        rows.iter().partition(|(task, _)| task.kind == "documented");
    group("all", surfaces, &rows.iter().collect::<Vec<_>>());
    group("documented shapes", surfaces, &documented);
    group("our own", surfaces, &own);
    group("one command", surfaces, &single);
    group("a pipeline", surfaces, &pipeline);
    group("the words of one line are arguments of the next", surfaces, &handed_on);
    if with_tasks {
        each(surfaces, rows);
    }
}

/// Prints the means of a group of tasks.
fn group(name: &str, surfaces: &[Surface], rows: &[&Row<'_>]) {
    println!("\nTasks: {name} ({})\n", rows.len());
    println!(
        "| surface | read (measured) | written (measured) | turns (measured) | ms (measured) | all turns (computed) | fewest tokens in (tasks) |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (at, surface) in surfaces.iter().enumerate() {
        let mean = |figure: &dyn Fn(&Cost) -> f64| {
            rows.iter().map(|(_, costs)| figure(&costs[at])).sum::<f64>() / count(rows.len())
        };
        let best = rows.iter().filter(|(_, costs)| costs.iter().all(|other| spent(&costs[at]) <= spent(other))).count();
        println!(
            "| {} | {:.0} | {:.0} | {:.1} | {:.1} | {:.0} | {best} |",
            surface.kind.name(),
            mean(&|cost| count(cost.read)),
            mean(&|cost| count(cost.written)),
            mean(&|cost| count(cost.turns)),
            mean(&|cost| cost.time.as_secs_f64() * 1e3),
            mean(&|cost| count(cost.context)),
        );
    }
}

/// Prints tokens read and written, and turns, of each task.
fn each(surfaces: &[Surface], rows: &[Row<'_>]) {
    let names: Vec<&str> = surfaces.iter().map(|surface| surface.kind.name()).collect();
    println!("\n| task | {} |\n|{}", names.join(" | "), "---|".repeat(names.len() + 1));
    for (task, costs) in rows {
        let costs: Vec<String> = costs.iter().map(|cost| format!("{} in {}", spent(cost), cost.turns)).collect();
        println!("| {} | {} |", task.does, costs.join(" | "));
    }
}

/// Prints the cost of the same task with more and more calls.
pub(crate) fn print_break_even(kinds: &[SurfaceKind], rows: &[(usize, [Cost; 3])]) {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    println!("\nRead and written, in turns; all turns (the most commits of N files)\n");
    println!("| calls | {} |\n|{}", names.join(" | "), "---|".repeat(names.len() + 1));
    for (files, costs) in rows {
        let costs: Vec<String> =
            costs.iter().map(|cost| format!("{} in {}; {}", spent(cost), cost.turns, cost.context)).collect();
        println!("| {files} | {} |", costs.join(" | "));
    }
}

/// Prints the cost of each task of loops and files.
pub(crate) fn print_scripts(kinds: &[SurfaceKind], rows: &[(&str, [Cost; 2])]) {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    println!("\nTasks of loops and files: read and written, ms (measured)\n");
    println!("| task | {} |\n|{}", names.join(" | "), "---|".repeat(names.len() + 1));
    for (does, costs) in rows {
        let costs: Vec<String> = costs
            .iter()
            .map(|cost| format!("{} and {}; {:.0}", cost.read, cost.written, cost.time.as_secs_f64() * 1e3))
            .collect();
        println!("| {does} | {} |", costs.join(" | "));
    }
}

/// Tokens of a task without the tool list.
fn spent(cost: &Cost) -> usize {
    cost.read + cost.written
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}
