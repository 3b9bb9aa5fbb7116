//! Jobs: calls that go on after their requests have been answered.
//!
//! Clients with the tasks extension see them as tasks. The others read and end them with the tool `climax_job`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use rmcp::model::{CallToolResult, ErrorData, InputRequests, InputResponses};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::replica::{ReplicaName, new_id};
use crate::exec::Transcript;
use crate::lock::Unpoisoned as _;
use crate::telemetry::log::now;

/// Maximum jobs of one caller, ended ones included.
pub(crate) const MAX_JOBS_OF_CALLER: usize = 64;

/// Maximum bytes of the results of all ended jobs. The oldest give way.
pub(crate) const MAX_JOB_RESULT_BYTES: usize = 64 << 20;

/// How long the result of an ended job is stored.
pub(crate) const MAX_JOB_AGE: Duration = Duration::from_mins(10);

/// The jobs of all callers of a server.
#[derive(Debug, Default)]
pub struct Jobs {
    /// Oldest first.
    queue: Mutex<VecDeque<Arc<Job>>>,
    running: TaskTracker,
}

/// A call that goes on after its request has been answered.
#[derive(Debug)]
pub(super) struct Job {
    /// 32 random hex digits, behind the name of the replica if it has one.
    pub(super) id: String,
    /// The identity of the caller.
    pub(super) caller: Vec<u8>,
    /// What it has printed.
    pub(super) transcript: Arc<Transcript>,
    /// Cancelled to end the call.
    pub(super) stop: CancellationToken,
    /// When the call began, in RFC 3339.
    pub(super) created_at: String,
    pub(super) began: Instant,
    state: watch::Sender<JobState>,
}

/// The state of a job, and since when it has it.
#[derive(Clone, Debug)]
pub(super) struct JobState {
    pub(super) phase: Phase,
    pub(super) changed: Instant,
    /// The same moment, in RFC 3339.
    pub(super) changed_at: String,
}

/// How far a job is.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    /// The call waits or runs.
    Working,
    /// The user has to answer these requests first.
    InputRequired { requests: InputRequests, responses: InputResponses },
    /// The call has ended.
    Ended(Arc<JobEnd>),
}

/// How a job ended.
#[derive(Clone, Debug)]
pub(super) enum JobEnd {
    /// With the result of the call.
    Result {
        result: CallToolResult,
        /// The length of the result as JSON.
        bytes: usize,
    },
    /// With an error of the protocol.
    Error(ErrorData),
    /// The client cancelled it.
    Cancelled,
}

impl Jobs {
    /// Adds a job of a caller of this replica. Returns `None` if the caller has too many that run, or the system gives no random bytes.
    pub(super) fn add(
        &self,
        replica: Option<&ReplicaName>,
        caller: Vec<u8>,
        transcript: Arc<Transcript>,
        stop: CancellationToken,
        (created_at, began): (String, Instant),
    ) -> Option<Arc<Job>> {
        let id = new_id(replica)?;
        let (state, _) = watch::channel(JobState::now(Phase::Working));
        let job = Arc::new(Job { id, caller, transcript, stop, created_at, began, state });
        let mut queue = self.lock();
        let is_own = |other: &Arc<Job>| other.caller == job.caller;

        if queue.iter().filter(|other| is_own(other)).count() >= MAX_JOBS_OF_CALLER {
            let at = queue.iter().position(|other| is_own(other) && other.has_ended())?;
            queue.remove(at);
        }

        queue.push_back(job.clone());
        Some(job)
    }

    /// Finds a job of a caller.
    pub(super) fn find(&self, id: &str, caller: &[u8]) -> Option<Arc<Job>> {
        self.lock().iter().find(|job| job.id == id && job.caller == caller).cloned()
    }

    /// Runs a job to its end. Its result is stored for [`MAX_JOB_AGE`].
    pub(super) fn run(self: &Arc<Self>, job: Arc<Job>, call: impl Future<Output = JobEnd> + Send + 'static) {
        let jobs = Arc::downgrade(self);
        self.running.spawn(async move {
            let end = call.await;
            job.set(Phase::Ended(Arc::new(end)));
            let Some(stored) = jobs.upgrade() else { return };
            stored.make_room();
            tokio::spawn(remove_later(jobs, job));
        });
    }

    /// Waits until all jobs have ended. Those that begin later are not waited for.
    pub async fn ended(&self) {
        self.running.close();
        self.running.wait().await;
    }

