//! The truth behind the registers, for judging a model. No importer may read it.

use super::Sink;
use super::price_paid::SaleListing;
use crate::dwelling::Dwelling;
use crate::geography::Authority;
use crate::lodgement::Lodgement;
use crate::manifest::Manifest;
use crate::sales::Sale;
use crate::spelling::Spelling;
use crate::{SyntheticError, World};
use csv::QuoteStyle;
use std::path::Path;

/// Columns of truth.csv.
const PROPERTIES: [&str; 26] = [
    "uprn",
    "authority",
    "postcode",
    "property_type",
    "subtype",
    "built",
    "tenure",
    "lease_start",
    "lease_term_years",
    "floor_area_m2",
    "extended_on",
    "extension_m2",
    "habitable_rooms",
    "floor_level",
    "energy_score",
    "location_effect",
    "quality_effect",
    "condition_effect",
    "reference_date",
    "true_value_gbp",
    "certificates",
    "certificate_area",
    "certificate_spelling",
    "in_address_file",
    "easting",
    "northing",
];

/// Columns of truth-sales.csv.
const SALES: [&str; 8] = [
    "transaction_id",
    "uprn",
    "date",
    "price_gbp",
    "true_value_gbp",
    "circumstance",
    "certificate_by_then",
    "standing",
];

/// truth.csv and truth-sales.csv.
pub(crate) struct Truth {
    properties: Sink,
    sales: Sink,
}

/// The registers' records of a dwelling.
pub(crate) struct RegisterRecords<'a> {
    pub(crate) lodgements: &'a [Lodgement],
    pub(crate) spelling: Option<Spelling>,
    pub(crate) in_address_file: bool,
}

impl Truth {
    /// Begins both files.
    pub(crate) fn create(folder: &Path) -> Result<Truth, SyntheticError> {
        Ok(Truth {
            properties: Sink::create(folder, "truth.csv", QuoteStyle::Necessary, &PROPERTIES)?,
            sales: Sink::create(folder, "truth-sales.csv", QuoteStyle::Necessary, &SALES)?,
        })
    }

    /// Writes the true facts of a dwelling, in its last condition.
    pub(crate) fn property(
        &mut self,
        world: &World,
        authority: &Authority,
        dwelling: &Dwelling,
        condition: f64,
        registered: &RegisterRecords<'_>,
    ) -> Result<(), SyntheticError> {
        let value = dwelling.value(&authority.locale, world.through, condition);
        let text = |there: Option<String>| there.unwrap_or_default();
        self.properties.row([
            dwelling.uprn.to_string(),
            authority.code.clone(),
            dwelling.address.postcode.clone(),
            dwelling.kind.letter().to_owned(),
            dwelling.subtype().to_owned(),
            dwelling.built.to_string(),
            if dwelling.lease.is_some() {
                "leasehold"
            } else {
                "freehold"
            }
            .to_owned(),
            text(dwelling.lease.map(|lease| lease.start.to_string())),
            text(dwelling.lease.map(|lease| lease.years.to_string())),
            dwelling.area_m2.to_string(),
            text(dwelling.extension.map(|(day, _)| day.to_string())),
            text(dwelling.extension.map(|(_, added)| added.to_string())),
            dwelling.rooms.to_string(),
            text(dwelling.storey.map(|(storey, _)| storey.to_string())),
            dwelling.fabric.score.to_string(),
            format!("{:.4}", dwelling.location),
            format!("{:.4}", dwelling.quality),
            format!("{condition:.4}"),
            world.through.to_string(),
            format!("{value:.0}"),
            registered.lodgements.len().to_string(),
            registered
                .lodgements
                .last()
                .map_or("", |last| last.area.name())
                .to_owned(),
            registered.spelling.map_or("", Spelling::name).to_owned(),
            if registered.in_address_file { "Y" } else { "N" }.to_owned(),
            dwelling.at.easting.to_string(),
            dwelling.at.northing.to_string(),
        ])
    }

    /// Writes the true facts of a sale.
    pub(crate) fn sale(
        &mut self,
        id: &str,
        dwelling: &Dwelling,
        sale: &Sale,
        standing: SaleListing,
        lodgements: &[Lodgement],
    ) -> Result<(), SyntheticError> {
        let certified = lodgements.iter().any(|lodged| lodged.day <= sale.day);
        self.sales.row([
            id,
            &dwelling.uprn.to_string(),
            &sale.day.to_string(),
            &sale.price.to_string(),
            &format!("{:.0}", sale.worth),
            sale.circumstance.name(),
            if certified { "Y" } else { "N" },
            standing.name(),
        ])
    }

    /// Ends both files.
    pub(crate) fn finish(self, manifest: &mut Manifest) -> Result<(), SyntheticError> {
        self.properties.finish(manifest)?;
        self.sales.finish(manifest)
    }
}
