//! The evidence queries of a release, and the sources that answer them.
//!
//! Questions and answers are data, so one record of them serves the snapshot, the recorder and
//! the replay alike.

mod bounds;
mod digests;
mod recorded_evidence;
mod recorder;
mod row_work;
mod sale_view;
mod shown_sales;
mod snapshot;

pub use bounds::{Bounds, MAX_OWN_SALES, MAX_QUESTIONS, MAX_SALES, MAX_SALES_A_QUESTION};
pub use digests::{AnswerDigest, DigestedExchange, PackSale, SALE_NUMBERS, SaleIds};
pub(crate) use digests::{AnswerDigests, digest};
pub use recorded_evidence::RecordedEvidence;
pub use recorder::{Exchange, Recorder};
pub use row_work::{MAX_ROW_WORK, MAX_SEARCH_WORK, RowWork};
pub(crate) use sale_view::{check_past, nearness_to, precision, shows_attributes};
pub use shown_sales::ShownSales;
pub use snapshot::SnapshotEvidence;

use crate::subject::{GridPoint, Precision, Subject};
use domesday_property::{FoundSales, IndexPoints};
use domesday_registers::codes::{AgeBand, EnergyRating, PropertyType, Subtype, Tenure};
use domesday_registers::{Day, Postcode};
use serde::{Deserialize, Serialize};

/// One question of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum EvidenceQuery {
    /// Sales within a radius.
    NearbySales(SalesQuery),
    /// The subject's own sales.
    OwnSales,
    /// The house price index where the subject stands.
    PriceIndex {
        /// Of one type, or of all.
        kind: Option<PropertyType>,
        /// Months since January 1970; earlier months are left out.
        since: i32,
    },
    /// Twelve-month figures of an area that holds the subject.
    AreaFigures {
        /// Level of the area.
        level: AreaLevel,
        /// Of one type, or of all.
        kind: Option<PropertyType>,
    },
}

/// Sales near a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SalesQuery {
    /// The middle of the circle.
    pub center: GridPoint,
    /// Metres.
    pub radius_m: u32,
    /// The earliest day that counts.
    pub since: Day,
    /// In rising order, none twice.
    pub types: Vec<PropertyType>,
    /// Only category A.
    pub standard_only: bool,
    /// Only sales with a known floor area.
    pub floor_area_only: bool,
    /// Order of the sales.
    pub order: SalesOrder,
    /// The limit of their number.
    pub limit: u32,
    /// The work that the searches of the row may still do. It is not part of the question.
    #[serde(skip)]
    pub work: RowWork,
}

/// Order in which sales are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SalesOrder {
    /// By distance, then newest, then id.
    Nearest,
    /// By day, newest first, then distance, then id.
    Newest,
}

/// An area that holds the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum AreaLevel {
    PostcodeSector,
    PostcodeDistrict,
    LocalAuthority,
    Region,
    Country,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", content = "with", rename_all = "snake_case")]
pub enum EvidenceResponse {
    /// In the order that the question asked for.
    Sales(Vec<Sale>),
    /// Absent where no area that holds the subject has a series.
    Index(Option<IndexSeries>),
    /// Absent where the area has had no sale.
    Figures(Option<Figures>),
    /// The question was out of bounds.
    Refused(Refusal),
}

/// The reason why a question was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Refusal {
    TooManyQuestions,
    TooManySales,
    InvalidQuestion,
}

/// The nearness of a sale to the subject in the postcode's hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Nearness {
    SameProperty,
    SamePostcode,
    SameSector,
    SameDistrict,
    SameArea,
    Elsewhere,
}

/// One sale as a release is shown it, with the postcode that a rendered comparable needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sale {
    /// Unique in the snapshot.
    pub id: u64,
    /// UPRN of the property that the sale is joined to, if any.
    pub uprn: Option<u64>,
    /// Day of the deed.
    pub day: Day,
    /// Whole pounds.
    pub price_gbp: u64,
    /// Location of the home.
    pub place: GridPoint,
    /// The precision of the place.
    pub precision: Precision,
    /// From the place asked about, metres.
    pub distance_m: f64,
    /// Against the subject.
    pub nearness: Nearness,
    /// Postcode of the sold property. Not shown to the release.
    pub postcode: Postcode,
    /// Type as registered.
    pub property_type: PropertyType,
    /// From a certificate known before the valuation day.
    pub subtype: Option<Subtype>,
    /// As registered.
    pub tenure: Option<Tenure>,
    /// Sold new.
    pub new_build: bool,
    /// Category A.
    pub standard: bool,
    /// From a certificate known before the valuation day, square metres.
    pub floor_area_m2: Option<f64>,
    /// From a certificate known before the valuation day.
    pub habitable_rooms: Option<u32>,
    /// From a certificate known before the valuation day.
    pub age_band: Option<AgeBand>,
    /// From a certificate known before the valuation day.
    pub rating: Option<EnergyRating>,
    /// Lodgement date of that certificate.
    pub attributes_day: Option<Day>,
}

/// A house price index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSeries {
    /// The most local level that has the series.
    pub level: AreaLevel,
    /// (month since January 1970, value), in rising order of month.
    pub points: IndexPoints,
}

/// Twelve-month figures of an area.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// The window's last month, since January 1970.
    pub to_month: i32,
    /// Category A sales in the window.
    pub sales_count: u32,
    /// Pounds; absent below five sales.
    pub median_price_gbp: Option<f64>,
    /// Pounds a square metre; absent below ten sales with a floor area.
    pub price_per_sqm_gbp: Option<f64>,
    /// Change of the median over twelve months, per cent.
    pub price_change_pct: Option<f64>,
}

/// The evidence could not be read: a failure of the host, never an answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The snapshot failed.
    #[error("cannot read the property snapshot: {0}")]
    Snapshot(String),
    /// The snapshot returned a sale that was not known before the valuation day.
    #[error(
        "the property snapshot returned sale {sale}, which nobody knew before the valuation day"
    )]
    Future {
        /// The sale's id.
        sale: u64,
    },
    /// The row's time ended while the question was answered.
    #[error("the row's time on the clock ran out")]
    OutOfTime,
    /// In a replay: the release made a query that its fixture does not hold.
    #[error("query {number} of the release differs from the query in the fixture")]
    NotRecorded {
        /// Counted from 1.
        number: usize,
    },
}

/// Answers a release's questions about one subject.
///
/// To any query, an answer holds only facts that were known before the subject's valuation day.
/// The engine has checked the question's bounds already.
pub trait EvidenceSource: Send + Sync {
    /// Answers one question.
    ///
    /// # Errors
    /// [`EvidenceError`] if the evidence cannot be read. The row then ends as a host failure.
    fn ask(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<EvidenceResponse, EvidenceError>;

    /// Answers one question as [`EvidenceSource::ask`] does, where the sales may stay as their
    /// source has them. A source that only knows records need not say how.
    ///
    /// # Errors
    /// As [`EvidenceSource::ask`].
    fn ask_packed(
        &self,
        subject: &Subject,
        question: &EvidenceQuery,
    ) -> Result<PackedResponse, EvidenceError> {
        self.ask(subject, question).map(PackedResponse::Records)
    }
}

/// The answer to one question, whose sales may be packed.
pub enum PackedResponse {
    /// The answer as it is.
    Records(EvidenceResponse),
    /// Sales as the snapshot found them.
    Found(FoundSales),
}
