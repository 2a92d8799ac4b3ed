//! Guests of the second profile that ask WASI for what no release may have, each by hand: they get a clock that stands, numbers that are
//! the same for every row, and nothing of the machine.

use crate::common::{Nothing, subject};
use domesday_engine::component::encode;
use domesday_engine::config::Allocation;
use domesday_engine::outcome::{Outcome, Row, RowFailure};
use domesday_engine::{AdmissionError, Limits, Profile, Runtime};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

const FUEL: u64 = 20_000_000;
const MEMORY: u64 = 2 << 20;

/// As much of WASI as these guests ask for.
const WASI: &str = r#"
package test:guest;

world guest {
    import wasi:clocks/monotonic-clock@0.2.0;
    import wasi:clocks/wall-clock@0.2.0;
    import wasi:random/random@0.2.0;
    import wasi:random/insecure-seed@0.2.0;
    import wasi:cli/environment@0.2.0;
    import wasi:cli/exit@0.2.0;
    import wasi:cli/stdin@0.2.0;
    import wasi:cli/stdout@0.2.0;
    import wasi:io/streams@0.2.0;
    import wasi:filesystem/preopens@0.2.0;
    import wasi:sockets/tcp-create-socket@0.2.0;
    import wasi:http/outgoing-handler@0.2.0;
    import domesday:valuation/evidence@1.0.0;
    use domesday:valuation/types@1.0.0.{subject, outcome};
    export value: func(subject: subject) -> outcome;
}

package wasi:io@0.2.0 {
    interface error { resource error; }
    interface poll {
        resource pollable { block: func(); }
    }
    interface streams {
        use error.{error};
        variant stream-error { last-operation-failed(error), closed }
        resource input-stream {
            blocking-read: func(len: u64) -> result<list<u8>, stream-error>;
        }
        resource output-stream {
            blocking-write-and-flush: func(contents: list<u8>) -> result<_, stream-error>;
        }
    }
}

package wasi:clocks@0.2.0 {
    interface monotonic-clock {
        use wasi:io/poll@0.2.0.{pollable};
        now: func() -> u64;
        subscribe-duration: func(time: u64) -> pollable;
    }
    interface wall-clock {
        record datetime { seconds: u64, nanoseconds: u32 }
        now: func() -> datetime;
    }
}

package wasi:random@0.2.0 {
    interface random {
        get-random-u64: func() -> u64;
        get-random-bytes: func(len: u64) -> list<u8>;
    }
    interface insecure-seed { insecure-seed: func() -> tuple<u64, u64>; }
}

package wasi:cli@0.2.0 {
    interface environment {
        get-environment: func() -> list<tuple<string, string>>;
        get-arguments: func() -> list<string>;
    }
    interface exit { exit: func(status: result); }
    interface stdin {
        use wasi:io/streams@0.2.0.{input-stream};
        get-stdin: func() -> input-stream;
    }
    interface stdout {
        use wasi:io/streams@0.2.0.{output-stream};
        get-stdout: func() -> output-stream;
    }
}

package wasi:filesystem@0.2.0 {
    interface types { resource descriptor; }
    interface preopens {
        use types.{descriptor};
        get-directories: func() -> list<tuple<descriptor, string>>;
    }
}

package wasi:sockets@0.2.0 {
    interface network {
        enum error-code {
            unknown, access-denied, not-supported, invalid-argument, out-of-memory, timeout,
            concurrency-conflict, not-in-progress, would-block, invalid-state, new-socket-limit,
            address-not-bindable, address-in-use, remote-unreachable, connection-refused,
            connection-reset, connection-aborted, datagram-too-large, name-unresolvable,
            temporary-resolver-failure, permanent-resolver-failure
        }
        enum ip-address-family { ipv4, ipv6 }
    }
    interface tcp { resource tcp-socket; }
    interface tcp-create-socket {
        use network.{error-code, ip-address-family};
        use tcp.{tcp-socket};
        create-tcp-socket: func(address-family: ip-address-family) -> result<tcp-socket, error-code>;
    }
}

