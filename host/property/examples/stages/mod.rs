//! The progress of a build, as the examples print it.

use std::time::Instant;

/// Returns a reporter of progress that prints each stage with the time at which it begins, seconds.
pub fn print_stages() -> impl FnMut(&str, u64, u64) {
    let mut stage = String::new();
    let started = Instant::now();
    move |name, _, _| {
        if stage != name {
            eprintln!("{:8.2} s  {name}", started.elapsed().as_secs_f64());
            stage = name.to_owned();
        }
    }
}
