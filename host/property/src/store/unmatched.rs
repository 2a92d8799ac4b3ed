//! Sales that met no property by their own address, each with its addresses. A sale takes ten
//! bytes, eight for each address, and eight for the home that a rule of one address found.
//!
//! No question reads them. An update does. A withdrawn sale may be the only reason why an address
//! counts as a home or as premises, or why two addresses contest a home.

use super::bytes::{Reader, put};

/// A sale without a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnmatchedSale {
    pub(crate) id: u64,
    /// Sold as type `O`, and not a flat by its address.
    pub(crate) other_type: bool,
    /// The home that its address matches by a rule of one address, even if another address matches
    /// it, too.
    pub(crate) alone: Option<u64>,
    /// Fingerprints of its address, and of the building around a dwelling.
    pub(crate) prints: Vec<u64>,
}

impl UnmatchedSale {
    /// Returns its address, by the first fingerprint, and the home that it matches by a rule of one
    /// address.
    pub(crate) fn met_alone(&self) -> Option<(u64, u64)> {
        Some((*self.prints.first()?, self.alone?))
    }
}

/// The largest number of stored addresses of one sale. An address has a few spellings.
const MOST_PRINTS: usize = 0x3FFF;
/// In the head: a home follows.
const ALONE: u64 = 1 << 15;

/// Packs the sales of a postcode, which come in order of id.
pub(crate) fn encode(sales: &[UnmatchedSale]) -> Vec<u8> {
    let mut out = Vec::new();
    for sale in sales {
        let prints = &sale.prints[..sale.prints.len().min(MOST_PRINTS)];
        put::<8>(&mut out, sale.id);
        let alone = if sale.alone.is_some() { ALONE } else { 0 };
        put::<2>(
            &mut out,
            alone | (prints.len() as u64) << 1 | u64::from(sale.other_type),
        );
        if let Some(uprn) = sale.alone {
            put::<8>(&mut out, uprn);
        }
        for &print in prints {
            put::<8>(&mut out, print);
        }
    }
    out
}

/// Reads back [`encode`], or returns `None` where the row is damaged.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<UnmatchedSale>> {
    let mut reader = Reader(bytes);
    let mut sales = Vec::new();
    while !reader.0.is_empty() {
        let id = reader.next::<8>()?;
        let head = reader.next::<2>()?;
        let alone = match head & ALONE {
            0 => None,
            _ => Some(reader.next::<8>()?),
        };
        let prints = (0..(head & !ALONE) >> 1)
            .map(|_| reader.next::<8>())
            .collect::<Option<_>>()?;
        sales.push(UnmatchedSale {
            id,
            other_type: head & 1 != 0,
            alone,
            prints,
        });
    }
    Some(sales)
}

/// Returns fingerprints, in order, of addresses with sales of type `O` and without a dwelling's
/// sale, there or in the building.
pub(crate) fn other_addresses(sales: &[UnmatchedSale]) -> Vec<u64> {
    let mut addresses: Vec<(u64, bool)> = sales
        .iter()
        .flat_map(|sale| sale.prints.iter().map(|print| (*print, sale.other_type)))
        .collect();
    addresses.sort_unstable();
    // A dwelling's entry (false) sorts before an other's (true).
    addresses
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|group| group[0].1)
        .map(|group| group[0].0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sale(id: u64, other_type: bool, prints: &[u64]) -> UnmatchedSale {
        UnmatchedSale {
            id,
            other_type,
            alone: (id == 2).then_some(77),
            prints: prints.to_vec(),
        }
    }

    #[test]
    fn sales_come_back_and_damage_is_noticed() {
        let sales = [
            sale(1, true, &[5, u64::MAX]),
            sale(2, false, &[]),
            sale(u64::MAX, false, &[9]),
        ];
        let bytes = encode(&sales);
        assert_eq!(decode(&bytes).unwrap(), sales);
        assert_eq!(decode(&bytes[..bytes.len() - 1]), None);
        assert_eq!(decode(&[]), Some(Vec::new()));
    }

    #[test]
    fn a_dwelling_sold_at_an_address_makes_it_a_home() {
        let sales = [
            sale(1, true, &[7, 5]),
            sale(2, true, &[5, 9]),
            sale(3, false, &[9]),
        ];
        assert_eq!(other_addresses(&sales), [5, 7]);
        assert_eq!(other_addresses(&sales[2..]), [0_u64; 0]);
    }
}
