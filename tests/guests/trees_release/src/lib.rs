//! A release of trees without queries, to measure the cost of a batch around a model. Its values
//! have no meaning.

use domesday_sdk::{Evidence, Model, Outcome, Subject, Valuation};
use domesday_trees::{Forest, Scratch};

#[repr(align(8))]
struct Aligned<const N: usize>([u8; N]);

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trees.bin"));
static TREES: Aligned<{ PACKED.len() }> =
    Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/trees.bin")));

/// Inputs of the model that `scripts/measure-trees` trains. The last is one of fifty categories.
/// The others are normal.
const INPUTS: usize = 40;

/// The release.
pub struct Trees;

impl Model for Trees {
    fn value(subject: &Subject, _: &dyn Evidence) -> Outcome {
        let inputs = inputs(subject);
        let score = match Forest::read(bytemuck::cast_slice(&TREES.0)) {
            Ok(forest) => forest.score(&inputs, &mut Scratch::default()),
            Err(_) => f64::NAN,
        };
        Outcome::Valued(Valuation {
            // Most scores lie within some tens.
            estimate: 250_000.0 + 1_000.0 * score.clamp(-100.0, 100.0),
            range: None,
            confidence: 0.5,
            comparables: Vec::new(),
            derived: Vec::new(),
            dispersion: None,
            own_sales_share: None,
        })
    }
}

/// Draws inputs with the distribution of the training rows, different for each home, so that each
/// row walks its own way.
fn inputs(subject: &Subject) -> [f64; INPUTS] {
    let place = u64::from(subject.place.easting.cast_unsigned()) << 32
        | u64::from(subject.place.northing.cast_unsigned());
    let mut state = place ^ subject.uprn.unwrap_or(0).rotate_left(17);
    let mut uniform = || {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut inputs = [0.0; INPUTS];
    for input in &mut inputs {
        // The sum of four has a variance of a third.
        *input = (uniform() + uniform() + uniform() + uniform() - 2.0) * 1.732;
    }
    inputs[INPUTS - 1] = (50.0 * uniform()).floor();
    inputs
}

#[cfg(target_family = "wasm")]
#[allow(missing_docs, unsafe_code, unreachable_pub)]
mod exports {
    domesday_sdk::release!(super::Trees);
    domesday_sdk::heap!(1 << 20);
}
