//! The sales behind a value: the home's own, those of its comparables, and those nearby. Prices are
//! carried to the valuation date by the index that the release gets for the home.

use domesday_console::nearby_sales::{LONGEST_DAYS, MOST_SALES, NearbySales, RADIUS_M};
use domesday_console::number::{percent_change, pounds};
use domesday_console::price_index::PriceIndex;
use domesday_property::{
    GssCode, NearbyQuery, Order, PropertyTypes, Sale, Snapshot, SnapshotError,
};
use domesday_registers::codes::PropertyType;
use domesday_registers::{Day, Postcode};
use maud::{Markup, html};
use serde_json::Value;

/// The home's own sales that are shown.
const OWN_SALES: usize = 10;
/// Months of the index: more than any has.
const MONTHS: usize = 2_000;

/// The sales behind one value.
#[derive(Default)]
pub(super) struct SalesBehind {
    /// The home's own standard sales, the newest first.
    own: Vec<CarriedSale>,
    /// Sales nearby of the home's type.
    nearby: NearbySales,
    /// The index that the release gets for the home.
    index: Option<HomeIndex>,
}

/// The index of a home's area and type.
struct HomeIndex {
    growth: PriceIndex,
    /// The area and the type that it is of.
    name: String,
}

/// A sale of the home.
struct CarriedSale {
    day: Day,
    price_gbp: u64,
}

/// Reads the sales behind a value from the snapshot of its release. Own sales and those nearby
/// are stored data, so they are read only where the session may see those. Blocks.
///
/// # Errors
/// The snapshot cannot be read.
pub(super) fn read(
    snapshot: &Snapshot,
    request: &Value,
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
    let kind = request["property"]["type"].as_str().and_then(kind_of);
    if let Some(authority) = place.authority {
        behind.index = index_of(snapshot, authority, kind, day)?;
    }
    if !stored_data {
        return Ok(behind);
    }
    if let Some(uprn) = uprn {
        let own = snapshot.own_sales(uprn, day, OWN_SALES)?;
        let own = own.iter().filter(|sale| sale.standard);
        behind.own = own
            .map(|sale| CarriedSale {
                day: sale.day,
                price_gbp: sale.price_gbp,
            })
            .collect();
    }
    let types = kind.map_or(PropertyTypes::RESIDENTIAL, |kind| {
        PropertyTypes::NONE.with(kind)
    });
    let nearby = snapshot.nearby_sales(&NearbyQuery {
        easting: place.easting,
        northing: place.northing,
        radius_m: RADIUS_M,
        from: Day(day.0 - LONGEST_DAYS),
        before: day,
        types,
        // One more than are drawn, since the chart tells whether it has all.
        limit: MOST_SALES + 1,
        order: Order::Newest,
        standard_only: true,
        with_floor_area: false,
        exclude_uprn: uprn,
    })?;
    let nearby = nearby.iter();
    let nearby = nearby.map(|sale: &Sale| (sale.day, sale.price_gbp));
    behind.nearby = NearbySales::new(nearby.collect());
    Ok(behind)
}

/// Returns the index that a release gets for a home: that of its area and type, or else of all
/// types. A release carries comparables of other types and areas by the same index, since it can
/// ask for no other area's.
fn index_of(
    snapshot: &Snapshot,
    authority: GssCode,
    kind: Option<PropertyType>,
    day: Day,
) -> Result<Option<HomeIndex>, SnapshotError> {
    let read = |kind| snapshot.price_index(authority, kind, day, 0, MONTHS);
    let (series, kind) = match (kind, read(kind)?) {
        (Some(_), None) => (read(None)?, None),
        (kind, series) => (series, kind),
    };
    Ok(series.and_then(|series| {
        Some(HomeIndex {
            growth: PriceIndex::new(&series.points, day)?,
            name: format!(
                "{}, {}",
                area_name(snapshot, authority, series.area_code),
                kind_words(kind)
            ),
        })
    }))
}

/// Returns the name of an area: that of a home's authority or of its region, or of a country.
fn area_name(snapshot: &Snapshot, authority: GssCode, code: GssCode) -> String {
    match code {
        GssCode::ENGLAND => "England".to_owned(),
        GssCode::WALES => "Wales".to_owned(),
        GssCode::ENGLAND_AND_WALES => "England and Wales".to_owned(),
        other => match snapshot.authority(authority) {
            Some(area) if authority == other => area.name.clone(),
            Some(area) if area.region == Some(other) => area.region_name.clone(),
            _ => other.to_string(),
        },
    }
}

fn kind_words(kind: Option<PropertyType>) -> &'static str {
    match kind {
        Some(PropertyType::Detached) => "detached houses",
        Some(PropertyType::SemiDetached) => "semi-detached houses",
        Some(PropertyType::Terraced) => "terraced houses",
        Some(PropertyType::Flat) => "flats and maisonettes",
        Some(PropertyType::Other) | None => "all types",
    }
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

