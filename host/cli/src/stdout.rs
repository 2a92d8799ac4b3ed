//! Standard output that may be closed, or full.
//!
//! The macros of the standard library panic where a line cannot be printed. These, which take their
//! place in every file of the program, do not: whoever reads no further (`| head`) has what was
//! wanted, and the command goes on to its own end; any other error is reported once, when the
//! command is done ([`fault`]).

use std::fmt::Arguments;
use std::io;
use std::io::{ErrorKind, Write};
use std::sync::OnceLock;

/// The first fault.
static FAULT: OnceLock<io::Error> = OnceLock::new();

/// Prints to standard output. A reader that has gone is none of the command's concern.
macro_rules! print {
    ($($text:tt)*) => { $crate::stdout::print(format_args!($($text)*)) };
}

/// As `print!`, with the end of a line.
macro_rules! println {
    ($($text:tt)*) => { $crate::stdout::print(format_args!("{}\n", format_args!($($text)*))) };
}

/// What both macros do.
pub fn print(text: Arguments<'_>) {
    note(io::stdout().write_fmt(text));
}

/// What kept something from being printed, if anything did; for the end of a command.
pub fn fault() -> Option<&'static io::Error> {
    note(io::stdout().flush());
    FAULT.get()
}

fn note(done: io::Result<()>) {
    if let Err(error) = done
        && error.kind() != ErrorKind::BrokenPipe
    {
        let _ = FAULT.set(error);
    }
}
