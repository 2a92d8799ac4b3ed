//! The sales behind a value: the home's own, those of its comparables, and those nearby. Prices are
//! carried to the valuation day by the published index.

use domesday_console::chart::{ChartSeries, Interval, intervals};
use domesday_console::number::pounds;
use domesday_property::{
    GssCode, IndexSeries, NearbyQuery, Order, PropertyTypes, Sale, Snapshot, SnapshotError,
};
use domesday_registers::codes::PropertyType;
use domesday_registers::{Day, Postcode};
use maud::{Markup, html};
use serde_json::Value;
use std::collections::BTreeMap;

/// The home's own sales that are shown.
const OWN_SALES: usize = 10;
/// Sales nearby that are drawn, at most.
const NEARBY_SALES: usize = 400;
/// The largest distance of a sale nearby, metres.
const RADIUS_M: u32 = 1_000;
/// The longest time from a sale nearby to the valuation day, days.
const NEARBY_DAYS: i32 = 5 * 365;
/// Months of the index: more than any has.
const MONTHS: usize = 2_000;

/// The sales behind one value.
#[derive(Default)]
pub(super) struct SalesBehind {
    /// The home's own standard sales, the newest first.
    own: Vec<CarriedSale>,
    /// Comparables by rank: what the index makes of their price.
    comparables: BTreeMap<u64, f64>,
    /// Sales nearby of the home's type.
    nearby: Vec<(Day, u64)>,
    /// The area whose index it is.
    index_area: Option<String>,
}

/// A sale and what the index makes of its price.
struct CarriedSale {
    day: Day,
    price_gbp: u64,
    carried_gbp: Option<f64>,
}

/// Reads the sales behind a response from the snapshot of its release. Own sales and those nearby
/// are stored data, so they are read only where the session may see those. Blocks.
///
/// # Errors
/// The snapshot cannot be read.
pub(super) fn read(
    snapshot: &Snapshot,
    response: &Value,
    stored_data: bool,
) -> Result<SalesBehind, SnapshotError> {
    let mut behind = SalesBehind::default();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (Some(day), Some(postcode)) = (
        text(&response["valuation"]["date"]).and_then(|text| Day::parse_iso(&text)),
        text(&response["property"]["postcode"]).and_then(|text| Postcode::parse(&text)),
    ) else {
        return Ok(behind);
    };
    let Some(place) = snapshot.postcode(&postcode)? else {
        return Ok(behind);
    };
    let uprn: Option<u64> = text(&response["property"]["uprn"]).and_then(|text| text.parse().ok());
    let own = match uprn {
        Some(uprn) => snapshot.own_sales(uprn, day, OWN_SALES)?,
        None => Vec::new(),
    };
    let kind = own.first().map(|sale| sale.property_type);
    let mut indices = Indices {
        snapshot,
        day,
        known: BTreeMap::new(),
    };
    for comparable in response["comparables"].as_array().into_iter().flatten() {
        if let Some((rank, carried)) = carried_comparable(comparable, &mut indices)? {
            behind.comparables.insert(rank, carried);
        }
    }
    if !stored_data {
        return Ok(behind);
    }
    if let Some(authority) = place.authority {
        for sale in own.iter().filter(|sale| sale.standard) {
            behind.own.push(CarriedSale {
                day: sale.day,
                price_gbp: sale.price_gbp,
                carried_gbp: indices.carry(authority, kind, sale.day, sale.price_gbp)?,
            });
        }
        let index = indices.of(authority, kind)?;
        behind.index_area = index.as_ref().map(|index| {
            let area = snapshot.authority(index.area_code);
            area.map_or_else(|| index.area_code.to_string(), |area| area.name.clone())
        });
    }
    let types = kind.map_or(PropertyTypes::RESIDENTIAL, |kind| {
        PropertyTypes::NONE.with(kind)
    });
    let nearby = snapshot.nearby_sales(&NearbyQuery {
        easting: place.easting,
        northing: place.northing,
        radius_m: RADIUS_M,
        from: Day(day.0 - NEARBY_DAYS),
        before: day,
        types,
        limit: NEARBY_SALES,
        order: Order::Newest,
        standard_only: true,
        with_floor_area: false,
        exclude_uprn: uprn,
    })?;
    behind.nearby = nearby
        .iter()
        .map(|sale: &Sale| (sale.day, sale.price_gbp))
        .collect();
    Ok(behind)
}

