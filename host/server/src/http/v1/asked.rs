//! What every route of series takes from a request: who asks, the parameters, and the release.

use super::scope;
use crate::http::discovery::pairs;
use crate::http::refusal::{Refusal, internal};
use crate::http::request_id::RequestId;
use crate::service::Service;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use domesday_breaks::broken;
use domesday_contract::error::{Code, Fault, harmless};
use domesday_series::catalogue::{Dataset, Family};
use domesday_series::select::{ParameterError, ParameterFault, Parameters, Query};
use domesday_series::store::Release;
use domesday_state::{DatasetAccess, Principal};
use std::sync::Arc;

/// One request for series.
pub struct Asking {
    /// The service.
    pub service: Arc<Service>,
    /// Who asks.
    pub principal: Arc<Principal>,
    /// The id of the answer.
    pub request_id: String,
    /// The parameters, each once.
    pub parameters: Parameters,
    /// The headers.
    pub headers: HeaderMap,
}

impl FromRequestParts<Arc<Service>> for Asking {
    type Rejection = Refusal;

    async fn from_request_parts(
        parts: &mut Parts,
        service: &Arc<Service>,
    ) -> Result<Asking, Refusal> {
        let (Some(principal), Some(RequestId(id))) = (
            parts.extensions.get::<Arc<Principal>>().cloned(),
            parts.extensions.get::<RequestId>().copied(),
        ) else {
            // A route outside the layers that give both; the router has none.
            return Err(internal().into());
        };
        let read = pairs(parts.uri.query())
            .into_iter()
            .map(|(name, value)| (name.into_owned(), value.into_owned()));
        Ok(Asking {
            service: service.clone(),
            principal,
            request_id: id.to_string(),
            parameters: Parameters::read(read).map_err(refused)?,
            headers: std::mem::take(&mut parts.headers),
        })
    }
}

impl Asking {
    /// The datasets of the family that the key may use.
    pub fn access(&self, family: Family) -> &DatasetAccess {
        match family {
            Family::Markets => self.principal.scopes.markets(),
            Family::Rates => self.principal.scopes.rates(),
        }
    }

    /// That the key may use this dataset.
    ///
    /// # Errors
    /// `scope_required`, at `dataset`.
    pub fn entitled(&self, dataset: &Dataset) -> Result<(), Refusal> {
        if self.access(dataset.family).allows(dataset.id) || broken("v1-authentication-2-datasets")
        {
            return Ok(());
        }
        let scope = scope(dataset.family);
        let message = format!(
            "This key may not use this dataset. It needs the scope {scope}, or {scope}:{}.",
            dataset.id
        );
        Err(Fault::new(Code::ScopeRequired, message)
            .at("dataset")
            .into())
    }

    /// The release that answers: exactly the one named, or the current one where none is.
    ///
    /// # Errors
    /// `release_not_found`: there is no falling back to another.
    pub fn release(&self, family: Family, named: Option<&str>) -> Result<Arc<Release>, Refusal> {
        let shelf = self.service.family(family);
        let (found, message) = match named {
            Some(_) if broken("v1-endpoints-4") => (shelf.current(), ""),
            Some(id) if broken("v1-errors-2") => (shelf.get(id).or_else(|| shelf.current()), ""),
            Some(id) => (
                shelf.get(id),
                "No release of this id is retained. Leave release_id out for the current one.",
            ),
            None => (
                shelf.current(),
                "No release of this family is published here yet.",
            ),
        };
        found.ok_or_else(|| {
            Fault::new(Code::ReleaseNotFound, message)
                .at("release_id")
                .into()
        })
    }

    /// The release and the query of an initial request, in the order of checks that series and
    /// coverage share.
    ///
    /// # Errors
    /// A fault of the parameters, a dataset that the key may not use, or a release that is not there.
    pub fn query(&self, family: Family) -> Result<(Arc<Release>, Query), Refusal> {
        let dataset = self.parameters.dataset(family).map_err(refused)?;
        self.entitled(dataset)?;
        let release = self.release(family, self.parameters.release_id())?;
        let metrics_required = self.principal.requires_metric_selection;
        let query = self
            .parameters
            .query(dataset, &release, metrics_required)
            .map_err(refused)?;
        Ok((release, query))
    }

    /// That no parameter is given but these.
    ///
    /// # Errors
    /// `unknown_parameter`, at the first that is none of them.
    pub fn only(&self, taken: &[&str]) -> Result<(), Refusal> {
        self.parameters.only(taken).map_err(|error| {
            let message = match taken {
                [] => "This route takes no parameters.".to_owned(),
                _ => format!("This route takes {} alone.", taken.join(", ")),
            };
            Fault::new(Code::UnknownParameter, message)
                .at(harmless(&error.field))
                .into()
        })
    }
}

/// A fault of a parameter as a refusal.
pub fn refused(error: ParameterError) -> Refusal {
    let (code, message) = match error.fault {
        ParameterFault::MissingDataset => (
            Code::MissingDataset,
            "Name a dataset; the datasets route lists them.".to_owned(),
        ),
        ParameterFault::UnknownDataset => (
            Code::UnknownDataset,
            "No dataset of this family has this name; the datasets route lists them.".to_owned(),
        ),
        ParameterFault::MissingParameter => (
            Code::MissingParameter,
            format!("The parameter {} must be given.", error.field),
        ),
        ParameterFault::UnknownParameter => (
            Code::UnknownParameter,
            "This parameter is not taken here; the datasets route lists what each dataset takes."
                .to_owned(),
        ),
        ParameterFault::DuplicateParameter => (
            Code::DuplicateParameter,
            "This parameter is given more than once; give it once.".to_owned(),
        ),
        ParameterFault::InvalidParameter { expected } => (
            Code::InvalidParameter,
            format!("The parameter {} {expected}.", error.field),
        ),
        ParameterFault::UnknownArea => (
            Code::UnknownArea,
            "The release holds no local authority of this code; the areas route lists them."
                .to_owned(),
        ),
        ParameterFault::UnknownNode => (
            Code::UnknownNode,
            "This node exists nowhere in the release; the coverage route lists those that do."
                .to_owned(),
        ),
        ParameterFault::CursorNotAccepted => (
            Code::CursorNotAccepted,
            "Coverage is one whole and takes no cursor.".to_owned(),
        ),
        ParameterFault::CursorWithSelectors => (
            Code::CursorWithSelectors,
            "A continuation takes the cursor alone: it keeps selection and release.".to_owned(),
        ),
    };
    // An unknown parameter has whatever name the client gave it.
    Fault::new(code, message).at(harmless(&error.field)).into()
}
