//! The rules that the body of a valuation release must obey.

use crate::body::{Body, check_listed, check_rule, is_distinct};
use crate::valuation::{Band, ValuationBody};
use crate::{BodyError, Kind, Manifest, monotone};

/// The most rows that the public contract allows in one batch or job.
const MOST_ROWS: u32 = 2_500;

/// Reports whether `text` is written as `namespace:name@1.2.3`.
fn is_interface(text: &str) -> bool {
    let word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    let number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
    text.split_once('@').is_some_and(|(name, version)| {
        name.split_once(':')
            .is_some_and(|(space, name)| word(space) && word(name))
            && version.split('.').count() == 3
            && version.split('.').all(number)
    })
}

impl Body for ValuationBody {
    const KIND: Kind = Kind::Valuation;

    fn check(&self, manifest: &Manifest) -> Result<(), BodyError> {
        check_rule(
            self.release_id == manifest.id,
            "release_id",
            "must be the package's id",
        )?;
        check_rule(
            is_interface(&self.interface),
            "interface",
            "must be written as namespace:name@1.2.3",
        )?;
        check_rule(
            is_distinct(&self.countries),
            "countries",
            "must name at least one, each once",
        )?;
        check_rule(
            is_distinct(&self.property_types),
            "property_types",
            "must name at least one, each once",
        )?;
        check_rule(
            is_distinct(&self.endpoints),
            "endpoints",
            "must name at least one, each once",
        )?;
        check_rule(
            self.valuation_date.from <= self.valuation_date.to,
            "valuation_date",
            "must not end before it begins",
        )?;
        for rows in [
            self.limits.synchronous_batch_rows,
            self.limits.asynchronous_job_rows,
        ] {
            check_rule(
                (1..=MOST_ROWS).contains(&rows),
                "limits",
                "must be 1 to 2500 rows",
            )?;
        }
        check_rule(self.fuel_per_row > 0, "fuel_per_row", "must be above 0")?;
        check_rule(self.memory_bytes > 0, "memory_bytes", "must be above 0")?;
        check_rule(
            self.nominal_coverage > 0.0 && self.nominal_coverage < 1.0,
            "nominal_coverage",
            "must be between 0 and 1",
        )?;
        self.check_bands()?;
        for text in [
            &self.model.name,
            &self.model.version,
            &self.engine.name,
            &self.engine.version,
        ] {
            check_rule(!text.is_empty(), "model, engine", "must not be empty")?;
        }
        self.check_training_window()?;
        monotone::check(&self.monotone)?;
        if let Some(backtest) = &self.backtest {
            check_listed(manifest, "backtest", backtest)?;
        }
        check_listed(manifest, "component", &self.component)?;
        check_listed(manifest, "fixtures", &self.fixtures)
    }
}

impl ValuationBody {
    /// Checks that calibration follows the fit, and that a trained model has parameters.
    fn check_training_window(&self) -> Result<(), BodyError> {
        let Some(window) = &self.model.training_window else {
            return Ok(());
        };
        check_rule(
            window.fitted_through <= window.calibrated_through,
            "model",
            "must not be calibrated on what it was fitted on",
        )?;
        check_rule(
            self.model.parameters_sha256.is_some(),
            "model",
            "must have parameters if it was trained",
        )
    }

