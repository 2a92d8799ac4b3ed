//! WebAssembly features that the sandbox disables, and components of other interfaces.

use super::refusal;
use domesday_engine::AdmissionError;

/// Returns a component that holds this module and has the exports of a release.
fn holding(module: &str) -> Vec<u8> {
    let text = format!(
        r#"(component (core module {module})
        (core module $v (func (export "value")))
        (core instance $i (instantiate $v))
        (func (export "value") (canon lift (core func $i "value"))))"#
    );
    wat::parse_str(text).unwrap()
}

#[test]
fn disabled_features_are_invalid() {
    for module in [
        // Shared memory, and waiting on it.
        "(memory 1 1 shared)",
        "(memory 1) (func (drop (i32.atomic.load (i32.const 0))))",
        // Two memories, one of 64 bits, one with pages of another size.
        "(memory 1) (memory 1)",
        "(memory i64 1)",
        "(memory 1 (pagesize 1))",
        // Exceptions, garbage collection, typed references.
        "(tag $t) (func (throw $t))",
        "(type (struct (field i32)))",
        "(type $f (func)) (func (param (ref $f)))",
        // References to values that the host would have to keep alive.
        "(table 1 externref)",
    ] {
        let refusal = refusal(&holding(module));
        assert!(
            matches!(refusal, AdmissionError::Invalid { .. }),
            "{module}: {refusal}"
        );
    }
}

#[test]
fn a_value_that_takes_nothing_does_not_fit() {
    let refusal = refusal(&holding(""));
    assert!(
        matches!(refusal, AdmissionError::DoesNotFit(_)),
        "{refusal}"
    );
}

#[test]
fn bytes_of_no_meaning_are_refused() {
    let component = holding("");
    for bytes in [
        &[][..],
        b"\0asm",
        b"\0asm\x0d\0\x01\0\xff",
        &[0; 4_096],
        &component[..component.len() - 1],
    ] {
        let refusal = refusal(bytes);
        assert!(
            matches!(
                refusal,
                AdmissionError::NotAComponent { .. }
                    | AdmissionError::Invalid { .. }
                    | AdmissionError::NoExport
            ),
            "{refusal}"
        );
    }
}

/// Nesting makes no import allowed.
#[test]
fn an_import_is_forbidden_however_it_is_dressed() {
    for import in [
        r#"(import "domesday:valuation/evidence@1.0.1" (instance))"#,
        r#"(import "wasi:cli/environment@0.2.0" (instance))"#,
        r#"(import "types" (func))"#,
        r#"(import "m" (core module))"#,
        r#"(import "c" (component))"#,
    ] {
        let text = format!(
            r#"(component {import} (core module $v (func (export "value")))
            (core instance $i (instantiate $v))
            (func (export "value") (canon lift (core func $i "value"))))"#
        );
        let refusal = refusal(&wat::parse_str(text).unwrap());
        assert!(
            matches!(refusal, AdmissionError::ForbiddenImport { .. }),
            "{import}: {refusal}"
        );
    }
}
