//! Table definitions. The list in [`ALL`] is what the content digest covers.

use redb::TableDefinition;
use serde::{Deserialize, Serialize};

/// Version of tables and codecs; a file of any other is refused.
pub const SCHEMA: u32 = 1;

pub(crate) type Numbered = TableDefinition<'static, u64, &'static [u8]>;
pub(crate) type Named = TableDefinition<'static, &'static str, &'static [u8]>;

pub(crate) const FACTS: Named = TableDefinition::new("facts");
pub(crate) const AUTHORITIES: Numbered = TableDefinition::new("authorities");
pub(crate) const POSTCODES: Numbered = TableDefinition::new("postcodes");
pub(crate) const ADDRESSES: Numbered = TableDefinition::new("addresses");
pub(crate) const PROPERTIES: Numbered = TableDefinition::new("properties");
pub(crate) const SALES: Numbered = TableDefinition::new("sales");
pub(crate) const CELLS: Numbered = TableDefinition::new("cells");
pub(crate) const POSTCODE_SALES: Numbered = TableDefinition::new("postcode_sales");
pub(crate) const FIGURES: Numbered = TableDefinition::new("figures");
pub(crate) const PRICE_INDEX: Numbered = TableDefinition::new("price_index");
/// Where the rows came from; the one table outside the content digest.
pub(crate) const ORIGIN: Named = TableDefinition::new("origin");

/// Tables keyed by number that the content digest covers, in its order.
pub(crate) const NUMBERED: [Numbered; 9] = [
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
pub(crate) const NAMED: [Named; 1] = [FACTS];

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
}
