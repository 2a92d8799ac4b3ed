//! Guests of the second profile by hand: as much of WASI as they ask for, and how they are run.

use crate::tests::sandbox::common::{Nothing, subject};
use domesday_engine::component::encode;
use domesday_engine::config::Allocation;
use domesday_engine::outcome::{Outcome, Row, RowFailure};
use domesday_engine::{Limits, Profile, Runtime};
use std::sync::Arc;
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

pub const FUEL: u64 = 20_000_000;
pub const MEMORY: u64 = 2 << 20;

/// The part of WASI that these guests import.
const WASI: &str = r#"
package test:guest;

world guest {
    import wasi:clocks/monotonic-clock@0.2.0;
    import wasi:clocks/wall-clock@0.2.0;
    import wasi:random/random@0.2.0;
    import wasi:random/insecure@0.2.0;
    import wasi:random/insecure-seed@0.2.0;
    import wasi:cli/environment@0.2.0;
    import wasi:cli/exit@0.2.0;
    import wasi:cli/stdin@0.2.0;
    import wasi:cli/stdout@0.2.0;
    import wasi:cli/stderr@0.2.0;
    import wasi:io/streams@0.2.0;
    import wasi:filesystem/preopens@0.2.0;
    import wasi:sockets/tcp-create-socket@0.2.0;
    import wasi:sockets/udp-create-socket@0.2.0;
    import wasi:sockets/instance-network@0.2.0;
    import wasi:sockets/ip-name-lookup@0.2.0;
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
        resolution: func() -> u64;
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
    interface insecure { get-insecure-random-u64: func() -> u64; }
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
    interface stderr {
        use wasi:io/streams@0.2.0.{output-stream};
        get-stderr: func() -> output-stream;
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
        resource network;
    }
    interface tcp { resource tcp-socket; }
    interface tcp-create-socket {
        use network.{error-code, ip-address-family};
        use tcp.{tcp-socket};
        create-tcp-socket: func(address-family: ip-address-family) -> result<tcp-socket, error-code>;
    }
    interface udp { resource udp-socket; }
    interface udp-create-socket {
        use network.{error-code, ip-address-family};
        use udp.{udp-socket};
        create-udp-socket: func(address-family: ip-address-family) -> result<udp-socket, error-code>;
    }
    interface instance-network {
        use network.{network};
        instance-network: func() -> network;
    }
    interface ip-name-lookup {
        use network.{error-code, network};
        resource resolve-address-stream;
        resolve-addresses: func(network: borrow<network>, name: string) -> result<resolve-address-stream, error-code>;
    }
}

package wasi:http@0.2.0 {
    interface outgoing-handler { handle: func(); }
}
"#;

/// Six bytes at 512 of every guest's memory; at 528 stands the address `127.0.0.1`.
pub const WORD: &str = "spoken";

/// The imports that guests call, by a short name.
const IMPORTS: [(&str, &str); 22] = [
    (
        "monotonic",
        r#""wasi:clocks/monotonic-clock@0.2.0" "now" (func $monotonic (result i64))"#,
    ),
    (
        "tick",
        r#""wasi:clocks/monotonic-clock@0.2.0" "resolution" (func $tick (result i64))"#,
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
        "careless",
        r#""wasi:random/insecure@0.2.0" "get-insecure-random-u64" (func $careless (result i64))"#,
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
        "stdout",
        r#""wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32))"#,
    ),
    (
        "stderr",
        r#""wasi:cli/stderr@0.2.0" "get-stderr" (func $stderr (result i32))"#,
    ),
    (
        "write",
        r#""wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush" (func $write (param i32 i32 i32 i32))"#,
    ),
    (
        "directories",
        r#""wasi:filesystem/preopens@0.2.0" "get-directories" (func $directories (param i32))"#,
    ),
    (
        "udp",
        r#""wasi:sockets/udp-create-socket@0.2.0" "create-udp-socket" (func $udp (param i32 i32))"#,
    ),
    (
        "network",
        r#""wasi:sockets/instance-network@0.2.0" "instance-network" (func $network (result i32))"#,
    ),
    (
        "resolve",
        r#""wasi:sockets/ip-name-lookup@0.2.0" "resolve-addresses" (func $resolve (param i32 i32 i32 i32))"#,
    ),
    (
        "tcp",
        r#""wasi:sockets/tcp-create-socket@0.2.0" "create-tcp-socket" (func $tcp (param i32 i32))"#,
    ),
];

/// Returns a guest whose estimate is one more than the whole number (i64) that `body` leaves on the
/// stack.
pub fn guest(body: &str) -> Vec<u8> {
    guest_importing(body, "")
}

pub fn guest_importing(body: &str, more: &str) -> Vec<u8> {
    let called = |name: &str| body.contains(&format!("(call ${name}"));
    let imports: String = IMPORTS
        .iter()
        .filter(|(name, _)| called(name))
        .map(|(_, import)| format!("(import {import})\n"))
        .collect();
    let text = format!(
        r#"(module
  {imports} {more}
  (memory (export "memory") 2)
  (data (i32.const 512) "{WORD}")
  (data (i32.const 528) "127.0.0.1")
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
    let wit = include_str!("../../../../../../wit/valuation.wit");
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

/// Returns the number that the guest found, which is the same on both allocators and in the next
/// row.
#[track_caller]
pub fn run_guest(body: &str) -> u64 {
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
pub fn failure(body: &str) -> RowFailure {
    row(&guest(body), Allocation::OnDemand).outcome.unwrap_err()
}