/// Returns a number of pounds as a page writes it.
fn whole(pounds_of: f64) -> String {
    // Prices of homes are far below the largest whole number.
    #[allow(clippy::cast_possible_truncation)]
    let rounded = pounds_of.round() as i64;
    pounds(rounded)
}

impl SalesBehind {
    /// Returns the area and the type of the index.
    pub(super) fn index_name(&self) -> Option<&str> {
        self.index.as_ref().map(|index| index.name.as_str())
    }

    /// Returns a price of one day as the index carries it to the valuation date.
    pub(super) fn carry(&self, sold: &Value, price: &Value) -> Option<f64> {
        let sold = Day::parse_iso(sold.as_str()?)?;
        Some(self.index.as_ref()?.growth.growth_since(sold)? * price.as_f64()?)
    }

    /// Returns the steps from a comparable's price to its adjusted price: by the index, and by all
    /// else.
    pub(super) fn steps(&self, comparable: &Value) -> Option<(String, String)> {
        let price = comparable["price_gbp"]
            .as_f64()
            .filter(|price| *price > 0.0)?;
        let carried = self.carry(&comparable["sale_date"], &comparable["price_gbp"])?;
        let adjusted = comparable["adjusted_price_gbp"].as_f64()?;
        Some((
            percent_change(price, carried),
            percent_change(carried, adjusted),
        ))
    }

    /// Returns the share by which a comparable's price was adjusted beyond the index, or in all
    /// where there is none.
    pub(super) fn adjustment(&self, comparable: &Value) -> Option<f64> {
        let price = &comparable["price_gbp"];
        let carried = self.carry(&comparable["sale_date"], price);
        let from = carried.or_else(|| price.as_f64());
        let from = from.filter(|from| *from > 0.0)?;
        Some(comparable["adjusted_price_gbp"].as_f64()? / from - 1.0)
    }

    /// Returns the home's own sales, and the chart of the sales nearby.
    pub(super) fn show(&self, response: &Value) -> Markup {
        html! {
            div.sales {
            @if !self.own.is_empty() { div {
                h3 { "The home's own sales" }
                div.wide tabindex="0" {
                    table.parts {
                        caption { "Own sales, and their prices carried to the valuation date"
                            @if let Some(index) = &self.index { " by the index of " (index.name) } }
                        thead { tr { th scope="col" { "Sold" } th.number scope="col" { "Price" } th.number scope="col" { "Carried by the index" } } }
                        tbody {
                            @for sale in &self.own {
                                tr {
                                    td.date { (date(sale.day)) }
                                    td.number { (pounds(i64::try_from(sale.price_gbp).unwrap_or(i64::MAX))) }
                                    td.number { (self.carried_words(sale)) }
                                }
                            }
                        }
                    }
                }
            } }
            @if !self.nearby.is_empty() { (self.chart(response)) }
            }
        }
    }

    fn carried_words(&self, sale: &CarriedSale) -> String {
        let growth = self
            .index
            .as_ref()
            .and_then(|index| index.growth.growth_since(sale.day));
        // Prices of homes are far below the whole numbers that a double holds.
        #[allow(clippy::cast_precision_loss)]
        let price = sale.price_gbp as f64;
        growth.map_or_else(|| "–".to_owned(), |growth| whole(growth * price))
    }

    fn chart(&self, response: &Value) -> Markup {
        let value = &response["valuation"];
        let day = value["date"].as_str().and_then(Day::parse_iso);
        let estimate = day.zip(value["estimated_value_gbp"].as_u64());
        self.nearby.chart(estimate)
    }
}

fn date(day: Day) -> String {
    day.date()
        .map_or_else(|| "–".to_owned(), |date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_of_a_comparable_are_the_index_of_the_home_and_the_rest() {
        let day = |text| Day::parse_iso(text).unwrap();
        let months = [
            (day("2020-01-15").month(), 100.0),
            (day("2026-01-15").month(), 110.0),
        ];
        let behind = SalesBehind {
            index: Some(HomeIndex {
                growth: PriceIndex::new(&months, day("2026-10-15")).unwrap(),
                name: "Ambleford, flats and maisonettes".to_owned(),
            }),
            ..SalesBehind::default()
        };
        let comparable = serde_json::json!({
            "sale_date": "2020-01-02", "price_gbp": 200_000, "adjusted_price_gbp": 231_000,
        });
        let steps = behind.steps(&comparable).unwrap();
        assert_eq!(steps, ("+10.0 %".to_owned(), "+5.0 %".to_owned()));
        assert!((behind.adjustment(&comparable).unwrap() - 0.05).abs() < 1e-9);
        let without = SalesBehind::default();
        assert!(without.steps(&comparable).is_none());
        assert!((without.adjustment(&comparable).unwrap() - 0.155).abs() < 1e-9);
    }
}