package wasi:http@0.2.0 {
    interface outgoing-handler { handle: func(); }
}
"#;

/// The imports that guests call, by a short name.
const IMPORTS: [(&str, &str); 14] = [
    (
        "monotonic",
        r#""wasi:clocks/monotonic-clock@0.2.0" "now" (func $monotonic (result i64))"#,
    ),
    (
        "sleep",
        r#""wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $sleep (param i64) (result i32))"#,
    ),
    (
        "block",
        r#""wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32))"#,
    ),
    (
        "wall",
        r#""wasi:clocks/wall-clock@0.2.0" "now" (func $wall (param i32))"#,
    ),
    (
        "random",
        r#""wasi:random/random@0.2.0" "get-random-u64" (func $random (result i64))"#,
    ),
    (
        "bytes",
        r#""wasi:random/random@0.2.0" "get-random-bytes" (func $bytes (param i64 i32))"#,
    ),
    (
        "seed",
        r#""wasi:random/insecure-seed@0.2.0" "insecure-seed" (func $seed (param i32))"#,
    ),
    (
        "environment",
        r#""wasi:cli/environment@0.2.0" "get-environment" (func $environment (param i32))"#,
    ),
    (
        "arguments",
        r#""wasi:cli/environment@0.2.0" "get-arguments" (func $arguments (param i32))"#,
    ),
    (
        "exit",
        r#""wasi:cli/exit@0.2.0" "exit" (func $exit (param i32))"#,
    ),
    (
        "stdin",
        r#""wasi:cli/stdin@0.2.0" "get-stdin" (func $stdin (result i32))"#,
    ),
    (
        "read",
        r#""wasi:io/streams@0.2.0" "[method]input-stream.blocking-read" (func $read (param i32 i64 i32))"#,
    ),
    (
        "directories",
        r#""wasi:filesystem/preopens@0.2.0" "get-directories" (func $directories (param i32))"#,
    ),
    (
        "socket",
        r#""wasi:sockets/tcp-create-socket@0.2.0" "create-tcp-socket" (func $socket (param i32 i32))"#,
    ),
];

/// A guest whose estimate is one more than what `body` leaves on the stack: a whole number as i64.
fn guest(body: &str) -> Vec<u8> {
    guest_importing(body, "")
}

fn guest_importing(body: &str, more: &str) -> Vec<u8> {
    let called = |name: &str| body.contains(&format!("(call ${name}"));
    let imports: String = IMPORTS
        .iter()
        .filter(|(name, _)| called(name))
        .map(|(_, import)| format!("(import {import})\n"))
        .collect();
    let text = format!(
        r#"(module
  {imports} {more}
  (memory (export "memory") 1)
  (global $top (mut i32) (i32.const 16384))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (global.get $top)
    (global.set $top (i32.add (global.get $top) (i32.and (i32.add (local.get 3) (i32.const 15)) (i32.const -16)))))
  (func (export "value") (param i32) (result i32)
    (f64.store (i32.const 1032) (f64.add (f64.const 1) (f64.convert_i64_u {body})))
    (f64.store (i32.const 1064) (f64.const 0.5))
    (i32.const 1024)))"#
    );
    let mut module = wat::parse_str(text).unwrap();
    let mut resolve = Resolve::default();
    let wit = include_str!("../../../../wit/valuation.wit");
    resolve.push_str("valuation.wit", wit).unwrap();
    let package = resolve.push_str("guest.wit", WASI).unwrap();
    let world = resolve.select_world(&[package], Some("guest")).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    encode(&module).unwrap()
}

