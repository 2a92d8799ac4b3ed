//! The write-ahead log of usage: its blocks (`log`), and their replay into the file (`replay`).

pub(super) mod log;
pub(super) mod replay;
