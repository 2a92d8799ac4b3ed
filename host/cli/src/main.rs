//! The `domesday` program: serves valuations, and makes, proves and replays what it serves.

// First, since its macros take the place of the standard library's in all that follow.
#[macro_use]
mod stdout;

mod commands;

use std::process::ExitCode;

/// Rows are valued on several threads, and each allocates some hundred times.
#[cfg(feature = "jemalloc")]
#[global_allocator]
static HEAP: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let code = match commands::run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("domesday: {}", error_chain(&error));
            ExitCode::FAILURE
        }
    };
    if let Some(fault) = stdout::fault() {
        eprintln!("domesday: standard output: {fault}");
        return ExitCode::FAILURE;
    }
    code
}

/// An error with its causes, but for a cause that the text before it ends with already.
fn error_chain(error: &anyhow::Error) -> String {
    let mut chain = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if chain.is_empty() {
            chain = cause;
        } else if !chain.ends_with(&cause) {
            chain = format!("{chain}: {cause}");
        }
    }
    chain
}
