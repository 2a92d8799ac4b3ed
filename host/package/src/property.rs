//! The body of a property snapshot's manifest.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::BodyError;
use crate::body::{Body, check_listed, check_rule};
use crate::{FilePath, Kind, Manifest, PackageId, Sha256Digest, date};

/// The sources and contents of a property snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PropertyBody {
    /// The snapshot's id, which is the package's.
    pub snapshot_id: PackageId,
    /// Digest over the snapshot's rows in key order. Releases pin this one: a rebuild that gives
    /// the same rows agrees on it, while the file's own digest protects one copy.
    pub content_digest: Sha256Digest,
    /// The version of the file's layout.
    pub schema: u32,
    /// The database file.
    pub database: FilePath,
    /// The register files that it was built from, in the order read.
    pub sources: Vec<RegisterFile>,
    /// True if every household in it is invented.
    pub synthetic: bool,
    /// The date of the latest sale, absent where there is none.
    #[serde(
        with = "optional_date",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub latest_sale: Option<NaiveDate>,
    /// Rows by table name.
    pub counts: BTreeMap<String, u64>,
}

/// One register file that went into a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterFile {
    /// The register or the file's own name, without a directory.
    pub name: String,
    /// SHA-256 of the file as read.
    pub sha256: Sha256Digest,
    /// Rows read from it, rejected ones included.
    pub rows: u64,
}

impl Body for PropertyBody {
    const KIND: Kind = Kind::Property;

    fn check(&self, manifest: &Manifest) -> Result<(), BodyError> {
        check_rule(
            self.snapshot_id == manifest.id,
            "snapshot_id",
            "must be the package's id",
        )?;
        check_rule(self.schema > 0, "schema", "must be at least 1")?;
        BodyError::check_sources(self.sources.iter().map(|source| source.name.as_str()))?;
        check_listed(manifest, "database", &self.database)
    }
}

/// A date that may be absent, in the one form of [`date`].
mod optional_date {
    use super::{NaiveDate, date};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Strict(#[serde(with = "date")] NaiveDate);

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<NaiveDate>, D::Error> {
        Strict::deserialize(from).map(|strict| Some(strict.0))
    }

    pub(super) fn serialize<S: Serializer>(
        value: &Option<NaiveDate>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(Strict).serialize(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::testing::{check, manifest};
    use serde_json::{Value, json};

    fn good() -> Value {
        json!({
            "snapshot_id": "p-1", "content_digest": Sha256Digest::of(b""), "schema": 1,
            "database": "snapshot.redb", "synthetic": true, "latest_sale": "2025-12-31",
            "sources": [{"name": "pp-2025.csv", "sha256": Sha256Digest::of(b"a"), "rows": 3}],
            "counts": {"sales": 3},
        })
    }

    #[test]
    fn a_body_is_read_and_written_back() {
        let body: PropertyBody = serde_json::from_value(good()).unwrap();
        assert_eq!(serde_json::to_value(&body).unwrap(), good());
        body.check(&manifest(Kind::Property, "p-1", &["snapshot.redb"]))
            .unwrap();
        let mut without = good();
        without.as_object_mut().unwrap().remove("latest_sale");
        let body: PropertyBody = serde_json::from_value(without.clone()).unwrap();
        assert_eq!(body.latest_sale, None);
        assert_eq!(serde_json::to_value(&body).unwrap(), without);
    }

    #[test]
    fn each_rule_names_its_field() {
        let of = |field: &str, value: Value| {
            check::<PropertyBody>(
                good(),
                field,
                value,
                &manifest(Kind::Property, "p-1", &["snapshot.redb"]),
            )
        };
        assert_eq!(of("snapshot_id", json!("p-2")), "snapshot_id");
        assert_eq!(of("schema", json!(0)), "schema");
        assert_eq!(of("sources", json!([])), "sources");
        let source =
            |name: &str| json!({"name": name, "sha256": Sha256Digest::of(b"a"), "rows": 3});
        for (names, field) in [
            (["a", "b"], "none"),
            (["a/b", "b"], "sources"),
            (["a", "a/b"], "sources"),
            (["a", "a\\b"], "sources"),
            (["", "b"], "sources"),
        ] {
            let sources: Vec<Value> = names.into_iter().map(source).collect();
            assert_eq!(of("sources", json!(sources)), field, "{names:?}");
        }
        assert_eq!(of("database", json!("other.redb")), "database");
        assert_eq!(of("latest_sale", Value::Null), "shape");
        assert_eq!(of("latest_sale", json!("2025-1-1")), "shape");
        assert_eq!(of("surplus", json!(1)), "shape");
    }
}
