//! The host of a guest: answers its calls, holds it to its limits, and keeps the log for a replay.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until};

use super::guest;
use super::message::{self, Answer, GuestMessage, Request, Thrown};
use super::replay::{AnsweredCall, ReplayLog};
use crate::exec::{Capture, Captured, End, Guest, Limits, Runner, SpawnError, Stop};

/// Maximum calls of one program.
pub(crate) const MAX_CODE_CALLS: usize = 256;

/// Maximum calls of one program that run at once. Others wait.
pub(crate) const MAX_PARALLEL_CALLS: usize = 8;

/// The calls of a program, answered by whoever runs tools.
pub(crate) trait Callee: Sync {
    /// What the client has to ask its user before a call is answered.
    type Question: Send;

    /// Answers a call.
    ///
    /// # Errors
    /// The client has to ask its user first.
    fn answer(&self, id: u64, request: Request) -> BoxFuture<'_, Result<Answer, Self::Question>>;
}

/// A program to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program<'a> {
    /// Its text.
    pub(crate) code: &'a str,
    /// How long the engine may compute. The time of calls does not count.
    pub(crate) time: Duration,
}

/// The end of a run, or of its part before a question.
#[derive(Debug)]
pub(crate) enum RunEnd<Q> {
    /// The program has ended.
    Ended(CodeOutcome),
    /// The client has to ask its user. The program runs again from the log when the answer has come.
    Asks(Q, ReplayLog),
}

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct CodeOutcome {
    /// What it printed. The value of its last expression comes last.
    pub(crate) printed: Captured,
    /// How it ended.
    pub(crate) end: CodeEnd,
    /// The calls that ran when it ended, since it did not await them.
    pub(crate) forgotten: Vec<Request>,
    /// The tools that it gave arguments which they do not have, with these, in the order of the answers.
    pub(crate) ignored: Vec<(String, Vec<String>)>,
}

impl CodeOutcome {
    /// Makes the outcome of a program that was stopped before it ran.
    pub(crate) fn not_started(why: Stop) -> Self {
        let (forgotten, ignored) = (Vec::new(), Vec::new());
        Self { printed: Captured::default(), end: CodeEnd::Stopped(why), forgotten, ignored }
    }
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CodeEnd {
    /// By itself.
    Returned,
    /// By an error that it did not catch.
    Threw(Thrown),
    /// It computed for longer than it may.
    TimedOut,
    /// It waits for a promise that nothing resolves.
    Stuck,
    /// It made too many calls.
    TooManyCalls,
    /// It called so much before a question that the answers cannot be stored.
    TooMuchLogged,
    /// It called other tools than before, although it got the same answers.
    Differed,
    /// The engine ended, or sent no message that can be read.
    Crashed(Option<End>),
    /// It could not be isolated.
    Refused(String),
    /// The call was stopped.
    Stopped(Stop),
}

/// Whether the guest computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GuestState {
    /// It has computed since then.
    Computing(Instant),
    /// It waits for an answer.
    Waiting,
}

/// The number of a call, and its answer or the question before it.
type Answered<Q> = (u64, Result<Answer, Q>);

/// A run of a program.
struct Run<'a, C: Callee> {
    callee: &'a C,
    guest: Guest<'a>,
    state: GuestState,
    /// The time that is left to compute.
    time_left: Duration,
    log: ReplayLog,
    /// The calls of the log that are to be answered again.
    replayed: VecDeque<AnsweredCall>,
    /// The calls whose answers the guest has not got, by their numbers.
    open: BTreeMap<u64, Request>,
    /// The numbers of the calls that have not been started.
    queue: VecDeque<u64>,
    running: FuturesUnordered<BoxFuture<'a, Answered<C::Question>>>,
    /// Answers that the guest has not got.
    outbox: VecDeque<AnsweredCall>,
    calls: usize,
    question: Option<C::Question>,
    printed: Capture,
    ignored: Vec<(String, Vec<String>)>,
}

