//! The Bank of England's own files, where they are there.

use super::downloads;
use domesday_series::build::rates::mathematics::Discount;
use domesday_series::build::rates::{CurveKind, CurveSide, Inputs, PublishedRates, derive, read};
use domesday_series::build::{Publication, write};
use domesday_series::catalogue::Family;
use std::path::Path;

fn read_published(test: &str) -> Option<PublishedRates> {
    let folder = downloads::folder(test, "rates/OIS daily data current month.xlsx")?.join("rates");
    let mut inputs = Inputs::default();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("csv") => inputs.database.push(path),
            Some("xlsx") => inputs.curves.push(path),
            _ => {}
        }
    }
    inputs.database.sort();
    inputs.curves.sort();
    Some(read(&inputs, &mut |_, _, _| ()).unwrap())
}

#[test]
fn forwards_from_the_spot_sheets_are_those_of_the_forward_sheets() {
    let Some(published) =
        read_published("forwards_from_the_spot_sheets_are_those_of_the_forward_sheets")
    else {
        return;
    };
    for kind in [
        CurveKind::Ois,
        CurveKind::Nominal,
        CurveKind::Real,
        CurveKind::Inflation,
    ] {
        let forwards = &published.curves[&(kind, CurveSide::Forward)];
        // Worst below a year and from a year on. Below, the forward curve bends so sharply that the
        // rule's own error is a tenth of a basis point.
        let (mut compared, mut worst) = (0, [0.0_f64; 2]);
        for (day, nodes) in &published.curves[&(kind, CurveSide::Spot)] {
            let curve = Discount::through(nodes).unwrap();
            for month in 1..60 {
                // The forward rate over a month is the mean of the instantaneous ones within it.
                // Simpson's rule takes it from its ends and neighbours, here as the trapezium less
                // its error.
                let at = |m: u32| forwards[day].get(&m).copied();
                let (Some(before), Some(left), Some(right), Some(after)) =
                    (at(month - 1), at(month), at(month + 1), at(month + 2))
                else {
                    continue;
                };
                let (Some(p), Some(q)) = (curve.factor(month), curve.factor(month + 1)) else {
                    continue;
                };
                if !nodes.contains_key(&month) || !nodes.contains_key(&(month + 1)) {
                    continue;
                }
                let own = 1200.0 * (p / q).ln();
                let bend = (before - left - right + after) / 2.0;
                let theirs = (left + right) / 2.0 - bend / 12.0;
                compared += 1;
                let worst = &mut worst[usize::from(month >= 12)];
                *worst = worst.max((own - theirs).abs());
            }
        }
        let [short, long] = worst.map(|worst| worst * 100.0);
        println!("{kind:?}: {compared} months, worst {short:.4} and {long:.4} basis points");
        assert!(compared > 200, "{kind:?}: {compared}");
        assert!(
            short < 0.2 && long < 0.02,
            "{kind:?}: {short} and {long} basis points"
        );
    }
}

#[test]
fn the_real_files_give_exactly_their_own_series() {
    let Some(published) = read_published("the_real_files_give_exactly_their_own_series") else {
        return;
    };
    // Three series of quoted rates and the reversion rate; nothing for buy-to-let.
    let draft = derive(&published);
    let packages_dir = tempfile::tempdir().unwrap();
    let publication = Publication {
        family: Family::Rates,
        release_id: "real".parse().unwrap(),
        created: None,
        published_at: None,
        preview_bounds: None,
        sources: published.sources.clone(),
        synthetic: false,
        notes: Vec::new(),
    };
    let manifest = write(Path::new(packages_dir.path()), draft, publication).unwrap();
    assert_eq!(manifest.body["synthetic"], false);
    assert_eq!(manifest.body["sources"].as_array().unwrap().len(), 9);
    let ois = &published.curves[&(CurveKind::Ois, CurveSide::Spot)];
    assert_eq!(ois.len(), 7);
    let nominal = &published.curves[&(CurveKind::Nominal, CurveSide::Spot)];
    // 2026-04-03 was Good Friday.
    assert!(!nominal.contains_key(&"2026-04-03".parse().unwrap()));
    let first = &nominal[&"2025-10-01".parse().unwrap()];
    assert!(!first.contains_key(&1), "the sheet has no one-month node");
}
