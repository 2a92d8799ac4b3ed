use super::*;
use crate::component::encode;
use crate::evidence::AreaLevel;
use crate::v1::{EVIDENCE, TYPES, wit};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store, StoreContextMut};
use wit_component::{StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Rounds of each comparison.
const ROUNDS: u64 = 60;
const FUEL: u64 = 100_000_000;

/// The world of a guest that takes values and shows its memory.
const WORLD: &str = "package test:memory;
world memory {
    import domesday:valuation/evidence@1.0.0;
    export fill: func(seed: u64);
    export price-index: func();
    export show: func() -> list<u8>;
}";

/// The guest. Its allocator looks at the memory, and notes a hash of it at each call.
const GUEST: &str = r#"(module
  (import "domesday:valuation/evidence@1.0.0" "price-index"
    (func $price-index (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (global $free (mut i32) (i32.const 4096))
  (global $calls (mut i32) (i32.const 0))
  (func $hash (result i64) (local $at i32) (local $hash i64)
    (local.set $at (i32.const 2048))
    (loop $next
      (local.set $hash (i64.mul (i64.const 0x100000001b3)
        (i64.xor (local.get $hash) (i64.load (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 32768))))
    (local.get $hash))
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
    (i64.store (i32.add (i32.const 1024) (global.get $calls)) (call $hash))
    (global.set $calls (i32.add (global.get $calls) (i32.const 8)))
    (local.set $at (i32.and
      (i32.add (global.get $free) (i32.sub (local.get 2) (i32.const 1)))
      (i32.sub (i32.const 0) (local.get 2))))
    (global.set $free (i32.add (local.get $at) (local.get 3)))
    (local.get $at))
  (func (export "fill") (param $seed i64) (local $at i32)
    (loop $next
      (local.set $seed (i64.xor (local.get $seed) (i64.shl (local.get $seed) (i64.const 13))))
      (local.set $seed (i64.xor (local.get $seed) (i64.shr_u (local.get $seed) (i64.const 7))))
      (local.set $seed (i64.xor (local.get $seed) (i64.shl (local.get $seed) (i64.const 17))))
      (i64.store (local.get $at) (local.get $seed))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 65536)))))
  (func (export "price-index")
    (call $price-index (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 2048)))
  (func (export "show") (result i32)
    (i32.store (i32.const 0) (i32.const 0))
    (i32.store (i32.const 4) (i32.const 65536))
    (i32.const 0)))"#;

/// The answer to a guest.
type IndexResponse = Option<evidence::IndexSeries>;

/// A guest with the ways in which values can cross to it.
struct Guests {
    engine: Engine,
    component: Component,
    derived: Linker<IndexResponse>,
    blocks: Linker<IndexResponse>,
}

impl Guests {
    fn new() -> Guests {
        let engine = Engine::new(Config::new().consume_fuel(true)).unwrap();
        let mut module = wat::parse_str(GUEST).unwrap();
        let mut resolve = Resolve::default();
        let wit = include_str!("../../../../wit/valuation.wit");
        resolve.push_str("valuation.wit", wit).unwrap();
        let package = resolve.push_str("memory.wit", WORLD).unwrap();
        let world = resolve.select_world(&[package], Some("memory")).unwrap();
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
        let component = Component::new(&engine, encode(&module).unwrap()).unwrap();
        let derived = linker(&engine, derived_index);
        let blocks = linker(&engine, index);
        Guests {
            engine,
            component,
            derived,
            blocks,
        }
    }

    /// Lets a guest ask, whose memory was filled with random bytes. Returns the memory afterwards,
    /// and the fuel of the call.
    fn call(
        &self,
        linker: &Linker<IndexResponse>,
        seed: u64,
        answer: IndexResponse,
    ) -> (Vec<u8>, u64) {
        let mut store = Store::new(&self.engine, answer);
        store.set_fuel(FUEL).unwrap();
        let guest = linker.instantiate(&mut store, &self.component).unwrap();
        let fill = guest.get_typed_func::<(u64,), ()>(&mut store, "fill");
        fill.unwrap().call(&mut store, (seed,)).unwrap();
        let before = store.get_fuel().unwrap();
        let ask = guest.get_typed_func::<(), ()>(&mut store, "price-index");
        ask.unwrap().call(&mut store, ()).unwrap();
        let spent = before - store.get_fuel().unwrap();
        let show = guest.get_typed_func::<(), (Vec<u8>,)>(&mut store, "show");
        let (memory,) = show.unwrap().call(&mut store, ()).unwrap();
        (memory, spent)
    }
}

/// Returns a linker whose answers cross as this type.
fn linker<I: Lower + 'static>(
    engine: &Engine,
    index: fn(evidence::IndexSeries) -> I,
) -> Linker<IndexResponse> {
    let mut linker = Linker::new(engine);
    linker.instance(TYPES).unwrap();
    let mut interface = linker.instance(EVIDENCE).unwrap();
    let price_index = move |answer: StoreContextMut<'_, IndexResponse>,
                            _: (Option<wit::PropertyType>, i32)| {
        let found = answer.data().clone().map(index);
        Ok((Ok::<_, ask::Refusal>(found),))
    };
    interface.func_wrap("price-index", price_index).unwrap();
    linker
}

/// Converts a series to the bindings' type.
fn derived_index(series: evidence::IndexSeries) -> ask::IndexSeries {
    let point = |&(month, value)| ask::IndexPoint { month, value };
    ask::IndexSeries {
        level: ask::AreaLevel::Region,
        points: series.points.iter().map(point).collect(),
    }
}

#[test]
fn a_price_index_crosses_as_a_block_as_it_does_point_by_point() {
    let guests = Guests::new();
    // A seed of the guest's generator is not 0.
    for seed in 1..=ROUNDS {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let count = random.next_u64() % 601;
        // Any bits, those of NaNs and infinities among them.
        let points: Vec<_> = (0..count)
            .map(|_| {
                let month = random.next_u32().cast_signed();
                (month, f64::from_bits(random.next_u64()))
            })
            .collect();
        let answer = (seed % 5 > 0).then(|| evidence::IndexSeries {
            level: AreaLevel::Region,
            points: points.into(),
        });
        let [derived, block] = [&guests.derived, &guests.blocks]
            .map(|linker| guests.call(linker, seed, answer.clone()));
        assert!(derived == block, "{seed}");
        // A comparison that cannot fail holds nothing: another answer leaves another memory.
        let other = guests.call(&guests.blocks, seed, answer.is_none().then(other));
        assert!(other.0 != block.0, "{seed}");
    }
}

/// Returns a series of one point.
fn other() -> evidence::IndexSeries {
    evidence::IndexSeries {
        level: AreaLevel::Region,
        points: vec![(1, 2.0)].into(),
    }
}
