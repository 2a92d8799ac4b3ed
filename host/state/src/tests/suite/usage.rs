//! Units.

use std::sync::Arc;

use crate::test_support::{REQUEST, read_ledger};
use domesday_state::*;

use super::{JUNE, Store, id, used_units, wait, with_tenant};

fn charge(state: &impl Usage, tenant: &str, units: u32, allowance: u64) -> ChargeOutcome {
    wait(state.charge(Charge {
        tenant: id(tenant),
        month: JUNE,
        units,
        allowance,
        source: REQUEST,
    }))
}

pub(crate) fn charges_add_up_to_the_allowance<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    assert_eq!(used_units(&state, "acme"), 0);
    assert_eq!(
        charge(&state, "acme", 7, 10),
        ChargeOutcome::Granted { used: 7 }
    );
    // All units or none.
    assert_eq!(
        charge(&state, "acme", 4, 10),
        ChargeOutcome::Exhausted { used: 7 }
    );
    assert_eq!(used_units(&state, "acme"), 7);
    assert_eq!(
        charge(&state, "acme", 3, 10),
        ChargeOutcome::Granted { used: 10 }
    );
    assert_eq!(
        charge(&state, "acme", 1, 10),
        ChargeOutcome::Exhausted { used: 10 }
    );
    // A plan smaller than the units used, and one without bounds.
    assert_eq!(
        charge(&state, "acme", 1, 5),
        ChargeOutcome::Exhausted { used: 10 }
    );
    let all = u64::from(u32::MAX);
    let sum = charge(&state, "acme", u32::MAX, u64::MAX);
    assert_eq!(sum, ChargeOutcome::Granted { used: 10 + all });
    assert_eq!(used_units(&state, "acme"), 10 + all);
}

pub(crate) fn no_units_are_always_granted<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    assert_eq!(
        charge(&state, "acme", 0, 0),
        ChargeOutcome::Granted { used: 0 }
    );
    assert_eq!(
        charge(&state, "acme", 3, 3),
        ChargeOutcome::Granted { used: 3 }
    );
    assert_eq!(
        charge(&state, "acme", 0, 1),
        ChargeOutcome::Granted { used: 3 }
    );
}

pub(crate) fn months_and_tenants_are_apart<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let other = id("other");
    state
        .create_tenant(&other, &Plan::default(), super::NOW)
        .unwrap();
    assert_eq!(
        charge(&state, "acme", 5, 5),
        ChargeOutcome::Granted { used: 5 }
    );
    assert_eq!(
        charge(&state, "other", 5, 5),
        ChargeOutcome::Granted { used: 5 }
    );
    for month in [
        Month {
            year: 2031,
            month: 7,
        },
        Month {
            year: 2030,
            month: 6,
        },
    ] {
        assert_eq!(wait(state.used_units(id("acme"), month)), 0, "{month}");
        let charge = Charge {
            tenant: id("acme"),
            month,
            units: 2,
            allowance: 5,
            source: REQUEST,
        };
        assert_eq!(
            wait(state.charge(charge)),
            ChargeOutcome::Granted { used: 2 }
        );
    }
    assert_eq!(
        charge(&state, "acme", 1, 5),
        ChargeOutcome::Exhausted { used: 5 }
    );
}

pub(crate) fn a_refund_never_goes_below_nothing<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    wait(state.refund(id("acme"), JUNE, 3, REQUEST));
    assert_eq!(used_units(&state, "acme"), 0);
    charge(&state, "acme", 5, 10);
    wait(state.refund(id("acme"), JUNE, 2, REQUEST));
    assert_eq!(used_units(&state, "acme"), 3);
    wait(state.refund(id("acme"), JUNE, 0, REQUEST));
    wait(state.refund(id("acme"), JUNE, 4, REQUEST));
    assert_eq!(used_units(&state, "acme"), 0);
    // Refunded units can be used again, and no more than those.
    assert_eq!(
        charge(&state, "acme", 10, 10),
        ChargeOutcome::Granted { used: 10 }
    );
    assert_eq!(
        charge(&state, "acme", 1, 10),
        ChargeOutcome::Exhausted { used: 10 }
    );
}