/// Runs a program. When `stop` completes, its calls are expected to end.
///
/// # Errors
/// The guest cannot be started.
pub(crate) async fn run<C: Callee>(
    program: Program<'_>,
    log: ReplayLog,
    callee: &C,
    runner: &Runner,
    stop: impl Future<Output = Stop>,
) -> Result<RunEnd<C::Question>, SpawnError> {
    let Limits { stream_bytes, whole_bytes, .. } = *runner.limits();
    let replayed = VecDeque::from(log.answered.clone());
    let mut run = Run {
        callee,
        guest: runner.start_guest(guest::COMMAND).await?,
        state: GuestState::Computing(Instant::now()),
        time_left: program.time,
        log: log.again(),
        replayed,
        open: BTreeMap::new(),
        queue: VecDeque::new(),
        running: FuturesUnordered::new(),
        outbox: VecDeque::new(),
        calls: 0,
        question: None,
        printed: Capture::new(stream_bytes, whole_bytes),
        ignored: Vec::new(),
    };
    let start = message::start(program.code, run.log.began_ms, run.log.seed);
    let mut stop = std::pin::pin!(stop);
    let end = match run.guest.send(&start).await {
        Ok(()) => run.drive(stop.as_mut()).await,
        Err(_) => CodeEnd::Crashed(None),
    };

    run.finish(end).await
}

