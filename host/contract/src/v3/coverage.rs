//! `GET /v3/coverage`: whether the active release's data knows a postcode and a UPRN, each for
//! itself, without valuing anything.

use serde::Serialize;
use utoipa::ToSchema;

use super::identity::{Postcode, Uprn};
use super::query;
use crate::error::{ValidationError, ValidationErrors};
use crate::json::{Section, Shape};

/// The query, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageQuery {
    /// The postcode asked about.
    pub postcode: Postcode,
    /// The UPRN asked about.
    pub uprn: Option<Uprn>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Coverage {
    /// The active valuation release.
    pub release_id: String,
    /// Coverage of the postcode.
    pub postcode: PostcodeCoverage,
    /// Coverage of the UPRN; null where the query names none.
    #[schema(required)]
    pub uprn: Option<UprnCoverage>,
}

/// Coverage of a postcode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PostcodeCoverage {
    /// The postcode in standard form.
    pub value: Postcode,
    /// True if the release's snapshot has an address or a sale in the postcode.
    pub represented: bool,
    /// Standard sales (category A) of dwellings there in the 1,096 days before today.
    pub recent_sales: u32,
}

/// Coverage of a UPRN.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct UprnCoverage {
    /// The UPRN.
    pub value: Uprn,
    /// True if the release's snapshot has the UPRN as a home.
    pub present: bool,
}

impl CoverageQuery {
    /// Reads the decoded parameters of a query string, as strictly as a body: errors point to
    /// `/postcode` and the like.
    ///
    /// # Errors
    /// Every parameter that is unknown, missing, repeated or malformed.
    pub fn read<'q>(
        parameters: impl IntoIterator<Item = (&'q str, &'q str)>,
    ) -> Result<Self, Vec<ValidationError>> {
        let object = query::object(parameters);
        let mut errors = ValidationErrors::default();
        let shape = Shape {
            pointer: "",
            fields: &["postcode", "uprn"],
        };
        let mut query = Section::new(shape, 0, &object);
        let postcode = query.require(&mut errors, "postcode", Postcode::read);
        let uprn = query.optional(&mut errors, "uprn", Uprn::read);
        query.finish(&mut errors);
        match postcode {
            Some(postcode) if errors.count() == 0 => Ok(Self { postcode, uprn }),
            _ => Err(errors.into_listed()),
        }
    }
}
