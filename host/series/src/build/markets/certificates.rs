//! Floor areas and rooms of homes, from energy certificates, found by address.

use super::MarketsError;
use super::exclusions;
use super::postcodes::pack;
use super::sources::{Kind, Sources};
use domesday_registers::address::{AddressKey, keys_of_lines, keys_of_parts};
use domesday_registers::certificates::CertificateFile;
use domesday_registers::records::PricePaid;
use domesday_registers::sources::Verdict;
use domesday_registers::{Day, Postcode};
use sha2::{Digest, Sha256};

/// Floor areas, in square metres, outside which a certificate's figure is a slip of the pen.
const PLAUSIBLE_M2: std::ops::RangeInclusive<f64> = 10.0..=2_000.0;

/// The facts of a sale that certificates state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CertificateMeasures {
    /// Hundredths of a square metre and the day on which they came on record.
    pub(crate) floor_area: Option<(u32, Day)>,
    /// Habitable rooms and the day on which they came on record.
    pub(crate) rooms: Option<(u8, Day)>,
}

/// One certificate of one home, ordered by home, lodgement and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LodgedCertificate {
    uprn: u64,
    day: i32,
    /// Hundredths of a square metre; 0 for none.
    floor_area: u32,
    /// 0 for none.
    rooms: u8,
}

/// Every home with a certificate, and the addresses that mean it.
#[derive(Debug, Default)]
pub(crate) struct Certificates {
    /// In order.
    lodged: Vec<LodgedCertificate>,
    /// Fingerprint of a postcode and address, and the home; in order.
    keys: Vec<(u64, u64)>,
}

/// Reads the certificates.
pub(crate) fn read(sources: &mut Sources<'_>) -> Result<Certificates, MarketsError> {
    let mut lodged = Vec::new();
    let mut keys = Vec::new();
    sources.read::<CertificateFile>(Kind::Certificates, |_, row| {
        let uprn = match exclusions::uprn(&row) {
            Ok(uprn) => uprn,
            Err(reason) => return Verdict::LeftOut(reason, ()),
        };
        let floor_area = row.floor_area_m2.filter(|area| PLAUSIBLE_M2.contains(area));
        // At most 200,000.
        let floor_area = floor_area.map_or(0, |area| (area * 100.0).round() as u32);
        let rooms = row
            .habitable_rooms
            .and_then(|rooms| u8::try_from(rooms).ok());
        for key in keys_of_lines(&row.lines, &row.town, &row.postcode) {
            keys.push((fingerprint(&row.postcode, &key), uprn));
        }
        lodged.push(LodgedCertificate {
            uprn,
            day: row.lodged.0,
            floor_area,
            rooms: rooms.unwrap_or(0),
        });
        Verdict::Kept
    })?;
    Ok(Certificates::new(lodged, keys))
}

impl Certificates {
    fn new(mut lodged: Vec<LodgedCertificate>, mut keys: Vec<(u64, u64)>) -> Certificates {
        lodged.sort_unstable();
        keys.sort_unstable();
        keys.dedup();
        Certificates { lodged, keys }
    }

    /// Returns the facts of the sold home, if its address matches exactly one home.
    pub(crate) fn of_sale(&self, sale: &PricePaid) -> CertificateMeasures {
        let Some(postcode) = sale.postcode.as_ref().filter(|_| !self.keys.is_empty()) else {
            return CertificateMeasures::default();
        };
        let keys = keys_of_parts(&sale.saon, &sale.paon, &sale.street, &sale.locality);
        let mut home = None;
        for key in &keys {
            let print = fingerprint(postcode, key);
            let from = self.keys.partition_point(|(known, _)| *known < print);
            for (_, uprn) in self.keys[from..]
                .iter()
                .take_while(|(known, _)| *known == print)
            {
                if *home.get_or_insert(*uprn) != *uprn {
                    return CertificateMeasures::default();
                }
            }
        }
        home.map_or_else(CertificateMeasures::default, |uprn| {
            self.of_home(uprn, sale.day)
        })
    }

    /// Takes the last certificate with the figure that was lodged by the day of sale, or else the
    /// first one lodged afterwards.
    fn of_home(&self, uprn: u64, sold: Day) -> CertificateMeasures {
        let from = self.lodged.partition_point(|lodged| lodged.uprn < uprn);
        let upto = self.lodged.partition_point(|lodged| lodged.uprn <= uprn);
        let lodged = &self.lodged[from..upto];
        let by_day = lodged.partition_point(|lodged| lodged.day <= sold.0);
        let choose = |has: &dyn Fn(&LodgedCertificate) -> bool| {
            let before = lodged[..by_day].iter().rev().find(|lodged| has(lodged));
            before
                .or_else(|| lodged[by_day..].iter().find(|lodged| has(lodged)))
                .copied()
        };
        CertificateMeasures {
            floor_area: choose(&|lodged| lodged.floor_area > 0)
                .map(|lodged| (lodged.floor_area, Day(lodged.day))),
            rooms: choose(&|lodged| lodged.rooms > 0).map(|lodged| (lodged.rooms, Day(lodged.day))),
        }
    }
}

/// Returns eight bytes that identify an address within a postcode.
fn fingerprint(postcode: &Postcode, key: &AddressKey) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(pack(postcode).to_be_bytes());
    hasher.update(key.as_str());
    first_eight(&hasher.finalize())
}

/// Returns the first eight bytes of a digest as a number.
pub(crate) fn first_eight(digest: &[u8]) -> u64 {
    digest
        .iter()
        .take(8)
        .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse_iso(text).unwrap()
    }

    fn certificate(uprn: u64, on: &str, floor_area: u32, rooms: u8) -> LodgedCertificate {
        LodgedCertificate {
            uprn,
            day: day(on).0,
            floor_area,
            rooms,
        }
    }

    #[test]
    fn the_last_certificate_by_the_day_of_sale_counts_else_the_first_after_it() {
        let known = Certificates::new(
            vec![
                certificate(2, "2020-05-01", 9_900, 0),
                certificate(1, "2012-01-01", 8_000, 4),
                certificate(1, "2018-01-01", 8_450, 0),
                certificate(1, "2022-01-01", 9_000, 5),
            ],
            Vec::new(),
        );
        let of = |uprn, on| known.of_home(uprn, day(on));
        let sold = of(1, "2018-01-01");
        assert_eq!(sold.floor_area, Some((8_450, day("2018-01-01"))));
        assert_eq!(
            sold.rooms,
            Some((4, day("2012-01-01"))),
            "each figure by itself"
        );
        assert_eq!(
            of(1, "2010-06-01").floor_area,
            Some((8_000, day("2012-01-01")))
        );
        assert_eq!(of(2, "2020-05-02").rooms, None);
        assert_eq!(of(3, "2020-05-02"), CertificateMeasures::default());
    }
}
