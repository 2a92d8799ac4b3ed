//! HM Land Registry price paid data: 16 columns, no header, every cell quoted.

use super::Sink;
use crate::draw::Draw;
use crate::dwelling::Dwelling;
use crate::geography::Authority;
use crate::manifest::{Manifest, PlantedFaults};
use crate::market::Kind;
use crate::sales::Sale;
use crate::{SyntheticError, World};
use chrono::TimeDelta;
use csv::QuoteStyle;
use std::path::Path;

/// The complete file, and the file of the month's changes.
pub(crate) struct PricePaid {
    complete: Sink,
    monthly: Sink,
}

/// The file that lists a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaleListing {
    /// The complete file, with the true price.
    Complete,
    /// In the monthly file alone.
    Added,
    /// In the complete file with a wrong price, which the monthly file puts right.
    Changed,
}

impl SaleListing {
    /// Returns the name in truth-sales.csv.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SaleListing::Complete => "complete",
            SaleListing::Added => "added_by_month",
            SaleListing::Changed => "changed_by_month",
        }
    }
}

/// Shares of sales after which a malformed row of each sort, a duplicate, a change or a deletion is
/// planted.
const MALFORMED: f64 = 1.0 / 5_000.0;
const DUPLICATE: f64 = 1.0 / 2_500.0;
const CHANGE: f64 = 1.0 / 1_500.0;
const DELETION: f64 = 1.0 / 2_500.0;
/// Share of the last month's sales that only the monthly file has.
const LATE: f64 = 0.5;
/// Shares of sales with these flaws.
const WITHOUT_POSTCODE: f64 = 0.002;
const UNKNOWN_TENURE: f64 = 0.0015;
const OTHER_TYPE: f64 = 0.01;

type Row = [String; 16];

/// Gives transactions of one authority their identifiers.
pub(crate) struct Ids {
    authority: u32,
    next: u64,
}

impl Ids {
    /// Returns the identifiers of an authority.
    pub(crate) fn of(authority: u32) -> Ids {
        Ids { authority, next: 1 }
    }

    /// Returns the next one. Its first group is not hexadecimal, so no real transaction has it.
    fn next(&mut self) -> String {
        let id = format!(
            "{{SYNTH000-{:04X}-0000-0000-{:012X}}}",
            self.authority, self.next
        );
        self.next += 1;
        id
    }
}

impl PricePaid {
    /// Begins both files.
    pub(crate) fn create(folder: &Path) -> Result<PricePaid, SyntheticError> {
        Ok(PricePaid {
            complete: Sink::create(folder, "price-paid.csv", QuoteStyle::Always, &[])?,
            monthly: Sink::create(
                folder,
                "price-paid-monthly-change.csv",
                QuoteStyle::Always,
                &[],
            )?,
        })
    }

