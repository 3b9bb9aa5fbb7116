//! Commands whose output a command reads as a file: `<(…)`.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use climax_shell::{Body, Command, List, Part, Target, Word};
use futures_util::future::{Either, Future, join_all, select};

use super::record::Record;
use super::shell::{Flow, Shell};
use super::streams::{Output, Streams};
use super::{Interpreter, Ran, Text, failure};
use crate::call::approval::Approver;
use crate::call::plan_outcome::Tested;
use crate::exec::{Stop, pipe_between};

/// How long the commands of `<(…)` may run on when the command that reads them has ended. Then they are ended, since no
/// process outlives its line.
const GRACE: Duration = Duration::from_secs(1);

impl<A, S> Interpreter<'_, '_, A, S>
where
    A: Approver,
    S: Future<Output = Stop> + Send,
{
    /// Runs a command while the commands of its `<(…)` run, each in a subshell.
    pub(super) async fn beside_processes(
        &self,
        shell: &mut Shell,
        text: Text<'_>,
        command: &Command,
        mut streams: Streams,
        (is_own, record): (bool, &mut Record),
    ) -> Ran<Flow> {
        if !self.toolbox.opens_files() {
            let problem = "`<(…)` is a file on this machine, where the programs do not run";
            return Err(failure(text, command.range.clone(), problem, "join the commands with `|`"));
        }
        let around = streams.clone();
        let mut runs = Vec::new();
        for (list, number) in processes_of(command) {
            let broken = |error: std::io::Error| failure(text, command.range.clone(), error.to_string(), "try again");
            let (read, write) = pipe_between().map_err(broken)?;
            streams.processes.retain(|(other, _)| *other != number);
            streams.processes.push((number, Arc::new(read)));
            runs.push(self.process(shell.clone(), text, list, around.clone(), write));
        }
        drop(around);
        shell.has_data = true;

        let runs = std::pin::pin!(join_all(runs));
        let (flow, records) = {
            let main = self.command_itself(shell, text, command, streams, is_own, record);
            match select(main, runs).await {
                Either::Left((flow, runs)) => (flow, tokio::time::timeout(GRACE, runs).await.unwrap_or_default()),
                Either::Right((records, main)) => (main.await, records),
            }
        };
        for own in records {
            record.extend(own?, self.most_bytes);
        }
        flow
    }

    /// Runs the commands of one `<(…)`.
    async fn process(&self, shell: Shell, text: Text<'_>, list: &List, around: Streams, write: OwnedFd) -> Ran<Record> {
        let mut shell = Shell { tested: Tested::No, ..shell };
        let mut record = Record::default();
        let streams = Streams { output: Output::File(Arc::new(write)), ..around };
        self.list(&mut shell, text, list, &streams, &mut record).await?;
        Ok(record)
    }
}

/// The `<(…)` in the words and redirections of a command, with their numbers.
pub(super) fn processes_of(command: &Command) -> impl Iterator<Item = (&List, u32)> {
    let words: &[Word] = if let Body::Simple(simple) = &command.body { &simple.words } else { &[] };
    let files = command.redirections.iter().filter_map(|redirection| match &redirection.target {
        Target::Read(word) => Some(word),
        _ => None,
    });
    let parts = words.iter().chain(files).flat_map(|word| &word.parts);
    parts.filter_map(|part| match part {
        Part::Process(list, number) => Some((list, *number)),
        _ => None,
    })
}
