use super::*;
use crate::rows::Rows;
use std::io::Cursor;

#[test]
fn both_date_styles_and_blank_indices() {
    let text = "Date,RegionName,AreaCode,Index,DetachedIndex,SemiDetachedIndex,TerracedIndex,FlatIndex\n\
                2026-09-01,London,E12000007,101.5,,99,,\n\
                01/09/2026,London,E12000007,101.5,,99,,\n\
                15/09/2026,London,E12000007,1,1,1,1,1\n\
                2026-09-02,London,E12000007,1,1,1,1,1\n\
                01/9/2026,London,E12000007,1,1,1,1,1\n\
                01/09/2026,London,E12000007,0,1,1,1,1\n\
                01/09/2026,London,,1,1,1,1,1\n";
    let rows: Vec<_> = Rows::<IndexFile>::from_reader("hpi.csv", Cursor::new(text))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(rows[0], rows[1]);
    let first = rows[0].as_ref().unwrap();
    assert_eq!(
        (first.month, first.all, first.detached, first.semi_detached),
        (56 * 12 + 8, Some(101.5), None, Some(99.0))
    );
    let reasons: Vec<_> = rows[2..]
        .iter()
        .map(|row| row.as_ref().unwrap_err().reason.code())
        .collect();
    assert_eq!(
        reasons,
        [
            "bad_date",
            "bad_date",
            "bad_date",
            "bad_number",
            "bad_area_code"
        ]
    );
}
