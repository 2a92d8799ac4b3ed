//! The progress callback of long work.

/// A progress callback: the name of the stage, the steps done and the steps in all.
///
/// Every build and transfer of the workspace takes one, as its parameter `progress`.
pub type Progress<'a> = dyn FnMut(&str, u64, u64) + 'a;
