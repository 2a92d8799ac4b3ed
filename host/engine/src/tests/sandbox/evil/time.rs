//! Work that takes much of the host's time in one instruction.

use super::{Guest, estimate};
use crate::tests::sandbox::common::{Nothing, subject};
use domesday_engine::config::Allocation;
use domesday_engine::outcome::RowFailure;
use domesday_engine::{Limits, Runtime};
use std::sync::Arc;

/// The fuel of a row of the demo.
const FUEL_OF_A_ROW: u64 = 50_000_000;

/// An instruction that writes a whole memory costs fuel by the bytes that it writes.
#[test]
fn instructions_that_do_much_cost_much() {
    for bulk in [
        "(memory.fill (i32.const 65536) (i32.const 1) (i32.const 2000000))",
        "(memory.copy (i32.const 65536) (i32.const 65552) (i32.const 1900000))",
    ] {
        let guest = Guest {
            value: format!("(drop (memory.grow (i32.const 31))) (loop {bulk} (br 0)) unreachable")
                .leak(),
            ..Guest::default()
        };
        let component = guest.component();
        for allocation in [Allocation::Pooling { instances: 1 }, Allocation::OnDemand] {
            let runtime = Runtime::new(allocation).unwrap();
            let limits = Limits::new(FUEL_OF_A_ROW, 4 << 20);
            let row = |component: &[u8]| {
                let release = runtime.admit(component, limits).unwrap();
                release.value(&Arc::new(subject(3)), Arc::new(Nothing))
            };
            let failure = row(&component).outcome.unwrap_err();
            assert_eq!(
                failure,
                RowFailure::FuelSpent {
                    fuel: FUEL_OF_A_ROW
                }
            );
            assert_eq!(
                estimate(&row(&Guest::default().component())),
                super::ESTIMATE
            );
        }
    }
}

/// Each of the thousand turns costs a few units.
#[test]
fn a_row_costs_the_fuel_that_it_spent() {
    let guest = Guest {
        value: "(loop (global.set $turns (i32.add (global.get $turns) (i32.const 1)))
                    (br_if 0 (i32.lt_u (global.get $turns) (i32.const 1000))))
                (i32.const 1024)",
        ..Guest::default()
    };
    for row in guest.rows() {
        let fuel = row.cost.fuel;
        assert!((1_000..100_000).contains(&fuel), "{fuel}");
    }
}
