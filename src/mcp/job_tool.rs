//! The tool `climax_job`, by which clients without tasks follow their jobs.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::CallToolResult;
use tokio::time::timeout;

use super::jobs::{Job, JobEnd, Jobs, MAX_JOB_AGE, Phase};
use super::request_context::acting_caller;
use crate::call::arguments::{Bound, echo};
use crate::call::native::{BoxFuture, Native};

/// The name of the tool. Its config is `src/serving/job.yaml`.
pub(crate) const JOB_TOOL: &str = "climax_job";

/// The most output of a running job that one call shows, in bytes.
const MAX_SHOWN_BYTES: usize = 16 << 10;

/// The most output that is shown without an offset, in bytes.
const MAX_TAIL_BYTES: usize = 2 << 10;

/// Reads jobs, waits for them and ends them.
pub(crate) struct JobTool {
    jobs: Arc<Jobs>,
}

impl JobTool {
    /// Makes the tool for these jobs.
    pub(crate) fn new(jobs: Arc<Jobs>) -> Self {
        Self { jobs }
    }

    async fn answer(&self, arguments: &Bound<'_>) -> Result<String, String> {
        let given = |name: &str| arguments.get(name).map(ToString::to_string);
        let id = given("job").unwrap_or_default();
        let job = self.jobs.find(&id, &acting_caller()).ok_or_else(|| unknown(&id))?;
        let seconds = given("wait").and_then(|seconds| seconds.parse().ok());
        let wait = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());

        if given("cancel").as_deref() == Some("true") {
            job.stop.cancel();
            job.ended().await;
        } else if let Some(wait) = wait {
            // At the end of the wait the state says how it is.
            let _ = timeout(wait, job.ended()).await;
        }

        let offset = given("offset").and_then(|offset| offset.parse().ok());
        match job.state().phase {
            Phase::Working | Phase::InputRequired { .. } => Ok(output_so_far(&job, offset)),
            Phase::Ended(end) => match end.as_ref() {
                JobEnd::Result { result, .. } if result.is_error == Some(true) => Err(text(result)),
                JobEnd::Result { result, .. } => Ok(text(result)),
                JobEnd::Error(error) => Err(error.message.to_string()),
                JobEnd::Cancelled => Ok(format!("{}\nThe job was cancelled.", excerpt(&job, offset).0)),
            },
        }
    }
}

impl Native for JobTool {
    fn call<'a>(&'a self, arguments: &'a Bound<'a>) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(self.answer(arguments))
    }

    /// A job holds a slot until it ends, so its end must not need another one.
    fn takes_slot(&self) -> bool {
        false
    }
}

/// What a running job has printed from `offset` on, or its end, and how far it is.
pub(super) fn output_so_far(job: &Job, offset: Option<u64>) -> String {
    let (text, end) = excerpt(job, offset);
    let seconds = job.began.elapsed().as_secs();
    format!("{text}[running for {seconds} s; its next output has offset {end}]")
}

/// What a job has printed from `offset` on, or its end, and the offset behind it.
fn excerpt(job: &Job, offset: Option<u64>) -> (String, u64) {
    let excerpt = match offset {
        Some(offset) => job.transcript.excerpt(offset, MAX_SHOWN_BYTES),
        None => job.transcript.end(MAX_TAIL_BYTES),
    };
    let mut text = String::from_utf8_lossy(&excerpt.bytes).into_owned();
    if excerpt.start > offset.unwrap_or_default() {
        text = format!("[the first {} bytes are left out]\n{text}", excerpt.start);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }

    (text, excerpt.end())
}

/// The text of a result.
fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text()).map(|block| block.text.as_str());
    texts.collect::<Vec<_>>().join("\n")
}

fn unknown(id: &str) -> String {
    format!(
        "no job has the id {}: give the id as the call returned it; results are stored for {} minutes after the end",
        echo(id),
        MAX_JOB_AGE.as_secs() / 60
    )
}
