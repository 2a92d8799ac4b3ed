//! Trees alone in a sandbox: one row a call, in the layout of releases.

use domesday_trees::{Forest, Scratch};
use std::cell::RefCell;

#[repr(align(8))]
struct Aligned<const N: usize>([u8; N]);

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trees.bin"));
static TREES: Aligned<{ PACKED.len() }> =
    Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/trees.bin")));

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Returns the raw score of a row, or NaN if the trees cannot be read.
pub fn score(row: &[f64]) -> f64 {
    match Forest::read(bytemuck::cast_slice(&TREES.0)) {
        Ok(forest) => SCRATCH.with_borrow_mut(|scratch| forest.score(row, scratch)),
        Err(_) => f64::NAN,
    }
}

#[cfg(target_family = "wasm")]
#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        inline: "package domesday:measured; world trees { export score: func(row: list<f64>) -> f64; }",
    });

    struct Trees;
    impl Guest for Trees {
        fn score(row: Vec<f64>) -> f64 {
            super::score(&row)
        }
    }
    export!(Trees);
}

#[cfg(target_family = "wasm")]
#[allow(unsafe_code)]
mod heap {
    use std::mem::MaybeUninit;
    use talc::wasm::{WasmArenaTalc, new_wasm_arena_allocator};

    static mut ARENA: [MaybeUninit<u8>; 1 << 20] = [MaybeUninit::uninit(); 1 << 20];

    #[global_allocator]
    // SAFETY: nothing else names the arena, and a guest has one thread.
    static HEAP: WasmArenaTalc = unsafe { new_wasm_arena_allocator(&raw mut ARENA) };
}
