use super::*;
use crate::evidence::sale_view::tests::subject;
use crate::evidence::{EvidenceQuery, EvidenceSource, SnapshotEvidence};
use domesday_property::Snapshot;
use domesday_registers::codes::PropertyType;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Packs a sale as its id and eight numbers that tell its place and price.
fn pack(sale: &Sale) -> [u64; SALE_NUMBERS] {
    [sale.id, sale.price_gbp, 3, 4, 5, 6, 7, 8, 9]
}

fn digest_of(answer: serde_json::Value) -> String {
    let answer: EvidenceResponse = serde_json::from_value(answer).unwrap();
    digest(&answer, pack).0.to_string()
}

/// Others compute the same from the description of the format.
#[test]
fn a_digest_is_sha_256_of_the_numbers_of_an_answer() {
    let numbers = |numbers: &[u64]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        hex::encode(Sha256::digest(bytes))
    };
    let figures = json!({"to_month": -1, "sales_count": 7, "median_price_gbp": 2.5,
        "price_per_sqm_gbp": null, "price_change_pct": -0.0});
    let index = json!({"level": "region", "points": [[5, 1.5], [6, 2.0]]});
    for (answer, expected) in [
        (json!({"answer": "sales", "with": []}), vec![1]),
        (json!({"answer": "index", "with": null}), vec![2]),
        (
            json!({"answer": "index", "with": index}),
            vec![2, 3, 5, 1.5_f64.to_bits(), 6, 2.0_f64.to_bits()],
        ),
        (json!({"answer": "figures", "with": null}), vec![3]),
        (
            json!({"answer": "figures", "with": figures}),
            vec![
                3,
                u64::MAX,
                7,
                1,
                2.5_f64.to_bits(),
                0,
                0,
                1,
                (-0.0_f64).to_bits(),
            ],
        ),
        (
            json!({"answer": "refused", "with": "too_many_questions"}),
            vec![4, 0],
        ),
        (
            json!({"answer": "refused", "with": "too_many_sales"}),
            vec![4, 1],
        ),
        (
            json!({"answer": "refused", "with": "invalid_question"}),
            vec![4, 2],
        ),
    ] {
        assert_eq!(digest_of(answer.clone()), numbers(&expected), "{answer}");
    }
    let sales: Vec<u64> = (0..2 * SALE_NUMBERS as u64).collect();
    let (found, ids) = digest_sales(&sales);
    assert_eq!(found.to_string(), numbers(&[&[1], &sales[..]].concat()));
    assert_eq!(ids.0, [0, 9]);
}

/// A snapshot computes the digest of an answer once. Points that were copied have it computed.
#[test]
fn a_kept_digest_is_that_of_the_points_alone() {
    let folder = "../../releases/property/synthetic-2026-09/snapshot.redb";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let evidence = SnapshotEvidence::new(Arc::new(Snapshot::open(&file).unwrap()));
    let mut subject = subject();
    subject.authority = "E06990001".into();
    let (mut digests, mut answers) = (BTreeSet::new(), 0);
    for kind in [None, Some(PropertyType::Flat), Some(PropertyType::Detached)] {
        for since in [0, 400, 480, 620, 640, 650] {
            let question = EvidenceQuery::PriceIndex { kind, since };
            let answer = evidence.ask(&subject, &question).unwrap();
            let EvidenceResponse::Index(Some(series)) = &answer else {
                panic!("the authority has no index");
            };
            let copied = IndexSeries {
                level: series.level,
                points: series.points.to_vec().into(),
            };
            let expected = digest(&EvidenceResponse::Index(Some(copied)), pack).0;
            for _ in 0..2 {
                assert_eq!(digest(&answer, pack).0, expected, "{question:?}");
            }
            digests.insert(expected.to_string());
            answers += 1;
        }
    }
    assert!(digests.len() > 3 && answers == 18, "{}", digests.len());
}

/// Each kind of answer has another digest, and so has each absent part.
#[test]
fn no_two_answers_share_a_digest() {
    let levels = [
        "postcode_sector",
        "postcode_district",
        "local_authority",
        "region",
        "country",
    ];
    let indices =
        levels.map(|level| json!({"answer": "index", "with": {"level": level, "points": []}}));
    let figures = [json!(null), json!(0.0)].map(|change| {
        json!({"answer": "figures", "with": {"to_month": 0, "sales_count": 0,
            "median_price_gbp": null, "price_per_sqm_gbp": null, "price_change_pct": change}})
    });
    let digests: BTreeSet<_> = indices.into_iter().chain(figures).map(digest_of).collect();
    assert_eq!(digests.len(), 7);
}

#[test]
fn an_exchange_comes_back_from_its_bytes_and_a_cut_one_does_not() {
    let exchange = DigestedExchange {
        question: EvidenceQuery::OwnSales,
        digest: AnswerDigest([7; 32]),
        sales: SaleIds(vec![1, u64::MAX, 1 << 40]),
    };
    let text = serde_json::to_string(&exchange.sales.0).unwrap();
    assert_eq!(text, "[1,18446744073709551615,1099511627776]");
    let mut bytes = Vec::new();
    exchange
        .sales
        .serialize(&mut serde_json::Serializer::new(&mut bytes))
        .unwrap();
    let listed: Vec<u8> = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(listed.len(), 24);
    let read = |bytes: &[u8]| {
        let deserializer: serde::de::value::BytesDeserializer<'_, serde::de::value::Error> =
            serde::de::value::BytesDeserializer::new(bytes);
        SaleIds::deserialize(deserializer)
    };
    assert_eq!(read(&listed).unwrap(), exchange.sales);
    assert!(
        read(&listed[1..])
            .unwrap_err()
            .to_string()
            .contains("8 bytes")
    );
}
