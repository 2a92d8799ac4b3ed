//! Memory of a release in the sandbox: one arena, there from the start.
//!
//! The standard library's allocator asks the host to grow the memory while a valuation runs, and
//! the host takes the growth back before the next one. Both change the page tables, and on a host
//! with several cores each change interrupts the others: a tenth of a batch's time. An arena of
//! zeroes costs nothing until it is touched.

/// Bytes that a release's allocations have between them; one that needs more fails its row.
const HEAP_BYTES: usize = 8 << 20;

#[allow(unsafe_code)]
mod arena {
    use std::mem::MaybeUninit;
    use talc::wasm::{WasmArenaTalc, new_wasm_arena_allocator};

    static mut ARENA: [MaybeUninit<u8>; super::HEAP_BYTES] =
        [MaybeUninit::uninit(); super::HEAP_BYTES];

    #[global_allocator]
    // SAFETY: nothing else names the arena, and a release has one thread.
    static HEAP: WasmArenaTalc = unsafe { new_wasm_arena_allocator(&raw mut ARENA) };
}