    /// Removes the oldest ended jobs while the results of all take too much.
    fn make_room(&self) {
        let mut queue = self.lock();
        while queue.iter().map(|job| job.result_bytes()).sum::<usize>() > MAX_JOB_RESULT_BYTES {
            let Some(at) = queue.iter().position(|job| job.has_ended()) else { return };
            queue.remove(at);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Job>>> {
        self.queue.lock().unpoisoned()
    }
}

/// Removes a job when its result expires.
async fn remove_later(jobs: Weak<Jobs>, job: Arc<Job>) {
    let id = job.id.clone();
    drop(job);
    sleep(MAX_JOB_AGE).await;
    if let Some(jobs) = jobs.upgrade() {
        jobs.lock().retain(|job| job.id != id);
    }
}

impl JobState {
    fn now(phase: Phase) -> Self {
        Self { phase, changed: Instant::now(), changed_at: now() }
    }
}

impl Job {
    /// Returns the state.
    pub(super) fn state(&self) -> JobState {
        self.state.borrow().clone()
    }

    pub(super) fn set(&self, phase: Phase) {
        self.state.send_replace(JobState::now(phase));
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state.borrow().phase, Phase::Ended(_))
    }

    /// Waits until the job has ended.
    pub(super) async fn ended(&self) {
        let mut states = self.state.subscribe();
        // The sender lives as long as this job.
        let _ = states.wait_for(|state| matches!(state.phase, Phase::Ended(_))).await;
    }

    /// Asks the user through the client. Returns the responses when all have come, `None` if the job is cancelled before.
    pub(super) async fn ask(&self, requests: InputRequests) -> Option<InputResponses> {
        self.set(Phase::InputRequired { requests, responses: InputResponses::default() });
        let mut states = self.state.subscribe();
        let answered = async {
            let state = states.wait_for(|state| state.phase.is_answered()).await;
            match state.map(|state| state.phase.clone()) {
                Ok(Phase::InputRequired { responses, .. }) => Some(responses),
                _ => None,
            }
        };
        let responses = self.stop.run_until_cancelled(answered).await.flatten();
        self.set(Phase::Working);

        responses
    }

    /// Takes responses to open requests. Others are ignored.
    pub(super) fn answer(&self, given: InputResponses) {
        self.state.send_if_modified(|state| {
            let Phase::InputRequired { requests, responses } = &mut state.phase else { return false };
            for (key, response) in given.into_iter().filter(|(key, _)| requests.contains_key(key)) {
                responses.entry(key).or_insert(response);
            }
            true
        });
    }

    /// Roughly the memory of its result and its output, in bytes.
    fn result_bytes(&self) -> usize {
        match &self.state.borrow().phase {
            Phase::Ended(end) => end.bytes() + self.transcript.held_bytes(),
            Phase::Working | Phase::InputRequired { .. } => 0,
        }
    }
}

impl Phase {
    /// Whether each request has its response.
    fn is_answered(&self) -> bool {
        matches!(self, Self::InputRequired { requests, responses } if requests.len() == responses.len())
    }
}

impl JobEnd {
    pub(super) fn of(result: CallToolResult) -> Self {
        let bytes = serde_json::to_vec(&result).map_or(0, |text| text.len());
        Self::Result { result, bytes }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Result { bytes, .. } => *bytes,
            Self::Error(_) | Self::Cancelled => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::ContentBlock;
    use tokio::task::yield_now;

    use super::*;

    fn add(jobs: &Jobs, caller: &str) -> Option<Arc<Job>> {
        let began = (now(), Instant::now());
        jobs.add(None, caller.into(), Arc::default(), CancellationToken::new(), began)
    }

    /// Adds a job that ends at once with a result of this many bytes.
    async fn add_ended(jobs: &Arc<Jobs>, caller: &str, bytes: usize) -> Arc<Job> {
        let job = add(jobs, caller).unwrap();
        let result = CallToolResult::success(vec![ContentBlock::text("x".repeat(bytes))]);
        jobs.run(job.clone(), async { JobEnd::of(result) });
        job.ended().await;
        yield_now().await;
        job
    }

    fn has(jobs: &Jobs, job: &Job) -> bool {
        jobs.find(&job.id, &job.caller).is_some()
    }

    #[tokio::test]
    async fn a_caller_has_64_jobs_and_its_oldest_ended_one_gives_way() {
        let jobs = Arc::new(Jobs::default());
        let ended = add_ended(&jobs, "ada", 1).await;
        let other = add_ended(&jobs, "bob", 1).await;
        for _ in 1..MAX_JOBS_OF_CALLER {
            assert!(add(&jobs, "ada").is_some());
        }

        assert!(has(&jobs, &ended));
        assert!(add(&jobs, "ada").is_some());
        assert!(!has(&jobs, &ended) && has(&jobs, &other));
        assert!(add(&jobs, "ada").is_none(), "all run");
        assert!(add(&jobs, "bob").is_some());
    }

    #[tokio::test]
    async fn results_take_64_mib_and_the_oldest_give_way() {
        let jobs = Arc::new(Jobs::default());
        let running = add(&jobs, "ada").unwrap();
        let large = MAX_JOB_RESULT_BYTES / 3;
        let first = add_ended(&jobs, "ada", large).await;
        let second = add_ended(&jobs, "bob", large).await;
        assert!(has(&jobs, &first) && has(&jobs, &second));
        let third = add_ended(&jobs, "ada", large).await;
        assert!(!has(&jobs, &first) && has(&jobs, &second) && has(&jobs, &third) && has(&jobs, &running));
    }

    #[tokio::test(start_paused = true)]
    async fn results_are_stored_for_ten_minutes() {
        let jobs = Arc::new(Jobs::default());
        let job = add_ended(&jobs, "ada", 1).await;
        sleep(Duration::from_secs(599)).await;
        assert!(has(&jobs, &job));
        sleep(Duration::from_secs(2)).await;
        assert!(!has(&jobs, &job));
    }

    #[test]
    fn a_job_is_found_by_its_caller_alone() {
        let jobs = Jobs::default();
        let job = add(&jobs, "ada").unwrap();
        assert!(jobs.find(&job.id, b"ada").is_some() && jobs.find(&job.id, b"bob").is_none());
    }
}
