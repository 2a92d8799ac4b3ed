//! The trait of every store of the state.

use crate::{Accounts, Backup, Cursors, Jobs, Promotions, ReceiptKeys, Switches, Usage};

/// The state of one Domesday service, by concern.
///
/// All operations may be called from many threads at once, and each happens whole or not at all.
pub trait State:
    Accounts + Usage + Jobs + Switches + Cursors + ReceiptKeys + Promotions + Backup
{
}

impl<S: Accounts + Usage + Jobs + Switches + Cursors + ReceiptKeys + Promotions + Backup> State
    for S
{
}
