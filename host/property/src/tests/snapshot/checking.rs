//! Checking a file without building from it.

use super::world::{CertificateRow, SoldRow, World, place};
use domesday_property::build::{self, FileCheck, OtherBuild};
use domesday_registers::{MaxRejected, recognise};
use std::path::Path;

/// A build that keeps sales without a postcode and nothing else.
const OTHER: OtherBuild = OtherBuild {
    price_paid: |sale| sale.postcode.is_none(),
    certificates: |_| false,
    code_point: |_| false,
    areas: |_| false,
    price_index: |_| false,
};

fn check(path: &Path) -> FileCheck {
    let register = recognise(path).unwrap();
    let limit = MaxRejected::default();
    build::check(register, path, limit, &OTHER, &mut |_, _, _| {}).unwrap()
}

#[test]
fn a_check_counts_each_file_as_a_build_does() {
    let far = place("ZZ1 1AC", 699_999, 1_299_999, "E92000001", "E07000900");
    let mut world = World::with_sales(&[
        SoldRow::default(),
        SoldRow {
            id: 2,
            postcode: String::new(),
            ..SoldRow::default()
        },
    ])
    .and_certificates(&[
        CertificateRow::default(),
        CertificateRow {
            key: 2,
            uprn: "",
            lines: ["77 Nowhere Road", ""],
            ..CertificateRow::default()
        },
    ])
    .and_addresses("102,,2,ORCHARD WAY,,ZEDTOWN,ZZ1 1AA,450220,300230,RD03,E\n")
    .and_open_uprn("101,450123.40,300456.60,52.1,-1.1\n103,nowhere,300001.00,52.1,-1.1\n");
    world.postcodes.push_str(&far);
    let built = world.build();
    let inputs = &built.inputs;
    let one = [&inputs.code_point, &inputs.code_map];
    let lists = [
        &inputs.price_paid,
        &inputs.certificates,
        &inputs.areas,
        &inputs.price_index,
        &inputs.addresses,
    ];
    let mut checked = 0;
    for path in lists.into_iter().flatten().chain(one) {
        let found = check(path);
        let by_build = built.report.files.iter();
        let by_build = by_build.filter(|file| file.sha256 == found.report.sha256);
        let [by_build] = by_build.collect::<Vec<_>>()[..] else {
            panic!("{}", path.display())
        };
        assert_eq!(&found.report, by_build);
        assert!(found.error.is_none(), "{:?}", found.error);
        checked += 1;
    }
    assert_eq!(checked, 7);
    let sales = check(&inputs.price_paid[0]);
    let [reason] = &sales.left_out[..] else {
        panic!("{sales:?}")
    };
    assert_eq!(
        (reason.code, reason.rows, reason.first.as_str()),
        ("no_postcode", 1, "line 2")
    );
    assert_eq!((sales.report.rows_kept, sales.kept_by_other), (1, Some(1)));
    assert_eq!(check(&inputs.addresses[0]).kept_by_other, None);
    let points = check(&inputs.open_uprn[0]);
    let [reason] = &points.rejected[..] else {
        panic!("{points:?}")
    };
    assert_eq!((reason.code, reason.rows), ("bad_grid_reference", 1));
    assert!(reason.first.starts_with("line 3: "), "{}", reason.first);
    // Half of its rows are rejected, and the limit of a build is 5 per cent.
    assert!(points.error.is_some());
}
