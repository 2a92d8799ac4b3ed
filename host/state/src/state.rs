//! What every store of the state promises, put together.

use crate::{Accounts, Cursors, Jobs, Switches, Usage};

/// The state of one Domesday service, by concern.
///
/// All operations may be called from many threads at once, and each happens whole or not at all.
pub trait State: Accounts + Usage + Jobs + Switches + Cursors {}

impl<S: Accounts + Usage + Jobs + Switches + Cursors> State for S {}
