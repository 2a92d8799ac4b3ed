//! Twelve-month figures, recomputed the slow way.

use super::world::{CertificateRow, SoldRow, World, day};
use domesday_property::{AreaFigures, AreaLevel, Snapshot};
use domesday_registers::Day;
use domesday_registers::codes::PropertyType;

/// Returns two years of sales in two sectors, most with a certificate. Some certificates come
/// later.
pub(crate) fn world() -> (Vec<SoldRow>, Vec<CertificateRow>, World) {
    let days = [
        "2019-01-10",
        "2019-02-11",
        "2019-03-12",
        "2019-05-31",
        "2019-06-01",
        "2019-09-15",
        "2019-12-31",
        "2020-01-01",
        "2020-02-29",
        "2020-04-30",
        "2020-07-07",
        "2020-10-31",
        "2020-12-31",
    ];
    let houses: Vec<&'static str> = (1..=52)
        .map(|n: u32| &*Box::leak(n.to_string().into_boxed_str()))
        .collect();
    let sales: Vec<SoldRow> = (0..52_u32)
        .map(|n| SoldRow {
            id: n,
            price: 100_000 + u64::from(n) * 7_919 % 90_001,
            day: days[n as usize % days.len()],
            kind: ['D', 'S', 'T', 'F', 'S'][n as usize % 5],
            category: if n % 11 == 10 { 'B' } else { 'A' },
            paon: houses[n as usize],
            ..SoldRow::default()
        })
        .collect();
    let certificates: Vec<CertificateRow> = (0..52_u32)
        .filter(|n| n % 6 != 5)
        .map(|n| {
            let line = format!("{} Orchard Way", n + 1);
            CertificateRow {
                key: n,
                uprn: Box::leak((1_000 + n).to_string().into_boxed_str()),
                lines: [Box::leak(line.into_boxed_str()), ""],
                day: if n % 4 == 0 {
                    "2020-11-15"
                } else {
                    "2014-01-01"
                },
                area: ["70.25", "81.5", "99"][n as usize % 3],
                ..CertificateRow::default()
            }
        })
        .collect();
    let world = World::with_sales(&sales).and_certificates(&certificates);
    (sales, certificates, world)
}

/// Returns the rule, read literally from the contract of `area_figures`.
fn naive(
    sales: &[SoldRow],
    certificates: &[CertificateRow],
    kind: Option<char>,
    before: Day,
) -> (i32, u32, Option<f64>, Option<f64>, Option<f64>) {
    // The latest sale is of 2020-12-31, so December 2020 is the register's last whole month.
    let ended = |month: i32| Day::first_of_month(month + 1).unwrap() <= before;
    let to = (0..=day("2020-12-31").month())
        .rev()
        .find(|&month| ended(month))
        .unwrap();
    let within = |end: i32| -> Vec<&SoldRow> {
        let months = end - 11..=end;
        let wanted =
            |sold: &&SoldRow| sold.category == 'A' && kind.is_none_or(|kind| sold.kind == kind);
        sales
            .iter()
            .filter(wanted)
            .filter(|sold| months.contains(&day(sold.day).month()))
            .collect()
    };
    let median = |sold: &[&SoldRow]| -> Option<f64> {
        let mut prices: Vec<u64> = sold.iter().map(|sold| sold.price).collect();
        prices.sort_unstable();
        let (n, at) = (prices.len(), prices.len() / 2);
        (n >= 5).then(|| {
            if n % 2 == 1 {
                prices[at] as f64
            } else {
                (prices[at - 1] + prices[at]) as f64 / 2.0
            }
        })
    };
    let (now, then) = (within(to), within(to - 12));
    let mut measured = (0, 0.0, 0.0);
    for sold in &now {
        let certificate = certificates.iter().find(|c| c.key == sold.id);
        let on_record = |c: &&CertificateRow| day(c.day) < Day::first_of_month(to + 1).unwrap();
        if let Some(certificate) = certificate.filter(on_record) {
            let area: f64 = certificate.area.parse().unwrap();
            measured = (
                measured.0 + 1,
                measured.1 + sold.price as f64,
                measured.2 + area,
            );
        }
    }
    let per_sqm = (measured.0 >= 10).then(|| measured.1 / measured.2);
    let change = median(&now)
        .zip(median(&then))
        .map(|(now, then)| (now - then) / then * 100.0);
    (
        to,
        u32::try_from(now.len()).unwrap(),
        median(&now),
        per_sqm,
        change,
    )
}

fn close(a: Option<f64>, b: Option<f64>, within: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= within,
        (a, b) => a.is_none() && b.is_none(),
    }
}

#[test]
fn every_month_type_and_level_agrees_with_the_slow_way() {
    let (sales, certificates, world) = world();
    let snapshot = world.build().open();
    let types = [
        (None, None),
        (Some('D'), Some(PropertyType::Detached)),
        (Some('S'), Some(PropertyType::SemiDetached)),
        (Some('T'), Some(PropertyType::Terraced)),
        (Some('F'), Some(PropertyType::Flat)),
    ];
    let levels = [
        (AreaLevel::PostcodeDistrict, "ZZ1"),
        (AreaLevel::PostcodeSector, "ZZ1 1"),
        (AreaLevel::LocalAuthority, "E07000900"),
    ];
    let (mut with_change, mut with_area) = (0, 0);
    for before in (day("2018-12-01").0..day("2022-06-01").0)
        .step_by(9)
        .map(Day)
        .chain([day("2020-12-31"), day("2021-01-01")])
    {
        for (kind, property_type) in types {
            let (to, count, median, per_sqm, change) = naive(&sales, &certificates, kind, before);
            for (level, code) in levels {
                let found = snapshot
                    .area_figures(level, code, property_type, before)
                    .unwrap();
                let Some(found) = found else {
                    assert_eq!(count, 0, "{level:?} {kind:?} before {before}");
                    continue;
                };
                let context = format!("{level:?} {kind:?} before {before}: {found:?}");
                assert_eq!(
                    (found.to_month, found.sales_count_12m),
                    (to, count),
                    "{context}"
                );
                assert_eq!(found.median_price_gbp, median, "{context}");
                assert!(
                    close(found.price_per_sqm_gbp, per_sqm, 0.005_001),
                    "{per_sqm:?} {context}"
                );
                assert!(
                    close(found.price_change_12m_pct, change, 1e-9),
                    "{change:?} {context}"
                );
            }
            with_change += u32::from(change.is_some());
            with_area += u32::from(per_sqm.is_some());
        }
    }
    assert!(
        with_change > 50 && with_area > 50,
        "the comparison compared something"
    );
}

#[test]
fn unknown_areas_have_no_figures() {
    let (_, _, world) = world();
    let snapshot: Snapshot = world.build().open();
    let ask = |level, code| -> Option<AreaFigures> {
        snapshot
            .area_figures(level, code, None, day("2020-06-01"))
            .unwrap()
    };
    assert_eq!(ask(AreaLevel::PostcodeSector, "ZZ2 1"), None);
    assert_eq!(ask(AreaLevel::LocalAuthority, "ZZ1"), None);
    assert_eq!(ask(AreaLevel::PostcodeDistrict, ""), None);
}
