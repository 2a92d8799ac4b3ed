//! Digests of the answers that a release was given. A receipt proves its evidence by them.
//!
//! A digest covers the answer as numbers of 64 bits. Those of a sale are the numbers that interface
//! 1.1 shows a release. That interface is frozen, so the digest of an answer depends neither on the
//! program's version nor on the layout of a snapshot's file. A search of such a release costs no
//! second encoding, since the host has these numbers in its hand.

use super::{AreaLevel, EvidenceQuery, EvidenceResponse, Figures, IndexSeries, Refusal, Sale};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;

/// Numbers of a packed sale.
pub const SALE_NUMBERS: usize = 9;
/// Bytes of a sale's id.
const ID_BYTES: usize = 8;

/// The first number of an answer with sales.
const SALES: u64 = 1;
/// The first number of an answer with an index.
const INDEX: u64 = 2;
/// The first number of an answer with figures.
const FIGURES: u64 = 3;
/// The first number of a refusal.
const REFUSED: u64 = 4;

/// Packs a sale as interface 1.1 does.
pub type PackSale = fn(&Sale) -> [u64; SALE_NUMBERS];

/// SHA-256 of the numbers of an answer, each as 8 bytes, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AnswerDigest([u8; 32]);

/// One question with the digest of its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DigestedExchange {
    /// The query of the release.
    pub question: EvidenceQuery,
    /// The digest of the response.
    pub digest: AnswerDigest,
    /// The sales of the response.
    pub sales: SaleIds,
}

/// The ids of the sales of an answer, in its order. They are written as bytes, eight an id and the
/// lowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaleIds(pub Vec<u64>);

/// Digests the answers of one valuation, in the order of the questions.
pub(crate) struct AnswerDigests {
    pack: PackSale,
    exchanges: Vec<DigestedExchange>,
}

impl AnswerDigests {
    pub(crate) fn new(pack: PackSale) -> AnswerDigests {
        AnswerDigests {
            pack,
            exchanges: Vec::new(),
        }
    }

    /// Adds a question with its answer.
    pub(crate) fn add(&mut self, question: EvidenceQuery, answer: &EvidenceResponse) {
        let (digest, sales) = digest(answer, self.pack);
        self.exchanges.push(DigestedExchange {
            question,
            digest,
            sales,
        });
    }

    /// Adds a search with its sales as they are packed already.
    pub(crate) fn add_packed(&mut self, question: EvidenceQuery, sales: &[u64]) {
        let (digest, sales) = digest_sales(sales);
        self.exchanges.push(DigestedExchange {
            question,
            digest,
            sales,
        });
    }

    pub(crate) fn into_exchanges(self) -> Vec<DigestedExchange> {
        self.exchanges
    }
}

/// Returns the digest of an answer, and the ids of its sales.
pub(crate) fn digest(answer: &EvidenceResponse, pack: PackSale) -> (AnswerDigest, SaleIds) {
    match answer {
        EvidenceResponse::Sales(sales) => {
            let numbers: Vec<u64> = sales.iter().flat_map(pack).collect();
            digest_sales(&numbers)
        }
        EvidenceResponse::Index(series) => (digest_index(series.as_ref()), SaleIds::default()),
        EvidenceResponse::Figures(found) => (digest_figures(found.as_ref()), SaleIds::default()),
        EvidenceResponse::Refused(refusal) => {
            let reason = match refusal {
                Refusal::TooManyQuestions => 0,
                Refusal::TooManySales => 1,
                Refusal::InvalidQuestion => 2,
            };
            (digest_numbers(REFUSED, &[reason]), SaleIds::default())
        }
    }
}

fn digest_sales(numbers: &[u64]) -> (AnswerDigest, SaleIds) {
    let ids = numbers.iter().step_by(SALE_NUMBERS).copied().collect();
    (digest_numbers(SALES, numbers), SaleIds(ids))
}

fn digest_index(series: Option<&IndexSeries>) -> AnswerDigest {
    let Some(series) = series else {
        return digest_numbers(INDEX, &[]);
    };
    let level = match series.level {
        AreaLevel::PostcodeSector => 0,
        AreaLevel::PostcodeDistrict => 1,
        AreaLevel::LocalAuthority => 2,
        AreaLevel::Region => 3,
        AreaLevel::Country => 4,
    };
    // Homes of one authority and type share the answer, and so its digest.
    let digest = series.points.digest(level, |points| {
        let points = points.iter();
        let points = points.flat_map(|(month, value)| [number(*month), value.to_bits()]);
        let numbers: Vec<u64> = std::iter::once(u64::from(level)).chain(points).collect();
        digest_numbers(INDEX, &numbers).0
    });
    AnswerDigest(digest)
}

fn digest_figures(figures: Option<&Figures>) -> AnswerDigest {
    let Some(figures) = figures else {
        return digest_numbers(FIGURES, &[]);
    };
    let values = [
        figures.median_price_gbp,
        figures.price_per_sqm_gbp,
        figures.price_change_pct,
    ];
    let [median, per_sqm, change] =
        values.map(|value| [u64::from(value.is_some()), value.unwrap_or(0.0).to_bits()]);
    let counts = [number(figures.to_month), u64::from(figures.sales_count)];
    digest_numbers(FIGURES, &[counts, median, per_sqm, change].concat())
}

/// Returns a month as a number: the bits of its 64-bit integer.
fn number(month: i32) -> u64 {
    i64::from(month).cast_unsigned()
}

fn digest_numbers(kind: u64, numbers: &[u64]) -> AnswerDigest {
    let mut hash = Sha256::new();
    hash.update(kind.to_le_bytes());
    if cfg!(target_endian = "little") {
        hash.update(bytemuck::cast_slice::<u64, u8>(numbers));
    } else {
        for number in numbers {
            hash.update(number.to_le_bytes());
        }
    }
    AnswerDigest(hash.finalize().into())
}

impl fmt::Display for AnswerDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for AnswerDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for AnswerDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl Serialize for SaleIds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|id| id.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for AnswerDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AnswerDigest, D::Error> {
        let bytes = deserializer.deserialize_byte_buf(Bytes)?;
        let sized = bytes.try_into();
        sized
            .map(AnswerDigest)
            .map_err(|_| D::Error::custom("a digest has 32 bytes"))
    }
}

impl<'de> Deserialize<'de> for SaleIds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SaleIds, D::Error> {
        let bytes = deserializer.deserialize_byte_buf(Bytes)?;
        let (ids, rest) = bytes.as_chunks::<ID_BYTES>();
        if !rest.is_empty() {
            return Err(D::Error::custom("the id of a sale has 8 bytes"));
        }
        Ok(SaleIds(
            ids.iter().map(|id| u64::from_le_bytes(*id)).collect(),
        ))
    }
}

/// Reads bytes.
struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
        Ok(bytes)
    }
}

#[cfg(test)]
#[path = "digests_tests.rs"]
mod tests;
