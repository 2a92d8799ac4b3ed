//! The addresses of one postcode from another list, read by the rules of the snapshot.

use super::resolve::{decide, names};
use crate::model::Resolution;
use crate::store::address::Entry;
use domesday_registers::AddressKey;
use std::collections::{BTreeMap, BTreeSet};

/// Addresses of one postcode from a list other than the snapshot's. The snapshot's own rules decide
/// their meaning ([`crate::Snapshot::resolve`]), so an address means the same in every list.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AddressList {
    entries: BTreeMap<AddressKey, Vec<Entry>>,
}

/// A property that a list names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProperty {
    /// Unique Property Reference Number.
    pub uprn: u64,
    /// Somebody lives there.
    pub residential: bool,
    /// Every key that it may be asked for by.
    pub keys: Vec<AddressKey>,
}

impl AddressList {
    /// Returns a list of these properties, in any order. A property may occur several times.
    pub fn new<'a>(properties: impl IntoIterator<Item = &'a ListedProperty>) -> AddressList {
        let mut keys: BTreeSet<(AddressKey, Entry)> = BTreeSet::new();
        let mut units: BTreeSet<(AddressKey, u64)> = BTreeSet::new();
        for property in properties {
            for key in &property.keys {
                let entry = match property.residential {
                    true => Entry::Home(property.uprn),
                    false => Entry::Premises(property.uprn),
                };
                keys.insert((key.clone(), entry));
                if key.has_unit() && property.residential {
                    units.insert((key.building(), property.uprn));
                }
            }
        }
        let mut entries: BTreeMap<AddressKey, Vec<Entry>> = BTreeMap::new();
        for (key, entry) in keys {
            entries.entry(key).or_default().push(entry);
        }
        let mut buildings: BTreeMap<AddressKey, u32> = BTreeMap::new();
        for (building, _) in units {
            *buildings.entry(building).or_default() += 1;
        }
        for (building, homes) in buildings {
            entries
                .entry(building)
                .or_default()
                .push(Entry::Units(homes));
        }
        AddressList { entries }
    }

    /// Resolves an address of the postcode, as [`crate::Snapshot::resolve`] does.
    pub fn resolve(&self, building: &str, street: &str) -> Resolution {
        decide(self.entries(building, street))
    }

    /// Returns whether an address is one of a property's own, as [`crate::Snapshot::has_address`]
    /// does.
    pub fn has_address(&self, uprn: u64, building: &str, street: &str) -> bool {
        names(self.entries(building, street), uprn)
    }

    /// Returns how many addresses are listed.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether nothing is listed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn entries(&self, building: &str, street: &str) -> impl Iterator<Item = Entry> + '_ {
        AddressKey::of_request(building, street)
            .and_then(|key| self.entries.get(&key))
            .into_iter()
            .flatten()
            .copied()
    }
}
