//! Whether the data folder is still where the server opened it.
//!
//! The state and the journal look after their own files. This is for what else the folder holds
//! (compiled code, the admin socket, the shadow's rows), also where the state is on PostgreSQL.

use arc_swap::ArcSwapOption;
use domesday_state::{OpenPath, PathMoved};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

/// How often it is looked.
const PERIOD: Duration = Duration::from_secs(1);
/// How long the disk may take to answer.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The data folder, and what was last found of it.
pub struct DataFolder {
    place: OpenPath,
    trouble: ArcSwapOption<String>,
}

impl DataFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<DataFolder> {
        Ok(DataFolder {
            place: OpenPath::open(path)?,
            trouble: ArcSwapOption::empty(),
        })
    }

    /// What is wrong with it, as last found. Never waits.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.load().as_deref().cloned()
    }

    /// Looks now. Blocks.
    ///
    /// # Errors
    /// Where its path leads elsewhere.
    pub fn check(&self) -> Result<(), PathMoved> {
        self.place.check()
    }

    /// Looks again and again. One look at most is under way at a time.
    pub async fn watch(self: Arc<Self>) {
        loop {
            sleep(PERIOD).await;
            let folder = self.clone();
            let mut look = spawn_blocking(move || folder.check());
            let looked = match timeout(TIMEOUT, &mut look).await {
                Ok(looked) => looked,
                Err(_) => {
                    let seconds = TIMEOUT.as_secs();
                    let silent = format!("the data folder's disk has not answered for {seconds} s");
                    self.tell(Some(silent));
                    look.await
                }
            };
            if let Ok(looked) = looked {
                self.tell(looked.err().map(|moved| moved.to_string()));
            }
        }
    }

    fn tell(&self, trouble: Option<String>) {
        match (&trouble, self.trouble()) {
            (Some(trouble), None) => {
                tracing::error!(trouble, "the data folder was moved or deleted")
            }
            (None, Some(_)) => tracing::info!("the data folder is where it was"),
            _ => {}
        }
        self.trouble.store(trouble.map(Arc::new));
    }
}
