//! The linker of the second profile.

use crate::row_state::RowState;
use wasmtime::component::{HasData, Linker, Resource};
use wasmtime_wasi::clocks::{WasiClocksCtxView, WasiClocksView};
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::{WasiCtxView, WasiView};

/// A monotonic clock whose sleeps end at once.
///
/// The library's own would hold a worker for as long as the guest says, and no deadline reaches a
/// call of the host.
struct NoSleep;

impl HasData for NoSleep {
    type Data<'a> = NoSleepClock<'a>;
}

struct NoSleepClock<'a>(WasiClocksCtxView<'a>);

impl monotonic_clock::Host for NoSleepClock<'_> {
    fn now(&mut self) -> wasmtime::Result<u64> {
        monotonic_clock::Host::now(&mut self.0)
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        monotonic_clock::Host::resolution(&mut self.0)
    }

    fn subscribe_instant(&mut self, _when: u64) -> wasmtime::Result<Resource<DynPollable>> {
        monotonic_clock::Host::subscribe_duration(&mut self.0, 0)
    }

    fn subscribe_duration(&mut self, _time: u64) -> wasmtime::Result<Resource<DynPollable>> {
        monotonic_clock::Host::subscribe_duration(&mut self.0, 0)
    }
}

impl WasiView for RowState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.wasi().view()
    }
}

/// Adds the profile's interfaces to a linker. Calls stay synchronous.
pub(crate) fn add_to_linker(linker: &mut Linker<RowState>) -> wasmtime::Result<()> {
    wasmtime_wasi::p2::add_to_linker_sync(linker)?;
    linker.allow_shadowing(true);
    monotonic_clock::add_to_linker::<RowState, NoSleep>(linker, |state| {
        NoSleepClock(state.clocks())
    })?;
    linker.allow_shadowing(false);
    Ok(())
}