    /// Registers one sale, with the faults that the draw plants. Returns the transaction's
    /// identifier and its file.
    #[allow(
        clippy::too_many_arguments,
        reason = "one sale, where it happened, and where it goes"
    )]
    pub(crate) fn register(
        &mut self,
        world: &World,
        authority: &Authority,
        dwelling: &Dwelling,
        sale: &Sale,
        ids: &mut Ids,
        planted: &mut PlantedFaults,
        draw: &mut Draw,
    ) -> Result<(String, SaleListing), SyntheticError> {
        let faults = &mut planted.price_paid;
        let mut row = plain(authority, dwelling, sale, ids.next());
        if draw.chance(WITHOUT_POSTCODE) {
            faults.postcode_missing += 1;
            row[3].clear();
        }
        if draw.chance(UNKNOWN_TENURE) {
            faults.tenure_unknown += 1;
            row[6] = "U".into();
        }
        if draw.chance(OTHER_TYPE) && matches!(dwelling.kind, Kind::SemiDetached | Kind::Terraced) {
            faults.type_differs += 1;
            row[4] = if row[4] == "S" { "T" } else { "S" }.into();
        }
        let id = row[0].clone();
        faults.category_b += u64::from(!sale.standard);
        faults.type_other += u64::from(dwelling.kind == Kind::Commercial);
        if sale.day > world.through - TimeDelta::days(30) && draw.chance(LATE) {
            planted.monthly.additions += 1;
            self.monthly.row(&row)?;
            return Ok((id, SaleListing::Added));
        }
        let mut standing = SaleListing::Complete;
        if draw.chance(CHANGE) {
            planted.monthly.changes += 1;
            standing = SaleListing::Changed;
            let mut right = row.clone();
            right[15] = "C".into();
            self.monthly.row(&right)?;
            row[1] = wrong_price(sale);
        }
        self.complete.row(&row)?;
        if draw.chance(DUPLICATE) {
            faults.duplicate += 1;
            self.complete.row(&row)?;
        }
        self.plant(sale, &row, ids, planted, draw)?;
        Ok((id, standing))
    }

    /// Plants extra rows that never happened, made from a true one.
    fn plant(
        &mut self,
        sale: &Sale,
        row: &Row,
        ids: &mut Ids,
        planted: &mut PlantedFaults,
        draw: &mut Draw,
    ) -> Result<(), SyntheticError> {
        let faults = &mut planted.price_paid;
        let mut extra = |change: &dyn Fn(&mut Row)| {
            let mut extra = row.clone();
            extra[0] = ids.next();
            change(&mut extra);
            extra
        };
        if draw.chance(MALFORMED) {
            faults.bad_date += 1;
            self.complete
                .row(extra(&|row| row[2] = "2019-02-30 00:00".into()))?;
        }
        if draw.chance(MALFORMED) {
            faults.negative_price += 1;
            self.complete.row(extra(&|row| row[1].insert(0, '-')))?;
        }
        if draw.chance(MALFORMED) {
            faults.wrong_columns += 1;
            self.complete.row(&extra(&|_| ())[..15])?;
        }
        if draw.chance(DELETION) {
            let mistaken = extra(&|row| row[1] = wrong_price(sale));
            planted.monthly.deletions += 1;
            faults.category_b += u64::from(mistaken[14] == "B");
            faults.type_other += u64::from(mistaken[4] == "O");
            faults.tenure_unknown += u64::from(mistaken[6] == "U");
            faults.postcode_missing += u64::from(mistaken[3].is_empty());
            self.complete.row(&mistaken)?;
            let mut withdrawn = mistaken;
            withdrawn[15] = "D".into();
            self.monthly.row(&withdrawn)?;
        }
        Ok(())
    }

    /// Ends both files.
    pub(crate) fn finish(self, manifest: &mut Manifest) -> Result<(), SyntheticError> {
        self.complete.finish(manifest)?;
        self.monthly.finish(manifest)
    }
}

/// Returns a price that the monthly file will put right or withdraw.
fn wrong_price(sale: &Sale) -> String {
    (sale.price * 9 / 10).max(1).to_string()
}

/// Returns the row of a sale without any fault.
fn plain(authority: &Authority, dwelling: &Dwelling, sale: &Sale, id: String) -> Row {
    let address = &dwelling.address;
    let former = authority
        .former
        .as_ref()
        .filter(|_| sale.day < super::areas::REORGANISED);
    let district = former
        .map_or(&authority.name, |(_, name)| name)
        .to_uppercase();
    [
        id,
        sale.price.to_string(),
        format!("{} 00:00", sale.day),
        address.postcode.clone(),
        dwelling.kind.letter().into(),
        if sale.new_build { "Y" } else { "N" }.into(),
        if dwelling.lease.is_some() { "L" } else { "F" }.into(),
        // The Land Registry writes ranges with spaces.
        if address.paon.starts_with(|c: char| c.is_ascii_digit()) {
            address.paon.replace('-', " - ")
        } else {
            address.paon.clone()
        },
        address.saon.clone(),
        address.street.clone(),
        address.locality.clone(),
        address.town.clone(),
        district,
        authority.county.clone(),
        if sale.standard { "A" } else { "B" }.into(),
        "A".into(),
    ]
}
