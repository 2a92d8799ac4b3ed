//! Instances that are set back after a row, and serve the next one.
//!
//! To make an instance takes longer than to set one back. No row can tell the difference: memory
//! and globals are those of a new instance, and nothing else of it can have changed ([`state`]). A
//! row that failed, or grew its memory, ends its instance.
//!
//! A component is changed for this before it is compiled ([`rewrite`]). One that cannot be set back
//! is left as it is, and has a new instance for each row.

mod idle;
mod image;
mod memory_access;
mod page_map;
mod pages;
mod rewrite;
mod state;
#[cfg(test)]
mod tests;
mod write_tracking;

use crate::admission::validate;
use crate::config::MAX_MEMORY_BYTES;
use crate::row_state::RowState;
use crate::v1::{EntryPoint, Value};
use idle::{IdleInstances, ReleaseKey};
use image::MemoryImage;
use memory_access::MemoryAccess;
use page_map::{PageMap, WrittenPages};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, Instance, TypedFunc};
use write_tracking::WriteTracking;

/// Rows of one instance. The next one is new, so that nothing can add up in the sandbox's own
/// structures.
const MAX_ROWS: u32 = 10_000;
/// Rows of an instance after which its writes are tracked. To begin takes as long as some dozens of
/// resets save, and makes the next instance in its slot dearer.
const TRACKED_FROM: u32 = 64;
/// Fuel to set the globals of one module.
const RESET_FUEL: u64 = 1_000_000;
/// Ticks of the epoch that a reset may take.
const RESET_TICKS: u64 = 1_000;
/// The largest memory at the start that is copied to set others back, bytes.
const MAX_IMAGE_BYTES: usize = MAX_MEMORY_BYTES / 4;

/// The idle instances of all releases on one engine.
pub(crate) struct KeptInstances {
    page_map: PageMap,
    /// None where the kernel has only the map.
    tracking: Option<WriteTracking>,
    tracked_from: u32,
    idle: IdleInstances<KeptInstance>,
}

impl KeptInstances {
    /// Returns a store of at most `most` idle instances. None where the kernel does not tell which
    /// pages were written.
    pub(crate) fn new(most: usize) -> Option<KeptInstances> {
        let page_map = PageMap::open()?;
        Some(KeptInstances {
            tracking: WriteTracking::open(&page_map),
            page_map,
            tracked_from: TRACKED_FROM,
            idle: IdleInstances::new(most),
        })
    }

    /// Reports whether the kernel tracks writes.
    pub(crate) fn tracks_writes(&self) -> bool {
        self.tracking.is_some()
    }

    /// Returns the written pages of a memory. None as [`PageMap::written_pages`].
    fn written_pages(&self, memory: &[u8], is_tracked: bool) -> Option<Vec<WrittenPages>> {
        if is_tracked {
            self.page_map.tracked_pages(memory)
        } else {
            self.page_map.written_pages(memory)
        }
    }

    /// Tracks the writes to a memory. False where the kernel does not.
    fn track(&self, memory: &mut [u8]) -> bool {
        let Some(tracking) = &self.tracking else {
            return false;
        };
        match tracking.begin(memory) {
            Ok(()) => true,
            Err(error) => {
                tracing::debug!(%error, "the kernel does not track the writes to a memory");
                false
            }
        }
    }
}

/// Adds what sets an instance back to a valid component. None where one cannot be set back.
pub(crate) fn resettable(component: &[u8]) -> Option<Vec<u8>> {
    let types = validate(component).ok()?;
    let module = state::resettable_module(component, types.as_ref())?;
    rewrite::with_reset(component, types.as_ref(), &module)
}

/// An instance with its store, and what it was like before its first row.
pub(crate) struct KeptInstance {
    pub(crate) store: Store<RowState>,
    pub(crate) value: Value<'static>,
    reset: TypedFunc<(MemoryAccess<'static>,), ()>,
    /// Fuel that it took to make it.
    fuel: u64,
    /// Linear memory, bytes.
    memory: usize,
    /// True where the kernel tracks the writes to its memory.
    is_tracked: bool,
    rows: u32,
}

impl KeptInstance {
    /// Begins a row. Its fuel and its memory count as if the instance were made for it.
    ///
    /// # Errors
    /// The engine counts no fuel.
    pub(crate) fn begin(&mut self, mut state: RowState, fuel: u64) -> wasmtime::Result<()> {
        state.memory_peak = self.memory;
        *self.store.data_mut() = state;
        self.store.set_fuel(fuel.saturating_sub(self.fuel))
    }
}

/// The instances of one release.
pub(crate) struct ReleaseInstances {
    all: Arc<KeptInstances>,
    key: ReleaseKey,
    reset: ComponentExportIndex,
    /// The memory of a new instance. None where it is too large.
    image: OnceLock<Option<MemoryImage>>,
    /// Held by the one that copies the memory.
    copying: Mutex<()>,
}

impl ReleaseInstances {
    /// Returns the instances of a release whose component was changed by [`resettable`].
    pub(crate) fn new(all: &Arc<KeptInstances>, entry: &EntryPoint) -> Option<ReleaseInstances> {
        let reset = entry.component().get_export_index(None, state::RESET)?;
        Some(ReleaseInstances {
            all: all.clone(),
            key: all.idle.add_release(),
            reset,
            image: OnceLock::new(),
            copying: Mutex::new(()),
        })
    }

