//! The extractor of the series routes: principal, parameters and release.

use super::scope::scope_of;
use crate::http::discovery::pairs;
use crate::http::error::{ApiError, internal};
use crate::http::request_id::RequestId;
use crate::service::Service;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use domesday_contract::error::{Code, ValidationError, sanitize};
use domesday_series::catalogue::{Dataset, Family};
use domesday_series::select::{ParameterError, ParameterErrorKind, Parameters};
use domesday_series::store::Release;
use domesday_state::{DatasetAccess, Principal, ReleaseKind};
use std::sync::Arc;

/// A request on a series route.
pub struct SeriesQuery {
    /// The service.
    pub service: Arc<Service>,
    /// The key.
    pub principal: Arc<Principal>,
    /// The request id.
    pub request_id: String,
    /// The parameters, each once.
    pub parameters: Parameters,
    /// The headers.
    pub headers: HeaderMap,
}

impl FromRequestParts<Arc<Service>> for SeriesQuery {
    type Rejection = ApiError;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<SeriesQuery, ApiError> {
        let (Some(principal), Some(RequestId(id))) = (
            parts.extensions.get::<Arc<Principal>>().cloned(),
            parts.extensions.get::<RequestId>().copied(),
        ) else {
            // A route outside the layers that give both. The router has none.
            return Err(internal().into());
        };
        let read = pairs(parts.uri.query())
            .into_iter()
            .map(|(name, value)| (name.into_owned(), value.into_owned()));
        Ok(SeriesQuery {
            service: service.clone(),
            principal,
            request_id: id.to_string(),
            parameters: Parameters::read(read).map_err(parameter_error)?,
            headers: std::mem::take(&mut parts.headers),
        })
    }
}

impl SeriesQuery {
    /// Returns the datasets of the family that the key may use.
    pub fn access(&self, family: Family) -> &DatasetAccess {
        match family {
            Family::Markets => self.principal.scopes.markets(),
            Family::Rates => self.principal.scopes.rates(),
        }
    }

    /// Checks that the key may use this dataset.
    ///
    /// # Errors
    /// `scope_required`, at `dataset`.
    pub fn check_entitlement(&self, dataset: &Dataset) -> Result<(), ApiError> {
        if self.access(dataset.family).allows(dataset.id) {
            return Ok(());
        }
        let scope = scope_of(dataset.family);
        let message = format!(
            "This key may not use this dataset. It needs the scope {scope}, or {scope}:{}.",
            dataset.id
        );
        Err(ValidationError::new(Code::ScopeRequired, message)
            .at("dataset")
            .into())
    }

    /// Returns the named release, or the current one where the request names none.
    ///
    /// # Errors
    /// `release_not_found`, and `overloaded` for a promoted release that is not open here. It never
    /// falls back to another release.
    pub fn release(&self, family: Family, named: Option<&str>) -> Result<Arc<Release>, ApiError> {
        let releases = self.service.family(family);
        let (found, message) = match named {
            Some(id) => (
                releases.get(id),
                "No release of this id is retained. Leave release_id out for the current one.",
            ),
            None => (
                releases.current(),
                "No release of this family is published here yet.",
            ),
        };
        found.ok_or_else(|| {
            if self.is_to_open(family, named) {
                return unopened_release("release_id");
            }
            ValidationError::new(Code::ReleaseNotFound, message)
                .at("release_id")
                .into()
        })
    }

    /// Returns whether the named release, or the one of a query that names none, is promoted and
    /// still to be opened here. Another host may serve it before. Reads memory alone.
    pub fn is_to_open(&self, family: Family, named: Option<&str>) -> bool {
        let kind = match family {
            Family::Markets => ReleaseKind::Markets,
            Family::Rates => ReleaseKind::Rates,
        };
        let Some(promoted) = self.service.state.promoted_release(kind) else {
            return false;
        };
        let expected = (self.service.metrics.promotions).last_manifest(kind, &promoted);
        let withdrawn = self.service.family(family).withdrawn_manifest(&promoted);
        // A withdrawn package is no longer published. Another one may be on its way.
        let is_withdrawn = withdrawn
            .is_some_and(|digest| expected.is_none_or(|expected| expected == digest.to_string()));
        named.is_none_or(|id| id == promoted) && !is_withdrawn
    }

    /// Checks that the request has no other parameters than these.
    ///
    /// # Errors
    /// `unknown_parameter`, at the first other parameter.
    pub fn only(&self, taken: &[&str]) -> Result<(), ApiError> {
        self.parameters.only(taken).map_err(|error| {
            let message = match taken {
                [] => "This route takes no parameters.".to_owned(),
                _ => format!("This route takes {} alone.", taken.join(", ")),
            };
            ValidationError::new(Code::UnknownParameter, message)
                .at(sanitize(&error.field))
                .into()
        })
    }
}

/// Returns 503, at the parameter that names a promoted release which is still to be opened here.
pub fn unopened_release(field: &'static str) -> ApiError {
    let message = "The promoted release is not open on this host. Try again after Retry-After.";
    ValidationError::new(Code::Overloaded, message)
        .at(field)
        .into()
}

/// Returns the API error of a parameter.
pub fn parameter_error(error: ParameterError) -> ApiError {
    let (code, message) = match error.kind {
        ParameterErrorKind::MissingDataset => (
            Code::MissingDataset,
            "Name a dataset; the datasets route lists them.".to_owned(),
        ),
        ParameterErrorKind::UnknownDataset => (
            Code::UnknownDataset,
            "No dataset of this family has this name; the datasets route lists them.".to_owned(),
        ),
        ParameterErrorKind::MissingParameter => (
            Code::MissingParameter,
            format!("The parameter {} must be given.", error.field),
        ),
        ParameterErrorKind::UnknownParameter => (
            Code::UnknownParameter,
            "This parameter is not taken here; the datasets route lists what each dataset takes."
                .to_owned(),
        ),
        ParameterErrorKind::DuplicateParameter => (
            Code::DuplicateParameter,
            "This parameter is given more than once; give it once.".to_owned(),
        ),
        ParameterErrorKind::InvalidParameter { expected } => (
            Code::InvalidParameter,
            format!("The parameter {} {expected}.", error.field),
        ),
        ParameterErrorKind::UnknownArea => (
            Code::UnknownArea,
            "The release holds no local authority of this code; the areas route lists them."
                .to_owned(),
        ),
        ParameterErrorKind::UnknownNode => (
            Code::UnknownNode,
            "This node exists nowhere in the release; the coverage route lists those that do."
                .to_owned(),
        ),
        ParameterErrorKind::CursorNotAccepted => (
            Code::CursorNotAccepted,
            "Coverage is one whole and takes no cursor.".to_owned(),
        ),
        ParameterErrorKind::CursorWithSelectors => (
            Code::CursorWithSelectors,
            "A continuation takes the cursor alone: it keeps selection and release.".to_owned(),
        ),
    };
    // The client chose the name of an unknown parameter.
    ValidationError::new(code, message)
        .at(sanitize(&error.field))
        .into()
}
