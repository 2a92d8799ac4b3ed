//! OS Open UPRN places homes that no address file has.

use super::world::{CertificateRow, SoldRow, World, day};

#[test]
fn a_home_lies_where_open_uprn_says_unless_the_address_file_has_it() {
    let lodged = |key, uprn, line| CertificateRow {
        key,
        uprn,
        lines: [line, ""],
        ..CertificateRow::default()
    };
    let sold = |id, paon| SoldRow {
        id,
        paon,
        price: u64::from(id),
        ..SoldRow::default()
    };
    let world = || {
        World::with_sales(&[sold(1, "1"), sold(2, "2"), sold(3, "3")])
            .and_certificates(&[
                lodged(1, "101", "1 Orchard Way"),
                lodged(2, "102", "2 Orchard Way"),
                lodged(3, "103", "3 Orchard Way"),
            ])
            .and_addresses("102,,2,ORCHARD WAY,,ZEDTOWN,ZZ1 1AA,450220,300230,RD03,E\n")
    };
    let without = world().build();
    let built = world()
        .and_open_uprn(
            "101,450123.40,300456.60,52.1,-1.1\n\
             102,450999.00,300999.00,52.1,-1.1\n\
             999,450001.00,300001.00,52.1,-1.1\n\
             103,nowhere,300001.00,52.1,-1.1\n",
        )
        .build();
    let place = |of: &super::world::Built, uprn| {
        let home = of.open().property(uprn).unwrap().unwrap();
        home.place.unwrap()
    };
    assert_eq!(place(&built, 101), (450_123, 300_457));
    assert_eq!(place(&built, 102), (450_220, 300_230), "the address file's");
    assert_eq!(place(&built, 103), place(&without, 103), "its postcode's");
    assert_ne!(place(&built, 101), place(&without, 101));
    assert!(built.open().property(999).unwrap().is_none());

    let homes = &built.report.homes;
    assert_eq!(homes.placed_by_open_uprn, 1);
    assert_eq!(homes.properties, without.report.homes.properties);
    assert_eq!(without.report.homes.placed_by_open_uprn, 0);
    let file = built.report.files.iter();
    let file = file.filter(|file| file.register == "open_uprn");
    let [file] = file.collect::<Vec<_>>()[..] else {
        panic!("one file of Open UPRN")
    };
    assert_eq!((file.rows_read, file.rows_kept), (4, 3));
    assert_eq!(file.rejected["bad_grid_reference"], 1);

    let own = built.open().own_sales(101, day("2030-01-01"), 9).unwrap();
    assert_eq!((own[0].easting, own[0].northing), (450_123, 300_457));
    assert!(own[0].own_place);
    let own = without.open().own_sales(101, day("2030-01-01"), 9).unwrap();
    assert!(!own[0].own_place);
}
