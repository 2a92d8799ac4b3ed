//! The output of a guest reaches nobody, and it has no input: seen from outside of a process that
//! values one.

use super::guest::{WORD, run_guest};
use std::io::Write;
use std::process::{Command, Stdio};

/// Set in the process that values.
const INSIDE: &str = "DOMESDAY_TEST_STREAMS";
const THIS: &str = "tests::sandbox::wasi::streams::guest_output_is_discarded_and_input_is_empty";

#[test]
fn guest_output_is_discarded_and_input_is_empty() {
    if std::env::var_os(INSIDE).is_some() {
        // Cases of results: writing went well (0) on both streams. Reading is an error (1), and the
        // error is that the stream is closed (1).
        let body = "(block (result i64)
            (call $write (call $stdout) (i32.const 512) (i32.const 6) (i32.const 64))
            (call $write (call $stderr) (i32.const 512) (i32.const 6) (i32.const 80))
            (call $read (call $stdin) (i64.const 10) (i32.const 96))
            (i64.extend_i32_u (i32.or
                (i32.or (i32.shl (i32.load8_u (i32.const 64)) (i32.const 12))
                    (i32.shl (i32.load8_u (i32.const 80)) (i32.const 8)))
                (i32.or (i32.shl (i32.load8_u (i32.const 96)) (i32.const 4))
                    (i32.load8_u (i32.const 100))))))";
        println!("the cases were {:#x}", run_guest(body));
        return;
    }
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", THIS, "--nocapture"])
        .env(INSIDE, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = process.stdin.take().unwrap();
    told.write_all(b"something to read").unwrap();
    drop(told);
    let output = process.wait_with_output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{complained}");
    assert!(printed.contains("the cases were 0x11\n"), "{printed}");
    assert!(!printed.contains(WORD), "{printed}");
    assert!(!complained.contains(WORD), "{complained}");
}