/// Returns the rank of a comparable, and its price as the index carries it.
fn carried_comparable(
    comparable: &Value,
    indices: &mut Indices<'_>,
) -> Result<Option<(u64, f64)>, SnapshotError> {
    let text = |member: &str| comparable[member].as_str();
    let found = (|| {
        Some((
            comparable["rank"].as_u64()?,
            comparable["price_gbp"].as_u64()?,
            Day::parse_iso(text("sale_date")?)?,
            Postcode::parse(text("postcode")?)?,
        ))
    })();
    let Some((rank, price, sold, postcode)) = found else {
        return Ok(None);
    };
    let kind = text("property_type").and_then(kind_of);
    let place = indices.snapshot.postcode(&postcode)?;
    let Some(authority) = place.and_then(|place| place.authority) else {
        return Ok(None);
    };
    let carried = indices.carry(authority, kind, sold, price)?;
    Ok(carried.map(|carried| (rank, carried)))
}

/// Returns a type by the letter of the contract.
fn kind_of(letter: &str) -> Option<PropertyType> {
    Some(match letter {
        "D" => PropertyType::Detached,
        "S" => PropertyType::SemiDetached,
        "T" => PropertyType::Terraced,
        "F" => PropertyType::Flat,
        _ => return None,
    })
}

/// The indices as at the valuation day, each read once.
struct Indices<'a> {
    snapshot: &'a Snapshot,
    day: Day,
    known: BTreeMap<(GssCode, Option<PropertyType>), Option<IndexSeries>>,
}

impl Indices<'_> {
    fn of(
        &mut self,
        authority: GssCode,
        kind: Option<PropertyType>,
    ) -> Result<&Option<IndexSeries>, SnapshotError> {
        let key = (authority, kind);
        if !self.known.contains_key(&key) {
            let read = self
                .snapshot
                .price_index(authority, kind, self.day, 0, MONTHS)?;
            self.known.insert(key, read);
        }
        Ok(self.known.get(&key).unwrap_or(&None))
    }

    /// Returns a price of one day as the index carries it to the valuation day.
    fn carry(
        &mut self,
        authority: GssCode,
        kind: Option<PropertyType>,
        sold: Day,
        price: u64,
    ) -> Result<Option<f64>, SnapshotError> {
        let day = self.day;
        let index = self.of(authority, kind)?;
        let ratio = index.as_ref().and_then(|index| {
            let (then, now) = (level(index, sold)?, level(index, day)?);
            (then > 0.0).then_some(now / then)
        });
        // Prices of homes are far below the whole numbers that a double holds.
        #[allow(clippy::cast_precision_loss)]
        let price = price as f64;
        Ok(ratio.map(|ratio| ratio * price))
    }
}

/// Returns the index of the month of a day, or the last before it.
fn level(index: &IndexSeries, day: Day) -> Option<f64> {
    let after = index
        .points
        .partition_point(|(month, _)| *month <= day.month());
    Some(index.points.get(after.checked_sub(1)?)?.1)
}

/// Returns a number of pounds as a page writes it.
fn whole(pounds_of: f64) -> String {
    // Prices of homes are far below the largest whole number.
    #[allow(clippy::cast_possible_truncation)]
    let rounded = pounds_of.round() as i64;
    pounds(rounded)
}

