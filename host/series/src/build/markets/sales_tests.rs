//! Settling, choosing and first sales.

use super::*;

fn seed(id: u128, at: (u16, u32), change: Change, price: u32) -> Seed {
    Seed {
        id,
        at,
        change,
        standard: true,
        new_build: false,
        property_type: PropertyType::Flat,
        by_postcode: true,
        area: Some(0),
        price,
        day: 20_000,
        floor_area: 0,
        floor_area_day: 0,
        rooms_day: 0,
        rooms: 0,
    }
}

#[test]
fn the_last_word_on_a_transaction_stands() {
    use Change::{Addition, Change as Changed, Delete};
    let seeds = vec![
        seed(1, (1, 9), Changed, 110),
        seed(1, (0, 1), Addition, 100),
        seed(2, (0, 2), Addition, 200),
        seed(2, (1, 8), Delete, 200),
        seed(3, (0, 3), Addition, 300),
        seed(3, (0, 4), Addition, 300),
    ];
    let mut report = SalesReport::default();
    // The first file, by number, is the newer one.
    let older_first = settle(seeds.clone(), &[10, 20], &mut report);
    let prices = |seeds: &[Seed]| seeds.iter().map(|seed| seed.price).collect::<Vec<_>>();
    assert_eq!(prices(&older_first), [300, 110]);
    assert_eq!((report.transactions, report.repeated), (2, 3));
    let newer_first = settle(seeds, &[20, 10], &mut SalesReport::default());
    assert_eq!(prices(&newer_first), [100, 200, 300]);
}

#[test]
fn rooms_stand_for_bedrooms_by_the_stated_rule() {
    let (house, flat) = (Dwelling(1), Dwelling(4));
    let houses: Vec<u8> = (1..=8).map(|rooms| bedrooms(house, rooms)).collect();
    let flats: Vec<u8> = (1..=8).map(|rooms| bedrooms(flat, rooms)).collect();
    assert_eq!(houses, [1, 1, 2, 3, 3, 4, 4, 4]);
    assert_eq!(flats, [1, 1, 2, 3, 4, 4, 4, 4]);
}

#[test]
fn a_new_home_is_delivered_once() {
    let delivery = |day: i32, price| Delivery {
        area: 0,
        postcode: 7,
        day: Day(day),
        dwelling: Dwelling(1),
        price,
    };
    let homes = vec![
        (delivery(300, 3), 11, 9),
        (delivery(200, 2), 11, 8),
        (delivery(200, 1), 12, 7),
    ];
    let prices: Vec<u32> = first_sales(homes).iter().map(|home| home.price).collect();
    assert_eq!(prices, [1, 2]);
}
