//! Every sale that a model may be fitted or calibrated on.

use crate::model::{ExportedSale, merge_certificates};
use crate::store::cell::Cell;
use crate::store::dwelling::PackedProperty;
use crate::store::sale;
use crate::{Snapshot, SnapshotError};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;
use domesday_registers::records::Country;
use std::collections::BTreeSet;

impl Snapshot {
    /// Returns every placed category A sale of a dwelling in England and Wales, in order of day and
    /// id.
    ///
    /// One year's sales are held in memory at a time.
    ///
    /// # Errors
    /// Storage failed while the years were listed.
    pub fn export(&self) -> Result<Export<'_>, SnapshotError> {
        self.export_between(Day(i32::MIN), Day(i32::MAX))
    }

    /// Returns the same of the days from `first` to `last`, both included.
    ///
    /// # Errors
    /// As [`Snapshot::export`].
    pub fn export_between(&self, first: Day, last: Day) -> Result<Export<'_>, SnapshotError> {
        let mut years = BTreeSet::new();
        for row in self.sales.range::<u64>(..)? {
            years.insert(Cell::of_key(row?.0.value()).1);
        }
        // A year is looked into unless it lies wholly outside.
        let begins = |year| Day::from_ymd(year, 1, 1);
        years.retain(|&year| {
            begins(year).is_none_or(|day| day <= last)
                && begins(year + 1).is_none_or(|day| day > first)
        });
        Ok(Export {
            snapshot: self,
            days: (first, last),
            years: years.into_iter().collect::<Vec<_>>().into_iter(),
            year: Vec::new().into_iter(),
        })
    }

    fn exported_year(&self, year: i32) -> Result<Vec<ExportedSale>, SnapshotError> {
        let mut exported = Vec::new();
        for row in self.sales.range::<u64>(..)? {
            let (key, bytes) = row?;
            let (cell, of_year) = Cell::of_key(key.value());
            if of_year != year || matches!(cell, Cell::Unplaced(_)) {
                continue;
            }
            let block =
                sale::block(bytes.value()).ok_or(SnapshotError::Damaged { table: "sales" })?;
            for packed in block.filter(|packed| packed.standard()) {
                let sale = packed.unpack(cell, Day(i32::MAX), 0.0);
                let sale = sale.ok_or(SnapshotError::Damaged { table: "sales" })?;
                if sale.property_type != PropertyType::Other {
                    exported.extend(self.export_sale(sale)?);
                }
            }
        }
        exported.sort_unstable_by_key(|e| (e.sale.day, e.sale.id));
        Ok(exported)
    }

    fn export_sale(&self, sale: crate::Sale) -> Result<Option<ExportedSale>, SnapshotError> {
        let property = match sale.uprn {
            Some(uprn) => self.packed_property(uprn)?,
            None => None,
        };
        let (authority, country) = match &property {
            Some(property) => (property.authority, property.country),
            None => match self.postcode(&sale.postcode)? {
                Some(place) => (place.authority, place.country),
                None => return Ok(None),
            },
        };
        if !matches!(country, Country::England | Country::Wales) {
            return Ok(None);
        }
        let subject = property.and_then(|property| as_of(&property, sale.day));
        Ok(Some(ExportedSale {
            sale,
            authority,
            country,
            subject,
        }))
    }
}

/// Returns the facts on record strictly before a day.
fn as_of(property: &PackedProperty, day: Day) -> Option<crate::Attributes> {
    let known: Vec<_> = property
        .certificates
        .iter()
        .map(|certificate| certificate.attributes())
        .filter(|attributes| attributes.lodged < day)
        .collect();
    merge_certificates(known.iter().rev())
}

/// Iterates over [`Snapshot::export`].
#[derive(Debug)]
pub struct Export<'a> {
    snapshot: &'a Snapshot,
    days: (Day, Day),
    years: std::vec::IntoIter<i32>,
    year: std::vec::IntoIter<ExportedSale>,
}

impl Iterator for Export<'_> {
    type Item = Result<ExportedSale, SnapshotError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (first, last) = self.days;
            let within = |sold: &ExportedSale| (first..=last).contains(&sold.sale.day);
            if let Some(sale) = self.year.find(within) {
                return Some(Ok(sale));
            }
            match self.snapshot.exported_year(self.years.next()?) {
                Ok(sales) => self.year = sales.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
