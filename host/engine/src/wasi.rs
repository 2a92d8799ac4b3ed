//! The second profile: WASI for languages whose runtime needs one, with nothing behind it.
//!
//! The clocks stand at the start of the valuation day, and a sleep ends at once. Random numbers
//! come from one seed, the same for every row. There are no files, no network, no environment and
//! no arguments. Output on the standard streams is discarded, and input is empty. An answer still
//! depends on the subject and its evidence alone, to the bit on every machine. A guest that exits
//! has failed its row.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::time::Duration;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::clocks::{HostMonotonicClock, HostWallClock};
use wasmtime_wasi::{WasiCtx, WasiCtxView};

/// The imports of this profile besides the evidence, of any version 0.2.
const ALLOWED: [&str; 27] = [
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stderr",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stderr",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/preopens",
    "wasi:filesystem/types",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:random/random",
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
];
/// Handles that a row may have open at once: they are kept in the host's memory.
pub(crate) const MAX_HANDLES: usize = 256;
/// Random bytes of one call, which the host generates.
const MAX_RANDOM_BYTES: u64 = 64 << 10;
/// The seed of every row.
const SEED: u64 = 0x646f_6d65_7364_6179;
const SECONDS_OF_A_DAY: u64 = 86_400;

/// Returns whether a component of this profile may import `name`.
pub(crate) fn allows(name: &str) -> bool {
    name.split_once('@').is_some_and(|(interface, version)| {
        version.starts_with("0.2.") && ALLOWED.contains(&interface)
    })
}

/// The WASI state of one row. It is created on the first call: other rows do not pay for it.
pub(crate) struct Wasi {
    context: WasiCtx,
    table: ResourceTable,
}

impl Wasi {
    /// Creates the state for a valuation as at a day since 1970-01-01.
    pub(crate) fn new(day: i32) -> Wasi {
        let seconds = u64::from(day.unsigned_abs()) * u64::from(day >= 0) * SECONDS_OF_A_DAY;
        let mut context = WasiCtx::builder();
        context
            .wall_clock(FrozenClock(Duration::from_secs(seconds)))
            .monotonic_clock(FrozenClock(Duration::ZERO))
            .secure_random(ChaCha8Rng::seed_from_u64(SEED))
            .insecure_random(ChaCha8Rng::seed_from_u64(SEED))
            .insecure_random_seed(u128::from(SEED))
            .max_random_size(MAX_RANDOM_BYTES)
            .allow_tcp(false)
            .allow_udp(false)
            .allow_ip_name_lookup(false);
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        Wasi {
            context: context.build(),
            table,
        }
    }

    /// Returns the view that the interfaces take.
    pub(crate) fn view(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.context,
            table: &mut self.table,
        }
    }
}

/// A clock that stands still.
struct FrozenClock(Duration);

impl HostWallClock for FrozenClock {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        self.0
    }
}

impl HostMonotonicClock for FrozenClock {
    fn resolution(&self) -> u64 {
        1
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frozen_clock_stands_and_counts_nanoseconds() {
        let clock = FrozenClock(Duration::from_secs(3));
        assert_eq!(HostWallClock::now(&clock), Duration::from_secs(3));
        assert_eq!(HostWallClock::resolution(&clock), Duration::from_nanos(1));
        assert_eq!(HostMonotonicClock::now(&clock), 3_000_000_000);
        assert_eq!(HostMonotonicClock::resolution(&clock), 1);
    }
}
