//! Guests written to do harm, each in a few lines of WebAssembly. So no compiler and no SDK stands
//! between the attack and the sandbox.
//!
//! Every attack ends in one stated way, the same on both allocators, and leaves the next row of
//! another release as it was.

mod answers;
mod growth;
mod questions;
mod shape;
mod start;
mod time;

use super::common::{Nothing, subject};
use domesday_engine::component::encode;
use domesday_engine::config::Allocation;
use domesday_engine::evidence::{EvidenceError, EvidenceQuery, EvidenceResponse, EvidenceSource};
use domesday_engine::outcome::{Outcome, Row, RowFailure};
use domesday_engine::subject::Subject;
use domesday_engine::{AdmissionError, Limits, Runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

pub(super) const FUEL: u64 = 20_000_000;
pub(super) const MEMORY: u64 = 2 << 20;
/// Queries of one row that reach the snapshot, whatever the guest does.
const MOST_QUESTIONS: u32 = 32;
/// The estimate of a harmless guest, pounds.
const ESTIMATE: f64 = 200_000.0;

/// A snapshot without sales that counts its queries.
#[derive(Default)]
struct CountingSource(AtomicU32);

impl EvidenceSource for CountingSource {
    fn ask(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Nothing.ask(subject, question)
    }
}

/// A guest, harmless but for the part that a test replaces.
#[derive(Clone, Copy)]
pub(super) struct Guest {
    pub(super) memory: &'static str,
    /// Tables, globals, segments: whatever stands at the top of a module.
    pub(super) more: &'static str,
    /// The function that runs when the instance is made.
    pub(super) start: &'static str,
    /// The body of `value`; the address of the answer is on the stack at its end.
    pub(super) value: &'static str,
    /// The body of the allocator for the host's arguments.
    pub(super) realloc: &'static str,
    /// The body that runs once the host has read the answer.
    pub(super) post: &'static str,
}

impl Default for Guest {
    fn default() -> Guest {
        Guest {
            memory: r#"(memory (export "memory") 1)"#,
            more: "",
            start: "",
            value: "(i32.const 1024)",
            realloc: "(i32.const 8192)",
            post: "",
        }
    }
}

impl Guest {
    /// Returns the same guest with another memory.
    fn declaring(self, memory: &'static str) -> Guest {
        Guest { memory, ..self }
    }

    /// Returns the text of a core module. The answer stands ready at 1,024: `valued`, an estimate,
    /// a confidence of a half, and no lists.
    fn text(&self) -> String {
        let Guest {
            memory,
            more,
            start,
            value,
            realloc,
            post,
        } = self;
        format!(
            r#"(module
  (import "domesday:valuation/evidence@1.0.0" "own-sales" (func $own-sales (param i32)))
  (import "domesday:valuation/evidence@1.0.0" "area-figures"
    (func $area-figures (param i32 i32 i32 i32)))
  {memory}
  (global $turns (mut i32) (i32.const 0))
  {more}
  (func $start {start})
  (start $start)
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) {realloc})
  (func $answer
    (f64.store (i32.const 1032) (f64.const {ESTIMATE}))
    (f64.store (i32.const 1064) (f64.const 0.5)))
  (func (export "value") (param i32) (result i32) (call $answer) {value})
  (func (export "cabi_post_value") (param i32) {post}))"#
        )
    }

    /// Encodes the guest as a component of the interface.
    pub(super) fn component(&self) -> Vec<u8> {
        let mut module = wat::parse_str(self.text()).unwrap();
        let mut resolve = Resolve::default();
        let wit = include_str!("../../../../../../wit/valuation.wit");
        let package = resolve.push_str("valuation.wit", wit).unwrap();
        let world = resolve.select_world(&[package], Some("release")).unwrap();
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
        encode(&module).unwrap()
    }

    /// Values a row with each allocator.
    fn rows(&self) -> [Row; 2] {
        let component = self.component();
        [Allocation::Pooling { instances: 4 }, Allocation::OnDemand].map(|allocation| {
            let runtime = Runtime::new(allocation).unwrap();
            let value = |component: &[u8]| {
                let release = runtime.admit(component, Limits::new(FUEL, MEMORY));
                let asked = Arc::new(CountingSource::default());
                let row = release.unwrap().value(&Arc::new(subject(3)), asked.clone());
                assert!(asked.0.load(Ordering::Relaxed) <= MOST_QUESTIONS);
                row
            };
            let row = value(&component);
            assert_eq!(estimate(&value(&Guest::default().component())), ESTIMATE);
            row
        })
    }

    /// Returns the failure of its row, which is the same on both allocators.
    #[track_caller]
    fn failure(&self) -> RowFailure {
        let [pooled, mapped] = self.rows().map(|row| row.outcome.unwrap_err());
        assert_eq!(pooled, mapped, "the allocator changes nothing");
        pooled
    }

    /// Returns the reason why it is not admitted, which is the same on both allocators.
    #[track_caller]
    fn refusal(&self) -> AdmissionError {
        refusal(&self.component())
    }
}

/// Returns the reason why these bytes are not admitted, which is the same on both allocators.
#[track_caller]
fn refusal(component: &[u8]) -> AdmissionError {
    let [pooled, mapped] =
        [Allocation::Pooling { instances: 4 }, Allocation::OnDemand].map(|allocation| {
            let runtime = Runtime::new(allocation).unwrap();
            match runtime.admit(component, Limits::new(FUEL, MEMORY)) {
                Ok(_) => panic!("it was admitted"),
                Err(refusal) => refusal,
            }
        });
    assert_eq!(pooled.to_string(), mapped.to_string());
    pooled
}

#[track_caller]
fn estimate(row: &Row) -> f64 {
    match &row.outcome {
        Ok(Outcome::Valued(valuation)) => valuation.estimate,
        other => panic!("{other:?}"),
    }
}

fn trap_failure(trap: &str) -> RowFailure {
    RowFailure::Trapped {
        trap: format!("wasm trap: {trap}"),
    }
}

fn limit(what: &str, limit: u64) -> RowFailure {
    RowFailure::LimitReached {
        what: what.to_owned(),
        limit,
    }
}

/// Returns the field and the problem of this guest's invalid outcome.
#[track_caller]
fn invalid(guest: &Guest) -> (String, String) {
    match guest.failure() {
        RowFailure::InvalidOutcome { field, problem } => (field, problem),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_harmless_guest_is_valued() {
    for row in Guest::default().rows() {
        assert_eq!(estimate(&row), ESTIMATE);
    }
}
