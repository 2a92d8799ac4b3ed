//! The exit codes of `release monitor`, which the command gives and a round reads.

/// The exit code of an alarm. Errors have 1, and wrong arguments 2.
pub const ALARMED: u8 = 3;
/// The exit code where no window is complete, or no segment has sales enough for a test.
pub const NOTHING_JUDGED: u8 = 4;
