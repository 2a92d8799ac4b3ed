//! Even samples of what is too much to value whole.

/// Returns the step that takes at most `most` of `count`, evenly from first to last.
pub(crate) fn step(count: usize, most: usize) -> usize {
    count.div_ceil(most.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::step;

    #[test]
    fn a_sample_is_no_larger_than_its_bound_and_never_empty() {
        for (count, most, expected) in [(0, 5, 0), (5, 5, 5), (6, 5, 3), (100, 7, 7), (9, 0, 1)] {
            let taken = (0..count).step_by(step(count, most)).count();
            assert_eq!(taken, expected, "{most} of {count}");
        }
    }
}
