//! Hoarding: memory, tables, and the declarations of a component.

use super::{ESTIMATE, FUEL, Guest, MEMORY, estimate, limit, refusal};
use domesday_engine::config::{
    Allocation, MAX_CORE_INSTANCES, MAX_MEMORY_BYTES, MAX_TABLE_ELEMENTS,
};
use domesday_engine::{AdmissionError, Limits, Runtime};
use std::time::Duration;

fn with(more: &'static str) -> Guest {
    Guest {
        more,
        ..Guest::default()
    }
}

fn valuing(value: &'static str) -> Guest {
    Guest {
        value,
        ..Guest::default()
    }
}

/// Returns the resource, the declared amount and the largest amount that is admitted.
#[track_caller]
fn too_much(refusal: AdmissionError) -> (&'static str, u64, u64) {
    match refusal {
        AdmissionError::NeedsTooMuch { what, found, limit } => (what, found, limit),
        other => panic!("{other}"),
    }
}

#[test]
fn memory_page_by_page_ends_at_the_limit() {
    let guest = valuing("(loop (drop (memory.grow (i32.const 1))) (br 0)) unreachable");
    assert_eq!(guest.failure(), limit("memory", MEMORY));
}

#[test]
fn all_memory_at_once_is_never_a_minus_one() {
    let guest = valuing("(drop (memory.grow (i32.const 65535))) (i32.const 1024)");
    assert_eq!(guest.failure(), limit("memory", MEMORY));
}

#[test]
fn a_table_that_grows_ends_at_the_limit() {
    let guest = Guest {
        more: "(table $t 1 funcref)",
        value: "(loop (drop (table.grow $t (ref.null func) (i32.const 1000))) (br 0)) unreachable",
        ..Guest::default()
    };
    assert_eq!(
        guest.failure(),
        limit("table elements", MAX_TABLE_ELEMENTS as u64)
    );
}

#[test]
fn several_tables_grow_to_the_limit_each_and_no_further() {
    let guest = Guest {
        more: "(table $a 1 funcref) (table $b 1 funcref)",
        value: "(drop (table.grow $a (ref.null func) (i32.const 19999)))
                (drop (table.grow $b (ref.null func) (i32.const 19999)))
                (drop (table.grow $b (ref.null func) (i32.const 1)))
                (i32.const 1024)",
        ..Guest::default()
    };
    assert_eq!(
        guest.failure(),
        limit("table elements", MAX_TABLE_ELEMENTS as u64)
    );
}

#[test]
fn memory_and_tables_grow_to_their_very_limit() {
    let guest = Guest {
        more: "(table $t 1 funcref)",
        value: "(drop (memory.grow (i32.const 31)))
                (drop (table.grow $t (ref.null func) (i32.const 19999)))
                (i32.const 1024)",
        ..Guest::default()
    };
    for row in guest.rows() {
        assert_eq!(estimate(&row), ESTIMATE);
        assert_eq!(row.cost.memory_bytes, MEMORY);
    }
}

#[test]
fn growth_beyond_a_maximum_of_its_own_returns_minus_one() {
    let memory = valuing(
        "(if (i32.ne (memory.grow (i32.const 1)) (i32.const 1)) (then unreachable))
         (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then unreachable))
         (if (i32.ne (memory.grow (i32.const 60)) (i32.const -1)) (then unreachable))
         (i32.const 1024)",
    )
    .declaring(r#"(memory (export "memory") 1 2)"#);
    for row in memory.rows() {
        assert_eq!(estimate(&row), ESTIMATE);
        assert_eq!(row.cost.memory_bytes, 2 << 16);
    }
    let grown = "(table.grow $t (ref.null func)";
    let value = format!(
        "(if (i32.ne {grown} (i32.const 1)) (i32.const 1)) (then unreachable))
         (if (i32.ne {grown} (i32.const 1)) (i32.const -1)) (then unreachable))
         (if (i32.ne {grown} (i32.const 30000)) (i32.const -1)) (then unreachable))
         (i32.const 1024)"
    );
    let table = Guest {
        more: "(table $t 1 2 funcref)",
        ..valuing(value.leak())
    };
    for row in table.rows() {
        assert_eq!(estimate(&row), ESTIMATE);
    }
}

