//! The kinds of rows that are in memory together because they share a key.

use super::external_sort::GroupKind;
use crate::model::{AreaLevel, GssCode};
use crate::store::cell::Cell;
use crate::store::postcode::{self, UNITS_OF_DISTRICT};

/// Most rows that share a key. Real postcodes have a few hundred sales and addresses, homes and
/// transactions far fewer. So the bound stops only files that are not of the registers.
const MOST_ROWS: usize = 1_000_000;

/// Most rows of an area of the figures, or addresses of a postcode district. The largest real
/// authorities have some 700,000 sales.
const MOST_ROWS_OF_AREA: usize = 10_000_000;

/// The flags of files that name homes.
const HOMES: &str = "--addresses, --sold-addresses and --certificates";
/// The flag of files of sales.
const SALES: &str = "--price-paid";

const fn kind<K>(describe: fn(K) -> String, flags: &'static str) -> GroupKind<K> {
    GroupKind {
        describe,
        flags,
        most: MOST_ROWS,
    }
}

/// Rows of one transaction.
pub(crate) const OF_TRANSACTION: GroupKind<u64> = kind(transaction, SALES);
/// Sales of one postcode.
pub(crate) const SALES_OF_POSTCODE: GroupKind<u64> = kind(postcode, SALES);
/// Sales of one block.
pub(crate) const SALES_OF_BLOCK: GroupKind<u64> = kind(block, SALES);
/// Sales of one home.
pub(crate) const SALES_OF_HOME: GroupKind<u64> = kind(home, SALES);
/// Rows of one home in the files that name homes.
pub(crate) const ROWS_OF_HOME: GroupKind<u64> = kind(home, HOMES);
/// Coordinates of one home.
pub(crate) const POINTS_OF_HOME: GroupKind<u64> = kind(home, "--open-uprn");
/// Addresses of one postcode.
pub(crate) const ADDRESSES_OF_POSTCODE: GroupKind<u64> = kind(postcode, HOMES);
/// Sales in the terminated postcodes of one district.
pub(crate) const SALES_OF_DISTRICT: GroupKind<u64> = kind(district, SALES);
/// Addresses of one district.
pub(crate) const ADDRESSES_OF_DISTRICT: GroupKind<u64> = GroupKind {
    most: MOST_ROWS_OF_AREA,
    ..kind(district, HOMES)
};
/// Sales of one area of the figures.
pub(crate) const SALES_OF_AREA: GroupKind<(AreaLevel, u64)> = GroupKind {
    most: MOST_ROWS_OF_AREA,
    ..kind(area, SALES)
};

fn transaction(id: u64) -> String {
    format!("the sale id {id:016x}")
}

fn postcode(packed: u64) -> String {
    match postcode::unpack(packed) {
        Some(postcode) => format!("the postcode {postcode}"),
        None => format!("the postcode number {packed}"),
    }
}

fn district(number: u64) -> String {
    match postcode::unpack(number * UNITS_OF_DISTRICT) {
        Some(postcode) => format!("the postcode district {}", postcode.district()),
        None => format!("the postcode district number {number}"),
    }
}

fn home(uprn: u64) -> String {
    format!("the UPRN {uprn}")
}

fn block(key: u64) -> String {
    match Cell::of_key(key) {
        (Cell::Grid(column, row), year) => {
            let (easting, northing) = Cell::Grid(column, row).corner();
            format!("the cell at {easting}, {northing} and the year {year}")
        }
        (Cell::Unplaced(packed), year) => format!("{} and the year {year}", postcode(packed)),
    }
}

fn area((level, number): (AreaLevel, u64)) -> String {
    let code = u32::try_from(number).ok().and_then(GssCode::unpack);
    match (level, code) {
        (AreaLevel::LocalAuthority, Some(code)) => format!("the authority {code}"),
        (level, _) => format!("the area {number} ({level:?})"),
    }
}
