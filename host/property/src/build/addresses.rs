//! Rows of table `addresses`: everything that one postcode's addresses stand for.

use super::homes::Homes;
use super::join::Joined;
use super::keys::KeySeed;
use super::sort::{equal_range, groups};
use crate::store::address::{self, Entry};

/// The postcodes that have any address, and what the report says of addresses.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    postcodes: Vec<u64>,
    /// Distinct pairs of postcode and address.
    pub(crate) keys: u64,
}

/// Lists the postcodes and counts, into the homes' report, how many addresses are unambiguous.
pub(crate) fn list(homes: &mut Homes, sales: &Joined) -> Addresses {
    let of_homes = homes.keys.seeds().iter().map(|seed| seed.postcode);
    let mut postcodes: Vec<u64> = of_homes
        .chain(sales.other_addresses.iter().map(|(postcode, _)| *postcode))
        .collect();
    postcodes.dedup();
    postcodes.sort_unstable();
    postcodes.dedup();
    let (mut one, mut several) = (0, 0);
    for address in groups(homes.keys.seeds(), |seed| (seed.postcode, seed.fingerprint)) {
        match address {
            [seed] => one += u64::from(is_home(homes, seed.uprn)),
            _ => several += 1,
        }
    }
    homes.report.addresses_of_one_home = one;
    homes.report.addresses_ambiguous = several;
    let of_homes = groups(homes.keys.seeds(), |seed| (seed.postcode, seed.fingerprint)).count();
    Addresses {
        postcodes,
        keys: of_homes as u64 + sales.other_addresses.len() as u64,
    }
}

impl Addresses {
    /// One row for each postcode, in order.
    pub(crate) fn rows<'a>(
        &'a self,
        homes: &'a Homes,
        sales: &'a Joined,
    ) -> impl Iterator<Item = (u64, Vec<u8>)> + 'a {
        self.postcodes.iter().map(|&postcode| {
            let mut entries = Vec::new();
            let of_postcode = |seed: &KeySeed| seed.postcode;
            for seed in equal_range(homes.keys.seeds(), postcode, of_postcode) {
                let home = is_home(homes, seed.uprn);
                entries.push((
                    seed.fingerprint,
                    if home {
                        Entry::Home(seed.uprn)
                    } else {
                        Entry::Premises(seed.uprn)
                    },
                ));
            }
            let units = equal_range(homes.units.seeds(), postcode, of_postcode);
            for building in groups(units, |seed| seed.fingerprint) {
                let count = building
                    .iter()
                    .filter(|seed| is_home(homes, seed.uprn))
                    .count();
                if count > 0 {
                    entries.push((
                        building[0].fingerprint,
                        Entry::Units(u32::try_from(count).unwrap_or(u32::MAX)),
                    ));
                }
            }
            for (_, fingerprint) in
                equal_range(&sales.other_addresses, postcode, |(postcode, _)| *postcode)
            {
                entries.push((*fingerprint, Entry::OtherSale));
            }
            entries.sort_unstable();
            let mut row = Vec::new();
            entries
                .iter()
                .for_each(|(fingerprint, entry)| address::encode(*fingerprint, *entry, &mut row));
            (postcode, row)
        })
    }
}

fn is_home(homes: &Homes, uprn: u64) -> bool {
    homes
        .position(uprn)
        .is_some_and(|at| homes.properties[at].residential)
}
