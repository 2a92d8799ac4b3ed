//! A price index as a release receives it. Its points cross as one block.
//!
//! The derived way finds the guest's memory anew for each number. That took as long as everything
//! else that the host does to answer the question.

use super::wit_evidence as ask;
use crate::evidence;
use std::mem::MaybeUninit;
use wasmtime::component::__internal::{InterfaceType, LowerContext};
use wasmtime::component::{ComponentType, Lower};

/// The interface's `index-series`.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(super) struct IndexSeries {
    level: ask::AreaLevel,
    points: Vec<IndexPoint>,
}

/// The interface's `index-point`.
#[derive(Clone, Copy, ComponentType)]
#[component(record)]
pub(super) struct IndexPoint {
    month: i32,
    value: f64,
}

/// The place of `value` in a point: after `month`, at a whole number of its own bytes.
const VALUE: usize = 8;

// SAFETY: `ComponentType` is derived, and compares the names and types of the record. A point is 16
// bytes with `month` at 0 and `value` at 8, little-endian, as the canonical ABI lays out a record
// of these types. The four bytes between stay as they are, as in the derived way.
#[allow(unsafe_code)]
unsafe impl Lower for IndexPoint {
    fn linear_lower_to_flat<T>(
        &self,
        _cx: &mut LowerContext<'_, T>,
        _ty: InterfaceType,
        _dst: &mut MaybeUninit<Self::Lower>,
    ) -> wasmtime::Result<()> {
        // The elements of a list stand in memory.
        Err(wasmtime::Error::msg(
            "an index point stands in a list alone",
        ))
    }

    fn linear_lower_to_memory<T>(
        &self,
        cx: &mut LowerContext<'_, T>,
        ty: InterfaceType,
        offset: usize,
    ) -> wasmtime::Result<()> {
        IndexPoint::linear_store_list_to_memory(cx, ty, offset, std::slice::from_ref(self))
    }

    fn linear_store_list_to_memory<T>(
        cx: &mut LowerContext<'_, T>,
        _ty: InterfaceType,
        offset: usize,
        items: &[Self],
    ) -> wasmtime::Result<()> {
        let bytes = items.len() * IndexPoint::SIZE32;
        let block = &mut cx.as_slice_mut()[offset..][..bytes];
        let places = block.chunks_exact_mut(IndexPoint::SIZE32);
        for (place, point) in places.zip(items) {
            place[..4].copy_from_slice(&point.month.to_le_bytes());
            place[VALUE..].copy_from_slice(&point.value.to_le_bytes());
        }
        Ok(())
    }
}

/// Converts a series to the type that a release of 1.0.0 receives.
pub(super) fn index(series: evidence::IndexSeries) -> IndexSeries {
    use evidence::AreaLevel;
    IndexSeries {
        level: match series.level {
            AreaLevel::PostcodeSector => ask::AreaLevel::PostcodeSector,
            AreaLevel::PostcodeDistrict => ask::AreaLevel::PostcodeDistrict,
            AreaLevel::LocalAuthority => ask::AreaLevel::LocalAuthority,
            AreaLevel::Region => ask::AreaLevel::Region,
            AreaLevel::Country => ask::AreaLevel::Country,
        },
        points: series
            .points
            .into_iter()
            .map(|(month, value)| IndexPoint { month, value })
            .collect(),
    }
}