    /// Checks that every score from 0 to 1 falls into exactly one band.
    fn check_bands(&self) -> Result<(), BodyError> {
        let bands = &self.confidence_bands;
        let field = "confidence_bands";
        let order: Vec<Band> = bands.iter().map(|band| band.band).collect();
        check_rule(
            order == [Band::High, Band::Medium, Band::Low],
            field,
            "must be high, medium and low, in this order",
        )?;
        check_rule(
            bands.windows(2).all(|pair| pair[0].from > pair[1].from),
            field,
            "must begin lower and lower",
        )?;
        check_rule(
            bands.iter().all(|band| (0.0..=1.0).contains(&band.from)),
            field,
            "must begin at scores from 0 to 1",
        )?;
        check_rule(
            bands.last().is_some_and(|band| band.from == 0.0),
            field,
            "must end with a band that begins at 0",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sha256Digest;
    use crate::body::testing::{check, manifest};
    use serde_json::{Value, json};

    const FILES: [&str; 2] = ["component.wasm", "fixtures.jsonl"];

    fn good() -> Value {
        json!({
            "release_id": "v-1", "interface": "domesday:valuation@1.0.0", "profile": "pure",
            "snapshot": {"id": "p-1", "content_digest": Sha256Digest::of(b"")},
            "effective_date": "2026-01-01", "countries": ["england", "wales"],
            "property_types": ["D", "S", "T", "F"],
            "valuation_date": {"from": "2025-01-01", "to": "2026-06-30"},
            "limits": {"synchronous_batch_rows": 2500, "asynchronous_job_rows": 2500},
            "endpoints": ["/v3/simple-value", "/v3/value"],
            "fuel_per_row": 10_000_000, "memory_bytes": 16_777_216, "nominal_coverage": 0.8,
            "confidence_bands": [
                {"band": "high", "from": 0.7}, {"band": "medium", "from": 0.4}, {"band": "low", "from": 0.0},
            ],
            "fixtures": "fixtures.jsonl", "component": "component.wasm",
            "model": {"name": "hedonic", "version": "1.0.0", "parameters_sha256": Sha256Digest::of(b"p")},
            "engine": {"name": "wasmtime", "version": "48.0.8"},
        })
    }

    #[test]
    fn a_body_is_read_and_written_back() {
        let body: ValuationBody = serde_json::from_value(good()).unwrap();
        assert_eq!(serde_json::to_value(&body).unwrap(), good());
        body.check(&manifest(Kind::Valuation, "v-1", &FILES))
            .unwrap();
        let bands = [0.0, 0.39, 0.4, 0.7, 1.0].map(|score| body.band(score));
        let expected = [Band::Low, Band::Low, Band::Medium, Band::High, Band::High];
        assert_eq!(bands, expected.map(Some));
        assert_eq!(body.band(-0.1), None);
    }

    #[test]
    fn monotone_inputs_round_trip() {
        let mut declared = good();
        declared["monotone"] = json!([{"input": "floor_area_m2", "direction": "up"}, {"input": "energy_rating", "direction": "down"}]);
        let body: ValuationBody = serde_json::from_value(declared).unwrap();
        body.check(&manifest(Kind::Valuation, "v-1", &FILES))
            .unwrap();
        let written = serde_json::to_value(&body).unwrap();
        assert_eq!(
            written["monotone"][0],
            json!({"input": "floor_area_m2", "direction": "up", "tolerance": 0.0, "may_break": 0.0, "homes": 200})
        );
        assert_eq!(
            serde_json::from_value::<ValuationBody>(written).unwrap(),
            body
        );
    }

    #[test]
    fn each_rule_names_its_field() {
        let of = |field: &str, value: Value| {
            let manifest = manifest(Kind::Valuation, "v-1", &FILES);
            check::<ValuationBody>(good(), field, value, &manifest)
        };
        let rows = |rows: u32| json!({"synchronous_batch_rows": 1, "asynchronous_job_rows": rows});
        let bands = |high: f64, medium: f64, low: f64| json!([{"band": "high", "from": high}, {"band": "medium", "from": medium}, {"band": "low", "from": low}]);
        let broken = [
            ("release_id", json!("v-2")),
            ("interface", json!("domesday:valuation@1.0")),
            ("interface", json!("valuation@1.0.0")),
            ("interface", json!("1domesday:valuation@1.0.0")),
            ("interface", json!("domesDay:valuation@1.0.0")),
            ("interface", json!("domes_day:valuation@1.0.0")),
            ("interface", json!("domesday:Valuation@1.0.0")),
            ("interface", json!("domesday:valuation@1.0.x")),
            ("interface", json!("domesday:valuation@1.0.")),
            ("countries", json!([])),
            ("property_types", json!(["D", "D"])),
            ("endpoints", json!([])),
            (
                "valuation_date",
                json!({"from": "2026-01-02", "to": "2026-01-01"}),
            ),
            ("limits", rows(0)),
            ("limits", rows(2501)),
            ("fuel_per_row", json!(0)),
            ("memory_bytes", json!(0)),
            ("nominal_coverage", json!(0.0)),
            ("nominal_coverage", json!(1.0)),
            ("confidence_bands", bands(0.7, 0.4, 0.1)),
            ("confidence_bands", bands(0.4, 0.4, 0.0)),
            ("confidence_bands", bands(1.1, 0.4, 0.0)),
            ("confidence_bands", json!([{"band": "low", "from": 0.0}])),
            ("component", json!("other.wasm")),
            ("fixtures", json!("other.jsonl")),
            ("backtest", json!("backtest.json")),
            (
                "monotone",
                json!([{"input": "bedrooms", "direction": "up", "tolerance": 1.0}]),
            ),
            (
                "monotone",
                json!([{"input": "bedrooms", "direction": "up", "may_break": -0.1}]),
            ),
            (
                "monotone",
                json!([{"input": "bedrooms", "direction": "up", "homes": 0}]),
            ),
            (
                "monotone",
                json!([{"input": "bedrooms", "direction": "up"}, {"input": "bedrooms", "direction": "down"}]),
            ),
        ];
        for (field, value) in broken {
            assert_eq!(of(field, value.clone()), field, "{value}");
        }
        let other_team = json!("team-2:valuation-v3@10.0.1");
        assert_eq!(of("interface", other_team), "none");
        let model = |through: &str, parameters: bool| {
            let mut model = json!({"name": "hedonic", "version": "1.0.0",
                "learnt": {"fitted_through": "2025-06-30", "calibrated_through": through}});
            if parameters {
                model["parameters_sha256"] = json!(Sha256Digest::of(b"p"));
            }
            model
        };
        assert_eq!(of("model", model("2025-06-29", true)), "model");
        assert_eq!(of("model", model("2026-06-30", false)), "model");
        let engine = json!({"name": "wasmtime", "version": ""});
        assert_eq!(of("engine", engine), "model, engine");
        for (field, value) in [
            ("countries", json!(["scotland"])),
            ("endpoints", json!(["/v3/other"])),
            ("fuel_per_row", json!(-1)),
            ("surplus", json!(1)),
        ] {
            assert_eq!(of(field, value), "shape", "{field}");
        }
    }
}
