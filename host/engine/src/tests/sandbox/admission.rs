//! A forbidden component is refused before it runs, with the rule that it breaks.

use super::guest::component;
use domesday_engine::admission::imports;
use domesday_engine::config::{Allocation, MAX_COMPONENT_BYTES};
use domesday_engine::{AdmissionError, Limits, Profile, Runtime};

/// The export that a release must have.
const VALUE: &str = r#"(core module $m (func (export "value")))
    (core instance $i (instantiate $m))
    (func (export "value") (canon lift (core func $i "value")))"#;

fn refusal(component: &[u8]) -> AdmissionError {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    match runtime.admit(component, Limits::new(1_000_000, 1 << 20)) {
        Ok(_) => panic!("it was admitted"),
        Err(refusal) => refusal,
    }
}

#[test]
fn a_core_module_is_refused() {
    let module = wat::parse_str("(module)").unwrap();
    assert!(matches!(
        refusal(&module),
        AdmissionError::NotAComponent {
            found: "a core module"
        }
    ));
    assert!(matches!(
        refusal(b"not wasm at all"),
        AdmissionError::NotAComponent { .. }
    ));
}

#[test]
fn a_component_of_the_largest_size_is_examined_and_a_larger_one_is_not() {
    assert!(matches!(
        refusal(&vec![0; MAX_COMPONENT_BYTES]),
        AdmissionError::NotAComponent {
            found: "another format"
        }
    ));
    let bytes = MAX_COMPONENT_BYTES + 1;
    assert!(matches!(
        refusal(&vec![0; bytes]),
        AdmissionError::TooLarge { bytes: found } if found == bytes
    ));
}

#[test]
fn names_within_nested_components_do_not_count() {
    let evidence = "domesday:valuation/evidence@1.0.0";
    let text = format!(
        r#"(component
        (import "{evidence}" (instance))
        (component (import "clock" (func)))
        {VALUE})"#
    );
    let component = wat::parse_str(text).unwrap();
    assert_eq!(imports(&component, Profile::Pure).unwrap(), [evidence]);

    let nested = format!("(component (component {VALUE}))");
    assert!(matches!(
        refusal(&wat::parse_str(nested).unwrap()),
        AdmissionError::NoExport
    ));
}

#[test]
fn the_refusal_of_an_import_lists_the_imports_of_the_profile() {
    let message = |profile| {
        let name = "clock".to_owned();
        AdmissionError::ForbiddenImport { name, profile }.to_string()
    };
    let pure = message(Profile::Pure);
    assert!(pure.ends_with("packed-evidence@1.1.0\""), "{pure}");
    let wasi = message(Profile::Wasi);
    assert!(wasi.ends_with("that a language's runtime needs"), "{wasi}");
}

#[test]
fn any_import_but_the_evidence_is_named() {
    for name in [
        "wasi:random/random@0.2.0",
        "domesday:valuation/evidence@2.0.0",
        "clock",
    ] {
        let text = format!(r#"(component (import "{name}" (func)))"#);
        let text = if name.contains(':') {
            format!(
                r#"(component (import "{name}" (instance (export "now" (func (result u64))))))"#
            )
        } else {
            text
        };
        match refusal(&wat::parse_str(text).unwrap()) {
            AdmissionError::ForbiddenImport { name: found, .. } => assert_eq!(found, name),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn a_component_without_value_is_refused() {
    assert!(matches!(
        refusal(&wat::parse_str("(component)").unwrap()),
        AdmissionError::NoExport
    ));
}

#[test]
fn an_export_of_another_type_does_not_fit() {
    let text = r#"(component
        (core module $m (func (export "value") (result i32) i32.const 1))
        (core instance $i (instantiate $m))
        (func (export "value") (result u32) (canon lift (core func $i "value"))))"#;
    assert!(matches!(
        refusal(&wat::parse_str(text).unwrap()),
        AdmissionError::DoesNotFit(_)
    ));
}

#[test]
fn damaged_bytes_are_refused_or_still_valid_and_never_a_panic() {
    let good = component("guest-misbehaving");
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let limits = Limits::new(1_000_000, 16 << 20);
    assert!(runtime.admit(&good, limits).is_ok());
    let mut refused = 0;
    for at in (0..good.len()).step_by(good.len() / 40) {
        let mut bad = good.clone();
        bad[at] ^= 0x55;
        refused += usize::from(runtime.admit(&bad, limits).is_err());
        refused += usize::from(runtime.admit(&good[..at], limits).is_err());
    }
    assert!(refused > 40, "{refused}");
}

#[test]
fn more_memory_than_the_manifest_allows_is_refused_at_once() {
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let refusal = runtime
        .admit(&component("guest-misbehaving"), Limits::new(1, 64 << 10))
        .err()
        .unwrap();
    assert!(
        matches!(refusal, AdmissionError::NeedsTooMuch { .. }),
        "{refusal}"
    );
}
