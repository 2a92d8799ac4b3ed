//! A draw of patches that depends on a seed alone.

use crate::task::Task;
use std::collections::BTreeSet;

/// Returns the tasks of `count` patches that the seed draws, or all tasks without a count.
pub fn draw<'a>(tasks: &[Task<'a>], count: Option<usize>, seed: &str) -> Vec<Task<'a>> {
    let names: BTreeSet<&str> = tasks.iter().filter_map(Task::patch).collect();
    let mut order: Vec<&str> = names.into_iter().collect();
    order.sort_by_key(|name| fnv1a(&format!("{seed}/{name}")));
    order.truncate(count.unwrap_or(usize::MAX));
    let is_drawn = |task: &&Task<'_>| task.patch().is_some_and(|name| order.contains(&name));
    tasks.iter().filter(is_drawn).copied().collect()
}

/// Returns a hash that is the same on every machine and with every version of Rust.
pub fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
