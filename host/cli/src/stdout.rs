//! Standard output that may be closed, or full.
//!
//! The macros of the standard library panic where a line cannot be printed. The macros here take
//! their place in every file of the program and do not panic. A reader that closes the pipe
//! (`| head`) has the lines it wanted, and the command runs to its end. Any other error is reported
//! once, at the end of the command ([`error`]). A command that writes bytes takes [`writer`].

use std::fmt::Arguments;
use std::io;
use std::io::{ErrorKind, StdoutLock, Write};
use std::sync::OnceLock;

/// The first error.
static ERROR: OnceLock<io::Error> = OnceLock::new();

/// Prints to standard output. Ignores a closed pipe.
macro_rules! print {
    ($($text:tt)*) => { $crate::stdout::print(format_args!($($text)*)) };
}

/// Prints to standard output, with a line end.
macro_rules! println {
    ($($text:tt)*) => { $crate::stdout::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// Prints the text of both macros.
pub fn print(text: Arguments<'_>) {
    note(io::stdout().write_fmt(text));
}

/// Flushes standard output and returns the first error in printing, if any. A command calls it at
/// its end.
pub fn error() -> Option<&'static io::Error> {
    note(io::stdout().flush());
    ERROR.get()
}

fn note(result: io::Result<()>) {
    if let Err(error) = unless_closed(result, ()) {
        let _ = ERROR.set(error);
    }
}

/// Returns standard output for bytes. The writer ignores a closed pipe and returns other errors.
pub fn writer() -> PipeWriter<StdoutLock<'static>> {
    PipeWriter(io::stdout().lock())
}

/// A writer to a pipe that its reader may close.
#[derive(Debug)]
pub struct PipeWriter<W>(W);

impl<W: Write> Write for PipeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_closed(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_closed(self.0.flush(), ())
    }
}

/// Returns a result, and `done` in place of the error of a closed pipe.
fn unless_closed<T>(result: io::Result<T>, done: T) -> io::Result<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(done),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that fails with this error.
    struct FailingWriter(ErrorKind);

    impl Write for FailingWriter {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_closed_pipe_takes_all_bytes_and_a_full_disk_is_an_error() {
        let mut closed = PipeWriter(FailingWriter(ErrorKind::BrokenPipe));
        closed.write_all(b"a line\n").unwrap();
        closed.flush().unwrap();
        let mut full = PipeWriter(FailingWriter(ErrorKind::StorageFull));
        let written = full.write_all(b"a line\n");
        assert_eq!(written.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(full.flush().unwrap_err().kind(), ErrorKind::StorageFull);
    }
}
