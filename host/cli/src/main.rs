//! The `domesday` program: serves valuations, makes releases, and proves and replays results.

// First, since its macros take the place of the standard library's in all that follow.
#[macro_use]
mod stdout;

mod commands;
mod error_chain;

use self::error_chain::error_chain;
use std::process::ExitCode;

/// Rows are valued on several threads, and each allocates some hundred times.
#[cfg(feature = "mimalloc")]
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let code = match commands::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("domesday: {}", error_chain(&error));
            ExitCode::FAILURE
        }
    };
    if let Some(error) = stdout::error() {
        eprintln!("domesday: standard output: {error}");
        return ExitCode::FAILURE;
    }
    code
}
