//! A packed model and the reading of its header.

use super::layout::{AVERAGED, HEADER_WORDS, MAGIC, Part, SINGLE, high, low};
use crate::Arithmetic;
use crate::transform::Transform;

/// The reason why words are not a packed model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackedError {
    /// The first word is not that of this version of the layout.
    #[error("these are not the words of a packed model of this version; pack the model again")]
    NotPacked,
    /// Some words are missing.
    #[error("the packed model is cut short")]
    CutShort,
}

/// A packed model. Reading one inspects only its header.
#[derive(Clone, Copy, Debug)]
pub struct Forest<'a> {
    pub(super) inputs: usize,
    pub(super) columns: usize,
    pub(super) transform: Transform,
    pub(super) averaged: bool,
    pub(super) arithmetic: Arithmetic,
    pub(super) deepest: usize,
    pub(super) ranked: &'a [u64],
    pub(super) rules: &'a [u64],
    pub(super) thresholds: &'a [u64],
    pub(super) sets: &'a [u64],
    pub(super) categories: &'a [u64],
    pub(super) starts: &'a [u64],
    pub(super) firsts: &'a [u64],
    pub(super) nodes: &'a [u64],
    pub(super) leaves: &'a [u64],
}

impl<'a> Forest<'a> {
    /// Reads a packed model in place.
    ///
    /// # Errors
    /// [`PackedError`] if the words are not a packed model, or not a whole one.
    pub fn read(words: &'a [u64]) -> Result<Forest<'a>, PackedError> {
        if words.first() != Some(&MAGIC) || words.len() < HEADER_WORDS {
            return Err(PackedError::NotPacked);
        }
        let part = |part: Part| {
            let place = words[part.header()];
            let (start, length) = (low(place), high(place));
            words
                .get(start..start.saturating_add(length))
                .ok_or(PackedError::CutShort)
        };
        let nodes = part(Part::Nodes)?;
        if !nodes.len().is_power_of_two() {
            return Err(PackedError::CutShort);
        }
        Ok(Forest {
            inputs: low(words[1]),
            transform: Transform::from_number(words[2] & 0xFF).ok_or(PackedError::NotPacked)?,
            averaged: words[2] >> AVERAGED & 1 == 1,
            arithmetic: match words[2] >> SINGLE & 1 {
                0 => Arithmetic::LightGbm,
                _ => Arithmetic::XgBoost {
                    base: f32::from_bits((words[2] >> 32) as u32),
                },
            },
            deepest: low(words[3]),
            columns: low(words[4]),
            ranked: part(Part::Ranked)?,
            rules: part(Part::Rules)?,
            thresholds: part(Part::Thresholds)?,
            sets: part(Part::Sets)?,
            categories: part(Part::Categories)?,
            starts: part(Part::Starts)?,
            firsts: part(Part::Firsts)?,
            nodes,
            leaves: part(Part::Leaves)?,
        })
    }
}