    /// Takes an idle instance, which is as a new one.
    pub(crate) fn take(&self) -> Option<KeptInstance> {
        self.all.idle.take(self.key)
    }

    /// Notes what a new instance is like. `fuel` is what its store had before it was made.
    ///
    /// The instance whose memory was copied serves one row. The copy maps each of its pages, which
    /// every later look at the written ones would pass over.
    ///
    /// # Errors
    /// The row's time is over, or the host cannot reach the memory.
    pub(crate) fn prepare(
        &self,
        mut store: Store<RowState>,
        (instance, value): (Instance, Value<'static>),
        fuel: u64,
    ) -> Result<KeptInstance, (wasmtime::Error, Store<RowState>)> {
        match self.note_memory(&mut store, instance) {
            Ok((reset, left, was_copied)) => Ok(KeptInstance {
                memory: store.data().memory_peak,
                store,
                value,
                reset,
                fuel: fuel.saturating_sub(left),
                is_tracked: false,
                rows: if was_copied { MAX_ROWS } else { 0 },
            }),
            Err(error) => Err((error, store)),
        }
    }

    /// Returns the function that sets the instance back, and the fuel that its store has. True
    /// where the memory was copied, as that of the release's first instance is.
    fn note_memory(
        &self,
        store: &mut Store<RowState>,
        instance: Instance,
    ) -> wasmtime::Result<(TypedFunc<(MemoryAccess<'static>,), ()>, u64, bool)> {
        let reset = instance.get_typed_func(&mut *store, self.reset)?;
        let left = store.get_fuel()?;
        store.set_fuel(RESET_FUEL)?;
        let was_copied = AtomicBool::new(false);
        call(&reset, store, &|memory| {
            pages::keep_pages_small(memory);
            // One thread copies it. The instances of others cannot be set back meanwhile.
            if let Ok(_copying) = self.copying.try_lock() {
                self.image.get_or_init(|| {
                    was_copied.store(true, Ordering::Relaxed);
                    (memory.len() <= MAX_IMAGE_BYTES).then(|| MemoryImage::of(memory))
                });
            }
        })?;
        store.set_fuel(left)?;
        Ok((reset, left, was_copied.into_inner()))
    }

    /// Keeps an instance whose row did not fail, where it can be set back.
    pub(crate) fn keep(&self, mut instance: KeptInstance) {
        instance.rows += 1;
        if instance.rows < MAX_ROWS && self.set_back(&mut instance).is_some() {
            self.all.idle.add(self.key, instance);
        }
    }

    /// Makes the instance as a new one. None where that is not certain.
    fn set_back(&self, instance: &mut KeptInstance) -> Option<()> {
        let image = self.image.get()?.as_ref()?;
        let is_back = AtomicBool::new(false);
        let (was_tracked, begins) = (instance.is_tracked, instance.rows == self.all.tracked_from);
        let is_tracked = AtomicBool::new(was_tracked);
        instance.store.set_fuel(RESET_FUEL).ok()?;
        instance.store.set_epoch_deadline(RESET_TICKS);
        call(&instance.reset, &mut instance.store, &|memory| {
            if image.is_of_size(memory.len())
                && let Some(written) = self.all.written_pages(memory, was_tracked)
                && image.restore(memory, &written)
            {
                is_back.store(true, Ordering::Relaxed);
                if begins {
                    let part = image.part_to_track(memory);
                    is_tracked.store(self.all.track(part), Ordering::Relaxed);
                }
            }
        })
        .ok()?;
        instance.is_tracked = is_tracked.into_inner();
        is_back.into_inner().then_some(())
    }
}

impl Drop for ReleaseInstances {
    fn drop(&mut self) {
        // One after another, so that no more slots than one are neither idle nor free.
        while let Some(instance) = self.all.idle.take(self.key) {
            drop(instance);
        }
    }
}

/// Does work on the memory of an instance, and then sets its globals.
fn call(
    reset: &TypedFunc<(MemoryAccess<'_>,), ()>,
    store: &mut Store<RowState>,
    work: memory_access::Work<'_>,
) -> wasmtime::Result<()> {
    reset.call(store, (MemoryAccess(work),))
}
