//! Kriging against results computed by hand.

use super::*;
use domesday_hedonic::property_kind::PropertyKind;
use domesday_sdk::Place;
use proptest::prelude::*;

const DAY: i32 = 19_000;

fn home(uprn: u64, east: i32, north: i32) -> Home {
    Home {
        uprn: Some(uprn),
        place: Place {
            easting: 400_000 + east,
            northing: 200_000 + north,
        },
        kind: PropertyKind::Terraced,
        leasehold: false,
        new_build: false,
        day: DAY - 100,
    }
}

fn sale(home: Home, log_price: f64) -> Observation {
    Observation {
        home,
        log_price,
        unsure: 0.0,
    }
}

fn subject() -> Home {
    Home {
        day: DAY,
        ..home(1, 0, 0)
    }
}

/// Returns eight sales nearby at one price.
fn level(log_price: f64) -> Vec<Observation> {
    (0..8)
        .map(|i| sale(home(10 + i, 60 * i as i32, -40 * i as i32), log_price))
        .collect()
}

#[test]
fn equal_prices_are_the_estimate() {
    let found = krige(&subject(), 0.25, &level(12.5)).unwrap();
    assert!((found.log_value - 12.75).abs() < 1e-9, "{found:?}");
    assert!(found.deviation > 0.05 && found.deviation < 0.5, "{found:?}");
}

#[test]
fn few_sales_give_no_estimate() {
    assert!(krige(&subject(), 0.0, &level(12.5)[..4]).is_none());
    let mut broken = level(12.5);
    broken[0].log_price = f64::NAN;
    assert!(krige(&subject(), 0.0, &broken).is_none());
}

#[test]
fn ten_sales_of_one_place_do_not_count_ten_times() {
    let mut sales = level(12.5);
    let crowd = (0..10).map(|i| sale(home(100 + i, 0, 90), 12.7));
    let one = krige(
        &subject(),
        0.0,
        &[sales.clone(), vec![sale(home(100, 0, 90), 12.7)]].concat(),
    )
    .unwrap();
    sales.extend(crowd);
    let ten = krige(&subject(), 0.0, &sales).unwrap();
    let (one, ten) = (one.log_value - 12.5, ten.log_value - 12.5);
    assert!(one > 0.0 && ten > one && ten < 5.0 * one, "{one} {ten}");
}

#[test]
fn an_own_sale_has_the_greatest_weight() {
    let mut sales = level(12.5);
    sales.push(sale(home(1, 0, 0), 12.7));
    let own = krige(&subject(), 0.0, &sales).unwrap();
    sales.last_mut().unwrap().home.uprn = Some(99);
    let neighbour = krige(&subject(), 0.0, &sales).unwrap();
    assert!(own.log_value > neighbour.log_value + 0.01);
    assert!(own.deviation < neighbour.deviation);
}

/// The price of the own sale moves the estimate by its share.
#[test]
fn the_own_share_is_the_weight_of_own_sales() {
    let with = |price: f64| {
        let mut sales = level(12.5);
        sales.push(sale(home(1, 0, 0), price));
        krige(&subject(), 0.0, &sales).unwrap()
    };
    let step = 1e-4;
    let moved = (with(12.51 + step).log_value - with(12.51).log_value) / step;
    let share = with(12.51).own_share;
    assert!(
        share > 0.2 && (moved - share).abs() < 0.02,
        "{moved} {share}"
    );
    assert_eq!(krige(&subject(), 0.0, &level(12.5)).unwrap().own_share, 0.0);
}

#[test]
fn a_price_that_the_others_contradict_hardly_counts() {
    let with = |price: f64| {
        let mut sales = level(12.5);
        sales.push(sale(home(100, 30, 0), price));
        krige(&subject(), 0.0, &sales).unwrap().log_value - 12.5
    };
    assert!(with(12.6) > 0.005, "{}", with(12.6));
    // A tenth of the price, as for a part sale.
    assert!(with(12.5 - 2.3).abs() < 0.1, "{}", with(12.5 - 2.3));
}

/// Compares each sale's departure with a second system that leaves the sale out.
#[test]
fn the_leave_one_out_error_is_that_of_a_system_without_the_sale() {
    let mut sales = level(0.0);
    for (at, sale) in sales.iter_mut().enumerate() {
        sale.log_price = [0.1, -0.2, 0.05, 0.3, 0.0, -0.1, 0.2, 0.15][at];
    }
    let system = |sales: &[Observation]| {
        DMatrix::from_fn(sales.len(), sales.len(), |a, b| {
            covariance::between(&sales[a].home, &sales[b].home)
        })
    };
    let noise = |count| DVector::from_element(count, covariance::NOISE);
    let prices = |sales: &[Observation]| {
        DVector::from_iterator(sales.len(), sales.iter().map(|sale| sale.log_price))
    };
    let found = left_out(&system(&sales), &noise(8), &prices(&sales)).unwrap();
    for at in 0..8 {
        let mut others = sales.clone();
        let one = others.remove(at);
        let solved = noisy(&system(&others), &noise(7)).cholesky().unwrap();
        let to_one = DVector::from_iterator(
            7,
            others
                .iter()
                .map(|o| covariance::between(&o.home, &one.home)),
        );
        let departure = one.log_price - solved.solve(&to_one).dot(&prices(&others));
        let variance = covariance::between(&one.home, &one.home) + covariance::NOISE
            - solved.solve(&to_one).dot(&to_one);
        assert!((found[at] - departure * departure / variance).abs() < 1e-9);
    }
}

fn any_home() -> impl Strategy<Value = Home> {
    let kinds = [
        PropertyKind::Detached,
        PropertyKind::SemiDetached,
        PropertyKind::Terraced,
        PropertyKind::Flat,
    ];
    let place = (-5_000..5_000, -5_000..5_000);
    (0_u64..4, place, 0_usize..4, any::<(bool, bool)>(), 0..4_000).prop_map(
        move |(uprn, (east, north), kind, (leasehold, new_build), ago)| Home {
            uprn: (uprn > 0).then_some(uprn),
            kind: kinds[kind],
            leasehold,
            new_build,
            day: DAY - ago,
            ..home(0, east, north)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// For any homes the covariances are positive definite and the estimate is a price.
    #[test]
    fn any_homes_have_an_estimate(
        homes in prop::collection::vec((any_home(), 9.0..16.0_f64), 5..64),
        subject in any_home(),
    ) {
        let sales: Vec<Observation> = homes.iter().map(|(home, price)| sale(*home, *price)).collect();
        let found = krige(&subject, 0.0, &sales).unwrap();
        prop_assert!((7.0..18.0).contains(&found.log_value), "{found:?}");
        let most = covariance::between(&subject, &subject).sqrt();
        prop_assert!((0.0..=most).contains(&found.deviation), "{found:?}");
        for (home, _) in &homes {
            let there = covariance::between(home, &subject);
            prop_assert_eq!(there, covariance::between(&subject, home));
        }
    }
}
