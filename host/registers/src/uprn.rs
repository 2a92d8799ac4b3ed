//! Unique Property Reference Numbers, as registers write them.

/// Reads a UPRN: 1 to 12 digits, above zero.
pub(crate) fn uprn(cell: &str) -> Option<u64> {
    let digits = (1..=12).contains(&cell.len()) && cell.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| cell.parse().ok())?.filter(|uprn| *uprn > 0)
}
