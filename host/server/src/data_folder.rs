//! The check that the data folder is still the one that the server opened.
//!
//! The state and the journal look after their own files. This is for the other content of the
//! folder: compiled code, the admin socket and the shadow's rows. It also holds where the state is
//! on PostgreSQL.

use arc_swap::ArcSwapOption;
use domesday_state::{OpenPath, PathMoved};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

/// The interval of checks.
const PERIOD: Duration = Duration::from_secs(1);
/// Time limit of the disk.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The data folder and the outcome of the last check.
pub struct DataFolder {
    open_path: OpenPath,
    problem: ArcSwapOption<String>,
}

impl DataFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// The operating system cannot open it.
    pub fn open(path: &Path) -> io::Result<DataFolder> {
        Ok(DataFolder {
            open_path: OpenPath::open(path)?,
            problem: ArcSwapOption::empty(),
        })
    }

    /// Returns the problem that the last check found, if any. Never waits.
    pub fn problem(&self) -> Option<String> {
        self.problem.load().as_deref().cloned()
    }

    /// Checks the path now. Blocks.
    ///
    /// # Errors
    /// The path leads elsewhere.
    pub fn check(&self) -> Result<(), PathMoved> {
        self.open_path.check()
    }

    /// Checks the path every second, one check at a time.
    pub async fn watch(self: Arc<Self>) {
        loop {
            sleep(PERIOD).await;
            let folder = self.clone();
            let mut check = spawn_blocking(move || folder.check());
            let outcome = match timeout(TIMEOUT, &mut check).await {
                Ok(outcome) => outcome,
                Err(_) => {
                    let seconds = TIMEOUT.as_secs();
                    let silent = format!("the data folder's disk has not answered for {seconds} s");
                    self.set_problem(Some(silent));
                    check.await
                }
            };
            if let Ok(outcome) = outcome {
                self.set_problem(outcome.err().map(|moved| moved.to_string()));
            }
        }
    }

    /// Sets the outcome of a check, and logs one that differs from the last.
    fn set_problem(&self, problem: Option<String>) {
        if problem == self.problem() {
            return;
        }
        match &problem {
            Some(problem) => tracing::error!(trouble = problem, "the data folder cannot be used"),
            None => tracing::info!("the data folder can be used again"),
        }
        self.problem.store(problem.map(Arc::new));
    }
}

#[cfg(test)]
#[path = "data_folder_tests.rs"]
mod tests;
