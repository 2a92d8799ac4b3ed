//! Progress of long work, shown where a person is watching.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// One bar that is renamed and refilled from stage to stage.
pub struct ProgressLine {
    bar: ProgressBar,
    stage: String,
}

impl ProgressLine {
    /// Creates a bar on standard error, hidden where that is no terminal.
    pub fn new() -> ProgressLine {
        let bar = ProgressBar::new(0);
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) =
            ProgressStyle::with_template("{msg:32} {wide_bar} {percent:>3}% {eta:>5}")
        {
            bar.set_style(style);
        }
        ProgressLine {
            bar,
            stage: String::new(),
        }
    }

    /// Shows how far a stage has come.
    pub fn show(&mut self, stage: &str, done: u64, total: u64) {
        if self.stage != stage {
            self.stage = stage.to_owned();
            self.bar.reset();
            self.bar.set_message(self.stage.clone());
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Says a line on standard error, above the bar where there is one.
    pub fn say(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
