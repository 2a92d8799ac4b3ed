//! A map that forgets its oldest entries.

use std::collections::{BTreeMap, VecDeque};

/// A map that forgets its oldest entries.
pub struct Recent<K, V> {
    entries: BTreeMap<K, V>,
    order: VecDeque<K>,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent {
            entries: BTreeMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<K: Ord + Clone, V> Recent<K, V> {
    /// Adds an entry, and forgets the oldest where there were `most`.
    pub fn add(&mut self, key: K, value: V, most: usize) {
        while self.order.len() >= most {
            if let Some(oldest) = self.order.pop_front() {
                self.entries.remove(&oldest);
            }
        }
        self.order.retain(|other| *other != key);
        self.order.push_back(key.clone());
        self.entries.insert(key, value);
    }

    /// Returns an entry.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }

    /// Removes an entry.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        self.order.retain(|other| other != key);
        self.entries.remove(key)
    }

    /// Returns the values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.values_mut()
    }

    /// Returns the entries, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = (&K, &V)> {
        let order = self.order.iter().rev();
        order.filter_map(|key| self.entries.get_key_value(key))
    }
}
