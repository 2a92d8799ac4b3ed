//! Work that takes the host's time without taking fuel.

use super::{Guest, estimate};
use crate::common::{Nothing, subject};
use domesday_engine::config::Allocation;
use domesday_engine::outcome::RowFailure;
use domesday_engine::{Limits, Runtime};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One instruction that writes a whole memory costs as much fuel as any other; the clock ends it.
#[test]
fn instructions_that_do_much_end_by_the_clock() {
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
            let limits = Limits {
                deadline: Duration::from_millis(200),
                ..Limits::new(200_000_000, 4 << 20)
            };
            let row = |component: &[u8]| {
                let release = runtime.admit(component, limits).unwrap();
                release.value(&Arc::new(subject(3)), Arc::new(Nothing))
            };
            let begun = Instant::now();
            let failure = row(&component).outcome.unwrap_err();
            assert_eq!(failure, RowFailure::OutOfTime);
            assert!(begun.elapsed() < Duration::from_secs(5));
            assert_eq!(
                estimate(&row(&Guest::default().component())),
                super::ESTIMATE
            );
        }
    }
}
