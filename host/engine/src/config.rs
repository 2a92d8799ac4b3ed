//! The one engine configuration: server, command line and tests all take it from here.
//!
//! Every setting that can change an answer is set here alone. So a replay years later runs under
//! the rules of the valuation.

use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, OptLevel, PoolingAllocationConfig, WasmFeatures,
};

/// The allocator of instances. It never changes an answer, only its speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// Slots made ready beforehand: the choice of a server.
    Pooling {
        /// Instances that run at once. As many more may be idle, set back for the next row. One
        /// more is refused as a host failure.
        instances: u32,
    },
    /// Memory mapped for each instance: the choice of a single command, and the second
    /// configuration that a release is checked under.
    OnDemand,
}

/// The largest component, bytes.
pub const MAX_COMPONENT_BYTES: usize = 64 << 20;
/// wasmtime states memory in pages.
pub(crate) const PAGE_BYTES: u64 = 64 << 10;
/// The largest linear memory that any release may declare a need for, bytes.
pub const MAX_MEMORY_BYTES: usize = 256 << 20;
/// The largest table that any release may have, elements.
pub const MAX_TABLE_ELEMENTS: usize = 20_000;
/// Core instances, memories and tables in one component: a model needs one module, the
/// component's adapters a few more.
pub const MAX_CORE_INSTANCES: u32 = 16;
/// Linear memories in one component: a row's limit is then the limit of its one memory.
pub const MAX_MEMORIES: u32 = 1;
/// Tables in one component.
pub const MAX_TABLES: u32 = 8;
/// Globals in all modules of one component: they lie outside of linear memory and its limit.
pub const MAX_GLOBALS: u64 = 10_000;
/// Native stack for guest code, bytes; the worker threads have several times as much.
pub const MAX_STACK_BYTES: usize = 512 << 10;
/// Low memory of a slot that is written back by copying instead of unmapped. A release with a 128
/// KiB guest stack keeps its stack, constants and first heap pages there.
pub(crate) const KEEP_RESIDENT_BYTES: usize = 256 << 10;

/// The WebAssembly features that no release may use, here and in admission alike. Threads and
/// shared memories would let timing affect an answer. No release needs the rest, and a feature that
/// is off cannot be attacked.
pub const LEFT_OUT: WasmFeatures = WasmFeatures::THREADS
    .union(WasmFeatures::SHARED_EVERYTHING_THREADS)
    .union(WasmFeatures::MEMORY64)
    .union(WasmFeatures::MULTI_MEMORY)
    .union(WasmFeatures::CUSTOM_PAGE_SIZES)
    .union(WasmFeatures::EXCEPTIONS)
    .union(WasmFeatures::GC)
    .union(WasmFeatures::GC_TYPES)
    .union(WasmFeatures::FUNCTION_REFERENCES)
    .union(WasmFeatures::STACK_SWITCHING)
    .union(WasmFeatures::CM_ASYNC);

/// Returns the configuration of every engine that runs a release.
pub fn configuration(allocation: Allocation) -> Config {
    let mut config = Config::new();

    // Answers. NaN bits and relaxed SIMD are the only places where WebAssembly leaves the result to
    // the machine. Both are pinned, so a valuation is the same to the bit everywhere.
    config.cranelift_nan_canonicalization(true);
    config.relaxed_simd_deterministic(true);
    config.wasm_features(LEFT_OUT, false);
    // Fuel decides: a row that spends its release's fuel fails, at the same instruction on every
    // machine. Epochs protect: a deadline on the clock is a host failure, and may be tried again.
    config.consume_fuel(true);
    config.epoch_interruption(true);
    config.max_wasm_stack(MAX_STACK_BYTES);

    // Speed only.
    config.cranelift_opt_level(OptLevel::Speed);
    // A failed row is reported by its kind; the guest's frames would cost every trap a walk.
    config.wasm_backtrace_max_frames(None);
    // Data segments are mapped copy-on-write, so megabytes of weights start as fast as none.
    config.memory_init_cow(true);
    // 4 GiB of address space a memory, so that bounds checks are the page tables' work.
    config.memory_reservation(4 << 30);
    config.memory_guard_size(32 << 20);

    match allocation {
        Allocation::Pooling { instances } => {
            let mut pool = PoolingAllocationConfig::new();
            // Another is on its way out while a release goes.
            let slots = instances.saturating_mul(2).saturating_add(1);
            pool.total_component_instances(slots)
                .total_core_instances(slots.saturating_mul(MAX_CORE_INSTANCES))
                .total_memories(slots)
                .total_tables(slots.saturating_mul(MAX_TABLES))
                .max_core_instances_per_component(MAX_CORE_INSTANCES)
                .max_memories_per_component(MAX_MEMORIES)
                .max_tables_per_component(MAX_TABLES)
                .max_tables_per_module(MAX_TABLES)
                .max_memory_size(MAX_MEMORY_BYTES)
                .table_elements(MAX_TABLE_ELEMENTS)
                .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
                .table_keep_resident(KEEP_RESIDENT_BYTES)
                // A release's next row finds its slot with its own image still mapped.
                .max_unused_warm_slots(instances)
                // wasmtime's scan passes over a written page that the kernel has swapped out, and
                // the next row would read it (wasmtime's pull request 14357).
                .pagemap_scan(Enabled::No);
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        }
        Allocation::OnDemand => {
            config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
        }
    }
    config
}