#[test]
fn a_release_states_its_limits_and_its_memory_at_the_start() {
    let component = with("")
        .declaring(r#"(memory (export "memory") 3)"#)
        .component();
    let limits = Limits {
        deadline: Duration::from_secs(3),
        ..Limits::new(FUEL, MEMORY)
    };
    let runtime = Runtime::new(Allocation::OnDemand).unwrap();
    let release = runtime.admit(&component, limits).unwrap();
    assert_eq!(release.limits(), limits);
    assert_eq!(release.row_time(), limits.deadline);
    assert_eq!(release.memory_at_start(), 3 << 16);
}

#[test]
fn declarations_beyond_a_limit_are_refused_before_running() {
    let refusal = with("(table 30000 funcref)").refusal();
    assert_eq!(
        too_much(refusal),
        ("table elements at the start", 30_000, 20_000)
    );
    let refusal = with("")
        .declaring("(memory (export \"memory\") 5000)")
        .refusal();
    assert_eq!(
        too_much(refusal),
        (
            "bytes of memory at the start",
            5_000 << 16,
            MAX_MEMORY_BYTES as u64
        )
    );
    let refusal = with("")
        .declaring("(memory (export \"memory\") 100)")
        .refusal();
    assert_eq!(
        too_much(refusal),
        ("bytes of memory at the start", 100 << 16, MEMORY)
    );
    let nine = "(table 1 funcref) (table 1 funcref) (table 1 funcref)
                (table 1 funcref) (table 1 funcref) (table 1 funcref)
                (table 1 funcref) (table 1 funcref) (table 1 funcref)";
    let (what, _, limit) = too_much(with(nine).refusal());
    assert_eq!((what, limit), ("tables", 8));
}

/// The required export, so that the component is refused for another reason.
const VALUE: &str = r#"(core module $v (func (export "value")))
    (core instance $i (instantiate $v))
    (func (export "value") (canon lift (core func $i "value")))"#;

fn holding(text: &str) -> Vec<u8> {
    wat::parse_str(format!("(component {text} {VALUE})")).unwrap()
}

#[test]
fn instances_are_counted_before_any_is_made() {
    let most = u64::from(MAX_CORE_INSTANCES);
    let modules = format!(
        "(core module $m) {}",
        "(core instance (instantiate $m))".repeat(20)
    );
    let counted = too_much(refusal(&holding(&modules)));
    assert_eq!(counted, ("core instances", 21, most));
    let components = format!(
        "(component $c (core module $m) (core instance (instantiate $m))
        (core instance (instantiate $m))) {}",
        "(instance (instantiate $c))".repeat(9)
    );
    let counted = too_much(refusal(&holding(&components)));
    assert_eq!(counted, ("core instances", 28, most));
}

/// Each component is inlined, though it holds no module: a few kilobytes of these took minutes to
/// compile.
#[test]
fn components_without_a_module_count_as_well() {
    let text = format!(
        "(component $c) {}",
        "(instance (instantiate $c))".repeat(900)
    );
    let counted = too_much(refusal(&holding(&text)));
    assert_eq!(
        counted,
        ("core instances", 901, u64::from(MAX_CORE_INSTANCES))
    );
}

/// Globals lie beside the memory that is limited.
#[test]
fn globals_are_counted() {
    let globals = "(global i64 (i64.const 1))".repeat(10_001);
    let counted = too_much(with(globals.leak()).refusal());
    assert_eq!((counted.0, counted.2), ("globals", 10_000));
}

/// Each level makes eight instances of the level below: forty lines would make millions.
#[test]
fn components_do_not_multiply() {
    let mut text = "(component $c0 (core module $m) (core instance (instantiate $m)))".to_owned();
    for level in 1..8 {
        let instances = format!("(instance (instantiate $c{}))", level - 1).repeat(8);
        text += &format!("(component $c{level} {instances})");
    }
    text += "(instance (instantiate $c7))";
    let refusal = refusal(&holding(&text));
    assert!(
        matches!(refusal, AdmissionError::NestedInstances),
        "{refusal}"
    );
}

/// A handle lives in the host's memory, where no limit of the guest's would find it.
#[test]
fn guest_resources_are_refused_with_their_handles() {
    let text = r#"(component
        (type $r (resource (rep i32)))
        (core func $new (canon resource.new $r))
        (core module $m
          (import "" "new" (func $new (param i32) (result i32)))
          (func (export "value") (loop (drop (call $new (i32.const 1))) (br 0))))
        (core instance $i (instantiate $m (with "" (instance (export "new" (func $new))))))
        (func (export "value") (canon lift (core func $i "value"))))"#;
    let refusal = refusal(&wat::parse_str(text).unwrap());
    assert!(
        matches!(refusal, AdmissionError::OwnResource { .. }),
        "{refusal}"
    );
}
