//! The check that the data folder is still the one that the server opened, and that its disk
//! answers.
//!
//! The state and the journal look after their own files. This is for the other content of the
//! folder: compiled code, the admin socket and the shadow's rows. It also holds where the state is
//! on PostgreSQL.

use arc_swap::ArcSwapOption;
use domesday_package::{DiskProbe, check_no_staged_content};
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
    /// Written at each check, so that a disk that stalls is noticed before a request waits for it.
    probe: DiskProbe,
    problem: ArcSwapOption<String>,
}

impl DataFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// The operating system cannot open it, or create a file in it. Or a restore into it was broken
    /// off.
    pub fn open(path: &Path) -> io::Result<DataFolder> {
        check_no_staged_content(path).map_err(io::Error::other)?;
        Ok(DataFolder {
            open_path: OpenPath::open(path)?,
            probe: DiskProbe::open(path)?,
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

    /// Returns the problem of the path or of the disk, if there is one. Blocks.
    fn check_disk(&self) -> Option<String> {
        if let Err(moved) = self.check() {
            return Some(moved.to_string());
        }
        let failed = self.probe.write().err()?;
        Some(format!(
            "the data folder's disk cannot be written: {failed}"
        ))
    }

    /// Checks the path and the disk every second, one check at a time.
    pub async fn watch(self: Arc<Self>) {
        loop {
            sleep(PERIOD).await;
            let folder = self.clone();
            let mut check = spawn_blocking(move || folder.check_disk());
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
                self.set_problem(outcome);
            }
        }
    }

    /// Sets the outcome of a check, and logs one that differs from the last.
    fn set_problem(&self, problem: Option<String>) {
        if problem == self.problem() {
            return;
        }
        match &problem {
            Some(problem) => tracing::error!(problem, "the data folder cannot be used"),
            None => tracing::info!("the data folder can be used again"),
        }
        self.problem.store(problem.map(Arc::new));
    }
}

#[cfg(test)]
#[path = "data_folder_tests.rs"]
mod tests;
