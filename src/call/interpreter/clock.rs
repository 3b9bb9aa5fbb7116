//! The time that a line may take.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock::Unpoisoned as _;

/// Maximum time that a line runs, if its caller says nothing else. What goes on in the background as a job has none.
const MAX_LINE_TIME: Duration = Duration::from_hours(1);

/// The clock of a line. It stands still while the user is asked.
pub(in crate::call) struct Clock {
    limit: Duration,
    started: Instant,
    /// How long it has stood still.
    stood: Mutex<Duration>,
}

impl Clock {
    /// Starts a clock for a line that may take this long.
    pub(in crate::call) fn start(limit: Option<Duration>) -> Self {
        let limit = limit.unwrap_or(MAX_LINE_TIME);
        Self { limit, started: Instant::now(), stood: Mutex::new(Duration::ZERO) }
    }

    /// Returns how long the line may take in all.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Returns how long the line may still take.
    pub(super) fn left(&self) -> Duration {
        (self.limit + *self.stood.lock().unpoisoned()).saturating_sub(self.started.elapsed())
    }

    /// Waits for an answer of the user, whose time is not that of the line.
    pub(super) async fn stand_still<T>(&self, answer: impl Future<Output = T>) -> T {
        let asked = Instant::now();
        let answer = answer.await;
        *self.stood.lock().unpoisoned() += asked.elapsed();
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_time_of_an_answer_is_not_that_of_the_line() {
        let second = Duration::from_secs(1);
        let started = Instant::now().checked_sub(100 * second).unwrap();
        let clock = Clock { limit: second, started, stood: Mutex::new(100 * second) };
        assert!(clock.left() > Duration::ZERO);

        *clock.stood.lock().unpoisoned() = Duration::ZERO;
        assert_eq!(clock.left(), Duration::ZERO);
        clock.stand_still(tokio::time::sleep(second / 20)).await;
        assert!(*clock.stood.lock().unpoisoned() >= second / 20);
    }
}
