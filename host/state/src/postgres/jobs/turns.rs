//! The submissions of one host, one at a time for each tenant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

use crate::TenantId;

/// A queue for each tenant that submits at this moment.
#[derive(Default)]
pub(in crate::postgres) struct TenantTurns(Mutex<HashMap<TenantId, Weak<Turn<()>>>>);

impl TenantTurns {
    /// Waits for the tenant's turn, which lasts until the guard is dropped. Turns go in the order
    /// of arrival.
    pub(super) async fn take(&self, tenant: &TenantId) -> OwnedMutexGuard<()> {
        self.queue(tenant).lock_owned().await
    }

    fn queue(&self, tenant: &TenantId) -> Arc<Turn<()>> {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(tenant).and_then(Weak::upgrade) {
            return queue;
        }
        queues.retain(|_, queue| queue.strong_count() > 0);
        let queue = Arc::default();
        queues.insert(tenant.clone(), Arc::downgrade(&queue));
        queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::block_on;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn a_turn_of_one_tenant_delays_no_other() {
        let turns = TenantTurns::default();
        let [first, other] = ["first", "other"].map(|id| id.parse().unwrap());
        block_on(async {
            let turn = turns.take(&first).await;
            let mut next = pin!(turns.take(&first));
            let mut context = Context::from_waker(Waker::noop());
            assert!(next.as_mut().poll(&mut context).is_pending());
            drop(turns.take(&other).await);
            drop(turn);
            assert!(matches!(next.poll(&mut context), Poll::Ready(_)));
            // Tenants that no longer submit are forgotten.
            drop(turns.take(&other).await);
            assert_eq!(turns.0.lock().unwrap().len(), 1);
        });
    }
}
