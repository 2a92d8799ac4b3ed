//! The addresses of one postcode, as the provider gives them.

use crate::address::ListedAddress;
use domesday_property::{AddressList, ListedProperty};
use domesday_registers::records::Country;
use std::collections::BTreeMap;

/// The addresses that the provider lists for a postcode.
#[derive(Debug, Default)]
pub struct LookupResult {
    /// The addresses and the property that each means.
    pub address_list: AddressList,
    locations: BTreeMap<u64, Location>,
    homes: BTreeMap<u64, bool>,
}

/// The location of a property, as the provider states it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Location {
    /// National Grid, metres: the property's own point.
    pub point: Option<(i32, i32)>,
    /// The country.
    pub country: Option<Country>,
}

impl LookupResult {
    /// Returns the location of a property of the result.
    pub fn location(&self, uprn: u64) -> Location {
        self.locations.get(&uprn).copied().unwrap_or_default()
    }

    /// Returns whether a property is residential.
    pub fn residential(&self, uprn: u64) -> bool {
        self.homes.get(&uprn).copied().unwrap_or_default()
    }

    /// Merges all results of a postcode.
    ///
    /// A property with several results is a home only where every result says so. The order of the
    /// results makes no difference.
    pub(crate) fn of(mut all: Vec<ListedAddress>) -> LookupResult {
        all.sort_by_key(|address| (address.listed.uprn, address.point.is_none(), address.point));
        let mut locations: BTreeMap<u64, Location> = BTreeMap::new();
        let mut homes: BTreeMap<u64, bool> = BTreeMap::new();
        for address in &all {
            let location = locations.entry(address.listed.uprn).or_default();
            location.point = location.point.or(address.point);
            location.country = location.country.or(address.country);
            *homes.entry(address.listed.uprn).or_insert(true) &= address.listed.residential;
        }
        let listed: Vec<ListedProperty> = all
            .into_iter()
            .map(|address| ListedProperty {
                residential: homes.get(&address.listed.uprn).copied().unwrap_or_default(),
                ..address.listed
            })
            .collect();
        LookupResult {
            address_list: AddressList::new(&listed),
            locations,
            homes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_property::Resolution;
    use domesday_registers::address::keys_of_parts;

    fn address(uprn: u64, residential: bool, point: Option<(i32, i32)>) -> ListedAddress {
        ListedAddress {
            listed: ListedProperty {
                uprn,
                residential,
                keys: keys_of_parts("", "12", "MILL LANE", ""),
            },
            point,
            country: None,
        }
    }

    #[test]
    fn a_property_with_two_records_is_a_home_only_where_all_agree_in_any_order() {
        let all = [
            address(1, true, Some((5, 5))),
            address(1, false, Some((4, 9))),
            address(1, true, None),
        ];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let again = order.map(|at| {
                let ListedAddress { listed, point, .. } = &all[at];
                address(listed.uprn, listed.residential, *point)
            });
            let result = LookupResult::of(again.into());
            assert!(!result.residential(1) && !result.residential(2));
            assert_eq!(
                result.address_list.resolve("12", "Mill Lane"),
                Resolution::NotResidential
            );
            assert_eq!(result.location(1).point, Some((4, 9)));
        }
        let home = LookupResult::of(vec![address(1, true, None), address(1, true, Some((5, 5)))]);
        assert!(home.residential(1));
        assert_eq!(
            home.address_list.resolve("12", "Mill Ln"),
            Resolution::Exact(1)
        );
        assert_eq!(home.location(1).point, Some((5, 5)));
    }
}
