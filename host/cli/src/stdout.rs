//! Standard output that may be closed, or full.
//!
//! The macros of the standard library panic where a line cannot be printed. The macros here take
//! their place in every file of the program and do not panic. A reader that closes the pipe
//! (`| head`) has the lines it wanted, and the command runs to its end. Any other error is reported
//! once, at the end of the command ([`error`]).

use std::fmt::Arguments;
use std::io;
use std::io::{ErrorKind, Write};
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
    if let Err(error) = result
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = ERROR.set(error);
    }
}
