use super::*;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The log of this thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Returns the lines that `act` logs.
    fn lines(&self, act: impl FnOnce()) -> Vec<String> {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .with_writer(move || log.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, act);
        let log = std::mem::take(&mut *self.0.lock().unwrap());
        let text = String::from_utf8(log).unwrap();
        text.lines().map(|line| line.trim().to_owned()).collect()
    }
}

#[test]
fn each_new_reason_of_a_data_folder_is_logged_once() {
    let place = tempfile::tempdir().unwrap();
    let folder = DataFolder::open(place.path()).unwrap();
    let log = Log::default();
    let set = |problem: Option<&str>| log.lines(|| folder.set_problem(problem.map(str::to_owned)));
    assert!(set(None).is_empty());
    for reason in ["its disk does not answer", "it was moved"] {
        let line = format!("ERROR the data folder cannot be used problem=\"{reason}\"");
        assert_eq!(set(Some(reason)), [line]);
        assert!(set(Some(reason)).is_empty());
        assert_eq!(folder.problem().as_deref(), Some(reason));
    }
    assert_eq!(set(None), ["INFO the data folder can be used again"]);
    assert_eq!(folder.problem(), None);
}