/// Charges of one to three units from many threads, over two handles. Every grant is within the
/// allowance, and their sum is the usage. One unit more is always refused.
pub(crate) fn sixty_four_threads_use_exactly_the_allowance<S: Store>() {
    const ALLOWANCE: u64 = 500;
    let (store, state) = with_tenant::<S>();
    let state = Arc::new(state);
    let second = store.second(&state);
    let granted: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..64_u32)
            .map(|thread| {
                let state = if thread % 2 == 0 { &state } else { &second };
                scope.spawn(move || {
                    let mut granted = 0;
                    for round in 0..8 {
                        let units = (thread + round) % 3 + 1;
                        match charge(&**state, "acme", units, ALLOWANCE) {
                            ChargeOutcome::Granted { used } => {
                                assert!(used <= ALLOWANCE);
                                granted += u64::from(units);
                            }
                            ChargeOutcome::Exhausted { used } => {
                                assert!(used + u64::from(units) > ALLOWANCE);
                            }
                        }
                    }
                    granted
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(used_units(&*state, "acme"), granted);
    assert!(granted + 3 > ALLOWANCE, "{granted} of {ALLOWANCE}");
    let rest = u32::try_from(ALLOWANCE - granted).unwrap();
    assert!(matches!(
        charge(&*second, "acme", rest + 1, ALLOWANCE),
        ChargeOutcome::Exhausted { .. }
    ));
    assert!(matches!(
        charge(&*second, "acme", rest, ALLOWANCE),
        ChargeOutcome::Granted { used: ALLOWANCE }
    ));
}

/// An entry for each change, by tenant and in the order of the changes. A refund has the units that
/// were really taken off.
pub(crate) fn the_ledger_has_an_entry_for_each_change<S: Store>() {
    let (store, state) = with_tenant::<S>();
    let source = |number: u128| UsageSource {
        kind: UsageKind::Batch,
        id: uuid::Uuid::from_u128(number),
        at: super::after(i64::try_from(number).unwrap()),
    };
    let charge = |tenant: &str, number: u128, units: u32| {
        wait(state.charge(Charge {
            tenant: id(tenant),
            month: JUNE,
            units,
            allowance: 20,
            source: source(number),
        }));
    };
    charge("zed", 1, 4);
    charge("acme", 2, 5);
    charge("acme", 3, 100);
    charge("acme", 4, 0);
    wait(state.refund(id("acme"), JUNE, 2, source(2)));
    wait(state.refund(id("acme"), JUNE, 9, source(5)));
    wait(state.refund(id("acme"), JUNE, 9, source(6)));
    charge("acme", 7, 1);
    let expected = [(2, 5), (2, -2), (5, -3), (7, 1)].map(|(number, units)| UsageEntry {
        tenant: id("acme"),
        month: JUNE,
        source: source(number),
        units,
    });
    assert_eq!(read_ledger(&state, &id("acme"), JUNE), expected);
    drop(state);
    let state = store.open();
    assert_eq!(read_ledger(&state, &id("acme"), JUNE), expected);
    let all = UsageQuery {
        month: JUNE,
        tenant: None,
        after: None,
        limit: 5,
    };
    let page = wait(state.usage_entries(all.clone()));
    assert_eq!(page.entries[..4], expected);
    assert_eq!(
        (&page.entries[4].tenant, page.entries[4].units),
        (&id("zed"), 4)
    );
    let after = page.next;
    assert_eq!(
        wait(state.usage_entries(UsageQuery { after, ..all })),
        UsagePage::default()
    );
}

/// The counts stay where the entries of a month are removed.
pub(crate) fn entries_of_earlier_months_are_removed<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    let months = [JUNE.minus(13), JUNE.minus(1), JUNE];
    for month in months {
        let charge = Charge {
            tenant: id("acme"),
            month,
            units: 2,
            allowance: 5,
            source: REQUEST,
        };
        wait(state.charge(charge));
    }
    // A pause writes every entry from the log to the store.
    state.pause_jobs(true).unwrap();
    let remove = |before, rows| {
        let removed = RemovedEntries { rows, more: false };
        assert_eq!(wait(state.remove_usage_entries(before)), removed);
    };
    remove(JUNE.minus(13), 0);
    remove(JUNE, 2);
    remove(JUNE, 0);
    for month in months {
        assert_eq!(wait(state.used_units(id("acme"), month)), 2);
        let query = UsageQuery {
            month,
            tenant: None,
            after: None,
            limit: 9,
        };
        let page = wait(state.usage_entries(query));
        assert_eq!(page.entries.len(), usize::from(month == JUNE));
    }
}

/// Retention counts the months that hold entries, so that no clock alone empties the ledger.
pub(crate) fn months_with_entries_are_listed_latest_first<S: Store>() {
    let (_store, state) = with_tenant::<S>();
    assert_eq!(wait(state.usage_months(9)), []);
    let months = [JUNE.minus(13), JUNE, JUNE.minus(1)];
    for month in months {
        for _ in 0..2 {
            let charge = Charge {
                tenant: id("acme"),
                month,
                units: 1,
                allowance: 5,
                source: REQUEST,
            };
            wait(state.charge(charge));
        }
    }
    // A pause writes every entry from the log to the store.
    state.pause_jobs(true).unwrap();
    assert_eq!(
        wait(state.usage_months(9)),
        [JUNE, JUNE.minus(1), JUNE.minus(13)]
    );
    assert_eq!(wait(state.usage_months(2)), [JUNE, JUNE.minus(1)]);
    assert_eq!(wait(state.usage_months(0)), []);
    wait(state.remove_usage_entries(JUNE));
    assert_eq!(wait(state.usage_months(9)), [JUNE]);
}

pub(crate) fn units_survive_a_restart<S: Store>() {
    let (store, state) = with_tenant::<S>();
    charge(&state, "acme", 5, 10);
    // A reply that nobody waits for is done all the same.
    drop(state.charge(Charge {
        tenant: id("acme"),
        month: JUNE,
        units: 2,
        allowance: 10,
        source: REQUEST,
    }));
    assert_eq!(
        charge(&state, "acme", 1, 10),
        ChargeOutcome::Granted { used: 8 }
    );
    drop(state);
    assert_eq!(used_units(&store.open(), "acme"), 8);
}
