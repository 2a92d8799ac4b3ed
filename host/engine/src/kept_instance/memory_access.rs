//! The argument of the added export. While the host passes it, the host reads and writes the
//! memory.
//!
//! wasmtime gives no other way to the memory of a component's instance.

use std::mem::MaybeUninit;
use wasmtime::component::__internal::{
    CanonicalAbiInfo, InstanceType, InterfaceType, LowerContext,
};
use wasmtime::component::{ComponentType, Lower};

/// Work on the memory of an instance.
pub(super) type Work<'a> = &'a (dyn Fn(&mut [u8]) + Send + Sync);

/// Passes the number 0 for the export's parameter, after the work on the memory.
pub(super) struct MemoryAccess<'a>(pub(super) Work<'a>);

// SAFETY: Everything is that of the number that is passed.
#[allow(unsafe_code)]
unsafe impl ComponentType for MemoryAccess<'_> {
    type Lower = <u32 as ComponentType>::Lower;
    const ABI: CanonicalAbiInfo = <u32 as ComponentType>::ABI;

    fn typecheck(ty: &InterfaceType, types: &InstanceType<'_>) -> wasmtime::Result<()> {
        <u32 as ComponentType>::typecheck(ty, types)
    }
}

// SAFETY: The number is lowered, of the same type and in the same place. The memory is borrowed
// from the store for the time of the work.
#[allow(unsafe_code)]
unsafe impl Lower for MemoryAccess<'_> {
    fn linear_lower_to_flat<T>(
        &self,
        cx: &mut LowerContext<'_, T>,
        ty: InterfaceType,
        dst: &mut MaybeUninit<Self::Lower>,
    ) -> wasmtime::Result<()> {
        (self.0)(cx.as_slice_mut());
        0_u32.linear_lower_to_flat(cx, ty, dst)
    }

    fn linear_lower_to_memory<T>(
        &self,
        cx: &mut LowerContext<'_, T>,
        ty: InterfaceType,
        offset: usize,
    ) -> wasmtime::Result<()> {
        0_u32.linear_lower_to_memory(cx, ty, offset)
    }
}
