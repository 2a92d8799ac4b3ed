//! A price index as a release receives it. Its points cross as one block.
//!
//! The derived way finds the guest's memory anew for each number. That took as long as everything
//! else that the host does to answer the question.

use super::wit_evidence as ask;
use crate::evidence;
use bytemuck::TransparentWrapper;
use domesday_property::IndexPoints;
use std::mem::MaybeUninit;
use wasmtime::component::__internal::{
    CanonicalAbiInfo, InstanceType, InterfaceType, LowerContext,
};
use wasmtime::component::{ComponentType, Lower};

/// The interface's `index-series`.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(super) struct IndexSeries {
    level: ask::AreaLevel,
    points: Points,
}

/// The interface's list of `index-point`.
pub(super) struct Points(IndexPoints);

/// The interface's `index-point`, as a snapshot has it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct IndexPoint((i32, f64));

// SAFETY: The type has one field, of the type that it wraps, and is `repr(transparent)`.
#[allow(unsafe_code)]
unsafe impl TransparentWrapper<(i32, f64)> for IndexPoint {}

/// The place of `value` in a point: after `month`, at a whole number of its own bytes.
const VALUE: usize = 8;

// SAFETY: Everything is that of the bindings' type, which has the same names and types.
#[allow(unsafe_code)]
unsafe impl ComponentType for IndexPoint {
    type Lower = <ask::IndexPoint as ComponentType>::Lower;
    const ABI: CanonicalAbiInfo = <ask::IndexPoint as ComponentType>::ABI;

    fn typecheck(ty: &InterfaceType, types: &InstanceType<'_>) -> wasmtime::Result<()> {
        <ask::IndexPoint as ComponentType>::typecheck(ty, types)
    }
}

// SAFETY: A point is 16 bytes with `month` at 0 and `value` at 8, little-endian. The canonical ABI
// lays out a record of these types in the same way. The four bytes between stay as they are, as in
// the derived way.
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
        for (place, &IndexPoint((month, value))) in places.zip(items) {
            place[..4].copy_from_slice(&month.to_le_bytes());
            place[VALUE..].copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    }
}

// SAFETY: Everything is that of the list of points.
#[allow(unsafe_code)]
unsafe impl ComponentType for Points {
    type Lower = <[IndexPoint] as ComponentType>::Lower;
    const ABI: CanonicalAbiInfo = <[IndexPoint] as ComponentType>::ABI;

    fn typecheck(ty: &InterfaceType, types: &InstanceType<'_>) -> wasmtime::Result<()> {
        <[IndexPoint] as ComponentType>::typecheck(ty, types)
    }
}

// SAFETY: A list of points is lowered, of the same type and in the same place.
#[allow(unsafe_code)]
unsafe impl Lower for Points {
    fn linear_lower_to_flat<T>(
        &self,
        cx: &mut LowerContext<'_, T>,
        ty: InterfaceType,
        dst: &mut MaybeUninit<Self::Lower>,
    ) -> wasmtime::Result<()> {
        IndexPoint::wrap_slice(&self.0).linear_lower_to_flat(cx, ty, dst)
    }

    fn linear_lower_to_memory<T>(
        &self,
        cx: &mut LowerContext<'_, T>,
        ty: InterfaceType,
        offset: usize,
    ) -> wasmtime::Result<()> {
        IndexPoint::wrap_slice(&self.0).linear_lower_to_memory(cx, ty, offset)
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
        points: Points(series.points),
    }
}

#[cfg(test)]
#[path = "price_index_tests.rs"]
mod tests;
