//! Which components are changed so that their instances can be set back.

use super::probe::PROBE;
use crate::admission::validate;
use crate::kept_instance::resettable;

/// A component of one module with a memory, a table, a global and a segment of each kind.
fn component(top: &str, body: &str, more: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
  (core module $m
    (memory (export "memory") 1)
    (table $t (export "t") 4 funcref)
    (global $g (mut i32) (i32.const 1))
    (elem $e func $f)
    (data $d "data")
    {top}
    (func $f (export "f") {body}))
  (core instance $i (instantiate $m))
  (alias core export $i "memory" (core memory $memory))
  (func $value (canon lift (core func $i "f")))
  (export "value" (func $value))
  {more})"#
    );
    let bytes = wat::parse_str(text).unwrap();
    validate(&bytes).unwrap();
    bytes
}

#[test]
fn the_changed_component_is_valid_and_keeps_its_exports() {
    for component in [component("", "", ""), PROBE.clone()] {
        let changed = resettable(&component).unwrap();
        validate(&changed).unwrap();
        let before = crate::component::outline(&component).unwrap();
        let mut after = crate::component::outline(&changed).unwrap();
        assert_eq!(after.exports.pop().unwrap(), "domesday-reset");
        assert_eq!(after, before);
    }
}

#[test]
fn a_component_whose_rows_change_more_than_memory_and_globals_stays_as_it_is() {
    for body in [
        "(table.set $t (i32.const 0) (ref.null func))",
        "(drop (table.grow $t (ref.null func) (i32.const 1)))",
        "(table.fill $t (i32.const 0) (ref.null func) (i32.const 1))",
        "(table.copy $t $t (i32.const 0) (i32.const 1) (i32.const 1))",
        "(table.init $t $e (i32.const 0) (i32.const 0) (i32.const 1))",
        "(elem.drop $e)",
        "(data.drop $d)",
    ] {
        assert!(resettable(&component("", body, "")).is_none(), "{body}");
    }
    // What leaves the instance as it is stops nothing.
    for body in [
        "(global.set $g (i32.const 2))",
        "(memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))",
        "(drop (memory.grow (i32.const 1)))",
        "(drop (table.get $t (i32.const 0)))",
    ] {
        assert!(resettable(&component("", body, "")).is_some(), "{body}");
    }
}

#[test]
fn a_component_that_runs_when_it_is_made_stays_as_it_is() {
    assert!(resettable(&component("(start $s) (func $s)", "", "")).is_none());
}

#[test]
fn a_component_with_a_name_of_ours_stays_as_it_is() {
    let top = r#"(func (export "domesday-reset"))"#;
    assert!(resettable(&component(top, "", "")).is_none());
    let more = r#"(export "domesday-reset" (func $value))"#;
    assert!(resettable(&component("", "", more)).is_none());
}

#[test]
fn globals_of_two_modules_or_of_two_instances_are_not_set_back() {
    let second = |contents: &str, instance: &str| {
        format!("(core module $n {contents}) (core instance $j (instantiate {instance}))")
    };
    let ours = r#"(export "g" (global $g))"#;
    let import = r#"(import "m" "g" (global (mut i32)))"#;
    for (top, contents, instance, is_changed) in [
        ("", "(global (mut i32) (i32.const 1))", "$n", false),
        ("", "(global i32 (i32.const 1))", "$n", true),
        ("", "", "$m", false),
        (ours, import, r#"$n (with "m" (instance $i))"#, false),
        ("", "(func)", "$n", true),
    ] {
        let more = second(contents, instance);
        let found = resettable(&component(top, "", &more));
        assert_eq!(found.is_some(), is_changed, "{more}");
    }
}

/// The first values of the globals take fuel when they are set, and none when an instance is made.
#[test]
fn globals_whose_first_values_are_long_are_not_set_back() {
    for (additions, is_changed) in [(20_000, true), (22_000, false)] {
        let value = "i32.const 1 i32.add ".repeat(additions);
        let top = format!("(global (mut i32) i32.const 0 {value})");
        assert_eq!(resettable(&component(&top, "", "")).is_some(), is_changed);
    }
}

/// The alias or the export is a second number of the module, whose two instances have globals each.
#[test]
fn a_module_with_two_numbers_is_not_set_back() {
    let text = r#"(component
  (core module $a
    (global $g (mut i32) (i32.const 0))
    (func (export "next") (result i32)
      (global.set $g (i32.add (global.get $g) (i32.const 1))) (global.get $g)))
  AGAIN
  (core module $m
    (import "s" "next" (func (result i32)))
    (memory (export "memory") 1)
    (func (export "f")))
  (core module $unused)
  (core instance (instantiate $a))
  (core instance $second (instantiate $again))
  (core instance $i (instantiate $m (with "s" (instance $second))))
  (alias core export $i "memory" (core memory $memory))
  (func $value (canon lift (core func $i "f")))
  (export "value" (func $value)))"#;
    for again in [
        "(alias outer 0 0 (core module $again))",
        r#"(export $again "a" (core module $a))"#,
    ] {
        let component = wat::parse_str(text.replace("AGAIN", again)).unwrap();
        validate(&component).unwrap();
        assert!(resettable(&component).is_none(), "{again}");
    }
    // Without the second number and its instance it is.
    let alone = text
        .replace("AGAIN", "")
        .replace("(core instance $second (instantiate $again))", "")
        .replace(
            "(core instance (instantiate $a))",
            "(core instance $second (instantiate $a))",
        )
        .replace("(core module $unused)", "");
    assert!(resettable(&wat::parse_str(alone).unwrap()).is_some());
}

#[test]
fn a_component_with_a_component_in_it_stays_as_it_is() {
    assert!(resettable(&component("", "", "(component)")).is_none());
}

#[test]
fn bytes_that_are_no_component_stay_as_they_are() {
    for bytes in [&[][..], b"\0asm\x01\0\0\0", b"\0asm\x0d\0\x01\0"] {
        assert!(resettable(bytes).is_none());
    }
}

/// The demo's release is worth keeping.
#[test]
fn the_demos_release_can_be_set_back() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../releases/valuation/synthetic-hedonic-2027-05/component.wasm"
    );
    assert!(resettable(&std::fs::read(path).unwrap()).is_some());
}

#[test]
fn damaged_bytes_stay_as_they_are_or_become_valid() {
    let (mut changed, good) = (0, PROBE.as_slice());
    for at in 0..good.len() {
        for bits in [0x01, 0x40, 0xff] {
            let mut bad = good.to_vec();
            bad[at] ^= bits;
            if let Some(found) = resettable(&bad) {
                validate(&found).unwrap();
                changed += 1;
            }
        }
        if let Some(found) = resettable(&good[..at]) {
            validate(&found).unwrap();
        }
    }
    assert!(changed > 100, "{changed}");
}
