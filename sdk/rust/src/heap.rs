//! An arena allocator for releases in the sandbox.

/// Gives the release a heap of fixed size, in bytes, in place of one that grows. An allocation that
/// does not fit fails its row.
///
/// The standard library's allocator grows the memory during a valuation, and the host resets it
/// before the next. Both change page tables, and on several cores each change interrupts the other
/// cores. That took a third of a batch's time. An arena of zeros costs nothing until it is touched.
/// It counts towards the release's memory.
///
/// ```ignore
/// domesday_sdk::heap!(8 << 20);
/// ```
#[macro_export]
macro_rules! heap {
    ($bytes:expr) => {
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code)]
        mod domesday_heap {
            use ::std::mem::MaybeUninit;
            use $crate::talc::wasm::{WasmArenaTalc, new_wasm_arena_allocator};

            static mut ARENA: [MaybeUninit<u8>; $bytes] = [MaybeUninit::uninit(); $bytes];

            #[global_allocator]
            // SAFETY: only this static names the arena, and a release has one thread.
            static HEAP: WasmArenaTalc = unsafe { new_wasm_arena_allocator(&raw mut ARENA) };
        }
    };
}
