//! Guests of the second profile that ask WASI for capabilities that no release may have, each by
//! hand. They get a clock that stands, the same numbers for every row, and nothing of the machine.

mod guest;
mod streams;

use super::common::subject;
use domesday_engine::config::Allocation;
use domesday_engine::outcome::RowFailure;
use domesday_engine::{AdmissionError, Limits, Profile, Runtime};
use guest::{FUEL, MEMORY, failure, guest, guest_importing, run_guest};
use std::time::{Duration, Instant};

#[test]
fn clocks_stand_at_the_start_of_the_valuation_day() {
    assert_eq!(run_guest("(call $monotonic)"), 0);
    assert_eq!(run_guest("(call $tick)"), 1);
    let seconds =
        run_guest("(block (result i64) (call $wall (i32.const 64)) (i64.load (i32.const 64)))");
    let day = i64::from(subject(3).valuation_day.0);
    assert_eq!(i64::try_from(seconds).unwrap(), day * 86_400);
}

#[test]
fn a_sleep_ends_at_once() {
    let begun = Instant::now();
    // Forty seconds, in each of three rows.
    let body =
        "(block (result i64) (call $block (call $sleep (i64.const 40000000000))) (i64.const 7))";
    assert_eq!(run_guest(body), 7);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn random_numbers_are_the_same_for_every_row() {
    let narrow = |call: &str| format!("(i64.and {call} (i64.const 0xffffff))");
    for call in ["random", "careless"] {
        let number = run_guest(&narrow(&format!("(call ${call})")));
        assert_ne!(number, 0, "{call}");
    }
    let seed = "(block (result i64) (call $seed (i32.const 64)) (i64.load (i32.const 64)))";
    assert_eq!(run_guest(&narrow(seed)), 0x646f_6d65_7364_6179 & 0xff_ffff);
}

#[test]
fn no_row_makes_the_host_draw_without_end() {
    let drawn = |bytes: u32| {
        format!(
            "(block (result i64) (call $bytes (i64.const {bytes}) (i32.const 64)) (i64.const 7))"
        )
    };
    assert_eq!(run_guest(&drawn(64 << 10)), 7);
    let failed = failure(&drawn((64 << 10) + 1));
    assert!(
        matches!(failed, RowFailure::InvalidOutcome { .. }),
        "{failed:?}"
    );
}

#[test]
fn there_are_no_files_no_arguments_and_no_environment() {
    for list in ["environment", "arguments", "directories"] {
        let count = format!(
            "(block (result i64) (i64.store (i32.const 64) (i64.const -1)) (call ${list} (i32.const 64)) (i64.extend_i32_u (i32.load (i32.const 68))))"
        );
        assert_eq!(run_guest(&count), 0, "{list}");
    }
}

#[test]
fn sockets_are_denied_and_no_name_is_looked_up() {
    // The result's case, an error (1), and which of the errors.
    let decoded = "(i64.extend_i32_u (i32.add (i32.shl (i32.load8_u (i32.const 64)) (i32.const 8)) (i32.load8_u (i32.const 68))))";
    for socket in ["tcp", "udp"] {
        let asked =
            format!("(block (result i64) (call ${socket} (i32.const 0) (i32.const 64)) {decoded})");
        // The second of them: access denied.
        assert_eq!(run_guest(&asked), 0x101, "{socket}");
    }
    // An address is a name that needs no network to be looked up.
    let asked = format!(
        "(block (result i64) (call $resolve (call $network) (i32.const 528) (i32.const 9) (i32.const 64)) {decoded})"
    );
    // The last of them: a failure of the resolver that stays.
    assert_eq!(run_guest(&asked), 0x114);
}

#[test]
fn a_program_that_ends_itself_has_failed_its_row() {
    let failed = failure("(block (result i64) (call $exit (i32.const 1)) (i64.const 7))");
    assert!(
        matches!(&failed, RowFailure::Trapped { trap } if trap.contains("ended its own program")),
        "{failed:?}"
    );
}

#[test]
fn handles_are_bounded() {
    let opened = |count: u32| {
        format!(
            "(block (result i64)
                (loop $again
                    (drop (call $stdout))
                    (i32.store (i32.const 64) (i32.add (i32.load (i32.const 64)) (i32.const 1)))
                    (br_if $again (i32.lt_u (i32.load (i32.const 64)) (i32.const {count}))))
                (i64.const 7))"
        )
    };
    assert_eq!(run_guest(&opened(256)), 7);
    for count in [257, u32::MAX] {
        let failed = failure(&opened(count));
        let expected = RowFailure::LimitReached {
            what: "handles of WASI".to_owned(),
            limit: 256,
        };
        assert_eq!(failed, expected, "{count}");
    }
}

#[test]
fn imports_outside_the_profile_are_refused_and_a_pure_release_has_none() {
    let limits = Limits::new(FUEL, MEMORY);
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let refused = |profile, component: &[u8]| match runtime.admit_as(profile, component, limits) {
        Err(AdmissionError::ForbiddenImport { name, .. }) => name,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was admitted"),
    };
    let http = r#"(import "wasi:http/outgoing-handler@0.2.0" "handle" (func $handle))"#;
    let calling = guest_importing("(block (result i64) (call $handle) (i64.const 7))", http);
    assert_eq!(
        refused(Profile::Wasi, &calling),
        "wasi:http/outgoing-handler@0.2.0"
    );
    let asking = guest("(call $random)");
    assert_eq!(refused(Profile::Pure, &asking), "wasi:random/random@0.2.0");
    for name in [
        "wasi:random/random@0.3.0",
        "wasi:random/random",
        "wasi:cli/run@0.2.0",
    ] {
        let text = format!(
            r#"(component (import "{name}" (instance (export "now" (func (result u64))))))"#
        );
        if let Ok(component) = wat::parse_str(text) {
            assert_eq!(refused(Profile::Wasi, &component), name);
        }
    }
}
