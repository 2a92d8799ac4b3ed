//! Price paid files of one postcode district, as a user downloads them.

use super::downloads;
use domesday_series::build::markets::{Coverage, Inputs, MarketsError, draft};

const FILE: &str = "ppd/pp-rg30-1995-2023.csv";

fn inputs(test: &str) -> Option<Inputs> {
    let data = downloads::folder(test, FILE)?;
    Some(Inputs {
        price_paid: vec![data.join(FILE)],
        areas: vec![data.join("areas/SAM_LAD_DEC_2023_UK.csv")],
        code_map: data.join("areas/local-authority-codes-past-and-current.csv"),
        ..Inputs::default()
    })
}

#[test]
fn files_of_one_district_are_refused_without_declared_coverage() {
    let Some(mut inputs) = inputs("part of the country") else {
        return;
    };
    let refused = draft(&inputs, &mut |_, _, _| ()).map(|_| ());
    let Err(MarketsError::PartOfTheCountry { without, of }) = refused else {
        panic!("{refused:?}");
    };
    assert!(without > 300 && of == 318, "{without} of {of}");
    inputs.coverage = vec![Coverage::parse("E06000038:2015-01:2022-12").unwrap()];
    assert!(draft(&inputs, &mut |_, _, _| ()).is_ok());
}
