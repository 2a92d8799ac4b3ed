//! The export of `wit/predictions`: the trees' prediction for a row of their inputs.

#[allow(missing_docs, unsafe_code, unreachable_pub, clippy::all)]
mod bindings {
    wit_bindgen::generate!({
        world: "domesday:predictions/predicts@0.1.0",
        path: "../../wit/predictions",
    });

    struct Predictor;
    impl Guest for Predictor {
        fn predict(inputs: Vec<f64>) -> Option<f64> {
            crate::release::Release::predict(&inputs)
        }
    }
    export!(Predictor);
}
