//! Table definitions. The content digest covers the list in [`ALL`].

use redb::TableDefinition;
use serde::{Deserialize, Serialize};

/// Version of tables and codecs. A file of another version is refused.
pub const SCHEMA: u32 = 1;

pub(crate) type U64Table = TableDefinition<'static, u64, &'static [u8]>;
pub(crate) type StrTable = TableDefinition<'static, &'static str, &'static [u8]>;

pub(crate) const FACTS: StrTable = TableDefinition::new("facts");
pub(crate) const AUTHORITIES: U64Table = TableDefinition::new("authorities");
pub(crate) const POSTCODES: U64Table = TableDefinition::new("postcodes");
pub(crate) const ADDRESSES: U64Table = TableDefinition::new("addresses");
pub(crate) const PROPERTIES: U64Table = TableDefinition::new("properties");
pub(crate) const SALES: U64Table = TableDefinition::new("sales");
pub(crate) const CELLS: U64Table = TableDefinition::new("cells");
pub(crate) const POSTCODE_SALES: U64Table = TableDefinition::new("postcode_sales");
pub(crate) const FIGURES: U64Table = TableDefinition::new("figures");
pub(crate) const PRICE_INDEX: U64Table = TableDefinition::new("price_index");
/// Addresses of sales without a property, for updates alone. They are outside the content digest,
/// as `origin` is, since no query reads them.
pub(crate) const UNMATCHED: U64Table = TableDefinition::new("unmatched_sales");
/// The sources of the rows, outside the content digest.
pub(crate) const ORIGIN: StrTable = TableDefinition::new("origin");

/// Tables keyed by number that the content digest covers, in its order.
pub(crate) const NUMBERED: [U64Table; 9] = [
    ADDRESSES,
    AUTHORITIES,
    CELLS,
    FIGURES,
    POSTCODES,
    POSTCODE_SALES,
    PRICE_INDEX,
    PROPERTIES,
    SALES,
];

/// Tables keyed by text that the content digest covers, in its order, after [`NUMBERED`].
pub(crate) const NAMED: [StrTable; 1] = [FACTS];

/// The key of the only row of `facts` and of `origin`.
pub(crate) const ONLY: &str = "snapshot";

/// The row of `facts`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) schema: u32,
    pub(crate) latest_sale: Option<i32>,
    pub(crate) rows: crate::model::RowCounts,
}

/// The row of `origin`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub(crate) snapshot_id: String,
    pub(crate) content_digest: String,
    pub(crate) sources: Vec<crate::model::SourceFile>,
    /// The moment of the last rows of price paid data; absent in a snapshot without [`UNMATCHED`].
    #[serde(default)]
    pub(crate) price_paid_to: Option<Moment>,
    /// True if sales were also matched by rules for addresses. An update then does as the build
    /// did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) by_rules: bool,
}

/// The place of a price paid file in the order in which files act. Files act in the order of their
/// latest day. Of two files of one day, the one with changes or deletions (a monthly file) acts
/// after one that only adds. Any other tie is ordered by SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Moment {
    /// The latest day of its rows.
    pub(crate) latest_day: u16,
    /// True if it changes or deletes anything.
    pub(crate) changes: bool,
    /// SHA-256 in lower-case hexadecimal.
    pub(crate) sha256: String,
}

impl Moment {
    /// Returns a file without any row yet.
    pub(crate) fn before_reading(sha256: String) -> Moment {
        Moment {
            latest_day: 0,
            changes: false,
            sha256,
        }
    }

    /// Records a row: its day, and whether it changes another.
    pub(crate) fn take(&mut self, day: u16, changes: bool) {
        self.latest_day = self.latest_day.max(day);
        self.changes |= changes;
    }
}
