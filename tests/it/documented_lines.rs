//! Documented command lines of bundled programs: each is read as the call of one tool, with the risk that it has.

use std::fmt::Write as _;

use climax::CATALOG;
use climax::call::WriteMode;
use climax::call::arguments::Input;
use climax::call::line::{LineContext, read_line};
use climax::call::risk;
use climax::catalog::{Layer, ToolIndex};

/// Reads a line of one command, and returns its tool and its risk, or the message of the error.
fn tool_and_risk(index: &ToolIndex, line: &str) -> Result<(String, &'static str), String> {
    let context = LineContext {
        env: &|_| None,
        names_program: &|word, own| word == own,
        unknown: &|_| None,
        glob: &|_, _, _| Ok(Vec::new()),
        write_mode: &|_, file_use| file_use.writes().then_some(WriteMode::Replace),
        input: Input::Nothing,
        explains: true,
    };
    let read = read_line(index, line, None, context).map_err(|error| error.to_string())?;
    let (_, reading) = read.calls().next().ok_or("no call")?;
    let bound = reading.bind(Input::Nothing).map_err(|found| format!("{found:?}"))?;
    Ok((reading.tool.name().to_owned(), risk::of_call(reading.tool, &bound).as_str()))
}

/// `documented.txt` has lines in the manner of the manuals, each behind its tool and the risk of the call.
#[test]
fn lines_of_manuals_are_calls_of_their_tools_with_their_risk() {
    let index = ToolIndex::from_configs(vec![Layer::compiled(&CATALOG)]);
    let (mut count, mut wrong) = (0, String::new());
    for line in include_str!("../command_lines/documented.txt").lines() {
        let mut parts = line.splitn(3, ' ');
        let [tool, risk, line] = std::array::from_fn(|_| parts.next().unwrap());
        count += 1;
        match tool_and_risk(&index, line) {
            Ok((found, found_risk)) if found == tool && found_risk == risk => {}
            found => writeln!(wrong, "{line}: {found:?}").unwrap(),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 160, "{count} lines");
}
