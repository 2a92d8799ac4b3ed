//! The first N items of a stream.

/// Keeps the first N items of a stream under an order.
pub(super) struct TopN<T, K, F> {
    limit: usize,
    order: F,
    kept: Vec<T>,
    /// `kept` has exactly `limit` items, the worst last.
    full: bool,
    /// The order of the worst item when there were last exactly `limit`. Nothing behind it is among
    /// the first N.
    bound: Option<K>,
}

impl<T, K: Ord, F: Fn(&T) -> K> TopN<T, K, F> {
    pub(super) fn new(limit: usize, order: F) -> Self {
        TopN {
            limit,
            order,
            kept: Vec::with_capacity(limit.min(128) * 2),
            full: false,
            bound: None,
        }
    }

    /// Returns the worst kept item, once `limit` are kept.
    pub(super) fn worst(&mut self) -> Option<&T> {
        self.trim();
        self.full.then(|| self.kept.last()).flatten()
    }

    pub(super) fn offer(&mut self, item: T) {
        if let Some(bound) = &self.bound
            && (self.order)(&item) > *bound
        {
            return;
        }
        self.full = false;
        self.kept.push(item);
        if self.kept.len() >= self.limit * 2 {
            self.trim();
        }
    }

    fn trim(&mut self) {
        if !self.full && self.kept.len() >= self.limit {
            self.kept
                .select_nth_unstable_by_key(self.limit - 1, &self.order);
            self.kept.truncate(self.limit);
            self.full = true;
            self.bound = self.kept.last().map(&self.order);
        }
    }

    pub(super) fn into_sorted(mut self) -> Vec<T> {
        self.kept.sort_unstable_by_key(&self.order);
        self.kept.truncate(self.limit);
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::TopN;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_agrees_with_sorting(
            items in proptest::collection::vec((0_u32..50, any::<bool>()), 0..200),
            limit in 1_usize..30,
        ) {
            let mut best = TopN::new(limit, |item: &u32| *item);
            let mut seen = Vec::new();
            for (item, asks) in items {
                best.offer(item);
                seen.push(item);
                seen.sort_unstable();
                // Each question trims, so only items between two of them meet an older bound.
                if asks {
                    prop_assert_eq!(best.worst(), seen.get(limit - 1));
                }
            }
            seen.truncate(limit);
            prop_assert_eq!(best.into_sorted(), seen);
        }
    }
}