impl<C: Callee> Run<'_, C> {
    /// Exchanges messages until the program has ended, or waits for nothing but a question.
    async fn drive<S: Future<Output = Stop>>(&mut self, mut stop: Pin<&mut S>) -> CodeEnd {
        loop {
            self.start_calls();
            if let Err(end) = self.deliver().await {
                return end;
            }
            let deadline = match self.state {
                GuestState::Computing(since) => Some(since + self.time_left),
                GuestState::Waiting if self.running.is_empty() => return CodeEnd::Stuck,
                GuestState::Waiting => None,
            };
            let timer = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                why = stop.as_mut() => return CodeEnd::Stopped(why),
                Some((id, answered)) = self.running.next() => self.answered(id, answered),
                message = self.guest.next() => if let Some(end) = self.received(message.as_deref()) { return end },
                () = timer => return CodeEnd::TimedOut,
            }
        }
    }

    /// Takes a message of the guest. Returns the end of the program, if it is one.
    fn received(&mut self, message: Option<&[u8]>) -> Option<CodeEnd> {
        let Some(message) = message.and_then(message::read) else { return Some(CodeEnd::Crashed(None)) };
        match message {
            GuestMessage::Call(id, request) => return self.called(id, request),
            GuestMessage::Printed(text) => self.printed.push(text.as_bytes()),
            GuestMessage::Waits => {
                if let GuestState::Computing(since) = self.state {
                    self.time_left = self.time_left.saturating_sub(since.elapsed());
                }
                self.state = GuestState::Waiting;
            }
            GuestMessage::Returned => return Some(CodeEnd::Returned),
            GuestMessage::Threw(thrown) => return Some(CodeEnd::Threw(thrown)),
            GuestMessage::Refused(reason) => return Some(CodeEnd::Refused(reason)),
        }

        None
    }

    /// Takes a call, and answers it from the log if it stands there.
    fn called(&mut self, id: u64, request: Request) -> Option<CodeEnd> {
        if self.calls == MAX_CODE_CALLS {
            return Some(CodeEnd::TooManyCalls);
        }

        // Guests count their calls, so that a call of the log is the same one.
        if id != self.calls as u64 {
            return Some(CodeEnd::Crashed(None));
        }

        self.calls += 1;
        match self.replayed.iter().find(|logged| logged.id == id) {
            Some(logged) if logged.request != request => return Some(CodeEnd::Differed),
            Some(_) => {}
            None => self.queue.push_back(id),
        }

        self.open.insert(id, request);
        None
    }

    /// Starts the calls that wait, as long as no question is open and the log has been replayed.
    fn start_calls(&mut self) {
        // Answers that the guest has not got count too: they take memory.
        let has_room = |run: &Self| run.running.len() + run.outbox.len() < MAX_PARALLEL_CALLS;
        while self.question.is_none() && self.replayed.is_empty() && has_room(self) {
            let Some(id) = self.queue.pop_front() else { return };
            let Some(request) = self.open.get(&id).cloned() else { continue };
            let answer = self.callee.answer(id, request);
            self.running.push(Box::pin(async move { (id, answer.await) }));
        }
    }

    /// Takes the answer to a call. After a question, answers are logged only: the program gets them when it runs again.
    fn answered(&mut self, id: u64, answered: Result<Answer, C::Question>) {
        match answered {
            Ok(answer) => {
                let Some(request) = self.open.get(&id).cloned() else { return };
                let ignored = message::ignored(&answer);
                let call = AnsweredCall { id, request, message: message::answer(id, now_ms(), &answer), ignored };
                if self.question.is_none() {
                    self.outbox.push_back(call.clone());
                }
                self.note(call);
            }
            Err(question) if self.question.is_none() => {
                self.question = Some(question);
                self.log.asked = Some(id);
            }
            // It is asked when the program runs again.
            Err(_) => {}
        }
    }

    /// Adds an answered call to the log, and notes what it ignored.
    fn note(&mut self, call: AnsweredCall) {
        if let (Request::Tool { name, .. }, [_, ..]) = (&call.request, call.ignored.as_slice()) {
            let note = (name.clone(), call.ignored.clone());
            if !self.ignored.contains(&note) {
                self.ignored.push(note);
            }
        }
        self.log.add(call);
    }

    /// Gives the guest the next answer if it waits for one: of the log in its order, then of calls that ran.
    async fn deliver(&mut self) -> Result<(), CodeEnd> {
        if self.state != GuestState::Waiting {
            return Ok(());
        }

        let logged = self.replayed.pop_front();
        if let Some(call) = &logged {
            self.note(call.clone());
        }

        let Some(AnsweredCall { id, message, .. }) = logged.or_else(|| self.outbox.pop_front()) else { return Ok(()) };
        if self.open.remove(&id).is_none() {
            return Err(CodeEnd::Differed);
        }

        self.guest.send(&message).await.map_err(|_| CodeEnd::Crashed(None))?;
        self.state = GuestState::Computing(Instant::now());

        Ok(())
    }

    /// Ends the guest, waits for the calls that it made, and makes the result.
    async fn finish(mut self, end: CodeEnd) -> Result<RunEnd<C::Question>, SpawnError> {
        self.guest.kill();
        let has_ended_itself = matches!(end, CodeEnd::Stuck | CodeEnd::Returned | CodeEnd::Threw(_));
        if has_ended_itself {
            // A call that it does not await is made all the same, and none of the log is made twice.
            for call in std::mem::take(&mut self.replayed) {
                self.note(call);
            }
        } else {
            self.queue.clear();
        }

        let forgotten = self.open.values().cloned().collect();
        self.outbox.clear();
        self.start_calls();
        while let Some((id, answered)) = self.running.next().await {
            self.answered(id, answered);
            self.outbox.clear();
            self.start_calls();
        }

        let had_ended = self.guest.end().await;
        let end = match (end, self.question) {
            (CodeEnd::Crashed(_), _) => CodeEnd::Crashed(had_ended),
            (_, Some(question)) if has_ended_itself && self.log.is_whole() => {
                return Ok(RunEnd::Asks(question, self.log));
            }
            (_, Some(_)) if has_ended_itself => CodeEnd::TooMuchLogged,
            (end, _) => end,
        };
        let (printed, ignored) = (self.printed.finish(), self.ignored);

        Ok(RunEnd::Ended(CodeOutcome { printed, end, forgotten, ignored }))
    }
}

/// The time in milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}