impl SalesBehind {
    /// Returns the steps from a comparable's price to its adjusted price: by the index, and by all
    /// else.
    pub(super) fn steps(&self, comparable: &Value) -> Option<(String, String)> {
        let carried = *self.comparables.get(&comparable["rank"].as_u64()?)?;
        let price = comparable["price_gbp"]
            .as_f64()
            .filter(|price| *price > 0.0)?;
        let adjusted = comparable["adjusted_price_gbp"].as_f64()?;
        let change = |from: f64, to: f64| format!("{:+.1} %", 100.0 * (to / from - 1.0));
        Some((change(price, carried), change(carried, adjusted)))
    }

    /// Returns the home's own sales, and the chart of the sales nearby.
    pub(super) fn show(&self, response: &Value) -> Markup {
        html! {
            @if !self.own.is_empty() {
                h3 { "The home's own sales" }
                div.wide tabindex="0" {
                    table {
                        caption { "Own sales, and their prices carried to the valuation date"
                            @if let Some(area) = &self.index_area { " by the index of " (area) } }
                        thead { tr { th scope="col" { "Sold" } th scope="col" { "Price" } th scope="col" { "Carried by the index" } } }
                        tbody {
                            @for sale in &self.own {
                                tr {
                                    td.date { (date(sale.day)) }
                                    td.number { (pounds(i64::try_from(sale.price_gbp).unwrap_or(i64::MAX))) }
                                    td.number { @match sale.carried_gbp { Some(carried) => (whole(carried)), None => "–" } }
                                }
                            }
                        }
                    }
                }
            }
            @if !self.nearby.is_empty() { (self.chart(response)) }
        }
    }

    fn chart(&self, response: &Value) -> Markup {
        let value = &response["valuation"];
        let day = value["date"].as_str().and_then(Day::parse_iso);
        let point = |day: Day, price: f64, words: &str| Interval {
            from: day.0,
            to: day.0,
            value: Some(price),
            title: format!("{words} {}: {}", date(day), whole(price)),
        };
        // Prices of homes are far below the whole numbers that a double holds.
        #[allow(clippy::cast_precision_loss)]
        let nearby = self.nearby.iter().rev();
        #[allow(clippy::cast_precision_loss)]
        let nearby = nearby.map(|(day, price)| point(*day, *price as f64, "sold"));
        let estimate = day.zip(value["estimated_value_gbp"].as_f64());
        let series = [
            ChartSeries {
                name: format!(
                    "{} sales within {RADIUS_M} m, in five years",
                    self.nearby.len()
                ),
                intervals: nearby.collect(),
            },
            ChartSeries {
                name: "This estimate".to_owned(),
                intervals: estimate
                    .map(|(day, estimate)| point(day, estimate, "estimated as at"))
                    .into_iter()
                    .collect(),
            },
        ];
        intervals("Sales nearby of this type, as they were paid", "£", &series)
    }
}

fn date(day: Day) -> String {
    day.date()
        .map_or_else(|| "–".to_owned(), |date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_property::IndexLevel;

    #[test]
    fn the_level_of_a_day_is_that_of_its_month_or_the_last_before() {
        let index = IndexSeries {
            area_level: IndexLevel::Country,
            area_code: GssCode::ENGLAND,
            points: vec![(10, 100.0), (12, 110.0)],
        };
        let of = |month| level(&index, Day::first_of_month(month).unwrap());
        assert_eq!(of(9), None);
        assert_eq!(
            [of(10), of(11), of(12), of(40)],
            [100.0, 100.0, 110.0, 110.0].map(Some)
        );
    }

    #[test]
    fn the_steps_of_a_comparable_are_the_index_and_the_rest() {
        let mut behind = SalesBehind::default();
        behind.comparables.insert(1, 220_000.0);
        let comparable =
            serde_json::json!({"rank": 1, "price_gbp": 200_000, "adjusted_price_gbp": 231_000});
        let steps = behind.steps(&comparable).unwrap();
        assert_eq!(steps, ("+10.0 %".to_owned(), "+5.0 %".to_owned()));
    }
}