fn row(component: &[u8], allocation: Allocation) -> Row {
    let runtime = Runtime::new(allocation).unwrap();
    let release = runtime
        .admit_as(Profile::Wasi, component, Limits::new(FUEL, MEMORY))
        .unwrap_or_else(|refusal| panic!("{refusal}"));
    release.value(&Arc::new(subject(3)), Arc::new(Nothing))
}

/// What the guest found, which is the same on both allocators and in the next row.
#[track_caller]
fn found(body: &str) -> u64 {
    let component = guest(body);
    let answers = [
        Allocation::Pooling { instances: 4 },
        Allocation::OnDemand,
        Allocation::OnDemand,
    ]
    .map(|allocation| match row(&component, allocation).outcome {
        Ok(Outcome::Valued(valuation)) => valuation.estimate as u64 - 1,
        other => panic!("{other:?}"),
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[1], answers[2]);
    answers[0]
}

#[track_caller]
fn failure(body: &str) -> RowFailure {
    row(&guest(body), Allocation::OnDemand).outcome.unwrap_err()
}

#[test]
fn clocks_stand_at_the_start_of_the_valuation_day() {
    assert_eq!(found("(call $monotonic)"), 0);
    let seconds =
        found("(block (result i64) (call $wall (i32.const 64)) (i64.load (i32.const 64)))");
    let day = i64::from(subject(3).valuation_day.0);
    assert_eq!(i64::try_from(seconds).unwrap(), day * 86_400);
}

#[test]
fn a_sleep_of_an_hour_ends_at_once() {
    let begun = Instant::now();
    let body =
        "(block (result i64) (call $block (call $sleep (i64.const 3600000000000))) (i64.const 7))";
    assert_eq!(found(body), 7);
    // Three rows, and compiling them.
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn random_numbers_are_the_same_for_every_row() {
    let narrow = |call: &str| format!("(i64.and {call} (i64.const 0xffffff))");
    let random = found(&narrow("(call $random)"));
    assert_ne!(random, 0);
    let seed = "(block (result i64) (call $seed (i32.const 64)) (i64.load (i32.const 64)))";
    assert_eq!(found(&narrow(seed)), 0x646f_6d65_7364_6179 & 0xff_ffff);
    // No row makes the host draw without end.
    let much =
        "(block (result i64) (call $bytes (i64.const 1000000) (i32.const 64)) (i64.const 7))";
    assert!(matches!(failure(much), RowFailure::InvalidOutcome { .. }));
}

#[test]
fn there_are_no_files_no_environment_and_nothing_to_read() {
    for list in ["environment", "arguments", "directories"] {
        let count = format!(
            "(block (result i64) (i64.store (i32.const 64) (i64.const -1)) (call ${list} (i32.const 64)) (i64.extend_i32_u (i32.load (i32.const 68))))"
        );
        assert_eq!(found(&count), 0, "{list}");
    }
    // A result's case: 1 is an error, and its own case 1 says that the stream is closed.
    let read = "(block (result i64) (call $read (call $stdin) (i64.const 10) (i32.const 64)) (i64.extend_i32_u (i32.load8_u (i32.const 64))))";
    assert_eq!(found(read), 1);
}

#[test]
fn a_socket_is_denied() {
    let socket = "(block (result i64) (call $socket (i32.const 0) (i32.const 64)) (i64.extend_i32_u (i32.add (i32.shl (i32.load8_u (i32.const 64)) (i32.const 8)) (i32.load8_u (i32.const 68)))))";
    // An error (1), and of the errors the second: access denied.
    assert_eq!(found(socket), 0x101);
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
fn handles_without_end_fail_the_row() {
    let many = "(block (result i64) (loop $again (drop (call $sleep (i64.const 1))) (br $again)) (i64.const 7))";
    let failed = failure(many);
    assert!(
        matches!(failed, RowFailure::InvalidOutcome { .. }),
        "{failed:?}"
    );
}

#[test]
fn what_the_profile_does_not_name_is_refused_and_a_pure_release_has_none_of_it() {
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
