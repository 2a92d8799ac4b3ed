//! Memory of a release in the sandbox out of one arena.

/// Gives the release one heap of so many bytes, there from the start, in place of one that grows. An
/// allocation that does not fit fails its row.
///
/// The standard library's allocator asks the host to grow the memory while a valuation runs, and
/// the host takes the growth back before the next one. Both change the page tables, and on a host
/// with several cores each change interrupts the others: a third of a batch's time. An arena of
/// zeroes costs nothing until it is touched. It counts towards the memory that the release asks for.
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
            // SAFETY: nothing else names the arena, and a release has one thread.
            static HEAP: WasmArenaTalc = unsafe { new_wasm_arena_allocator(&raw mut ARENA) };
        }
    };
}
