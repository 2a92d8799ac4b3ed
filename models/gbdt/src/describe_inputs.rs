//! The export of `wit/inputs`: the model's inputs for a subject.

use crate::release::Release;
use domesday_sdk::HostEvidence;

#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        world: "domesday:inputs/shown@0.1.0",
        path: ["../../wit/valuation.wit", "../../wit/inputs"],
        with: {
            "domesday:valuation/types@1.0.0": domesday_sdk::bindings::domesday::valuation1_0_0::types,
        },
    });

    struct Describer;
    impl Guest for Describer {
        fn inputs(subject: Subject) -> Option<Vec<Input>> {
            let shown = super::Release::inputs(&subject, &super::HostEvidence)?;
            let input = |(name, value): (&str, f64)| Input {
                name: name.to_owned(),
                value,
            };
            Some(shown.into_iter().map(input).collect())
        }
    }
    export!(Describer);
}
