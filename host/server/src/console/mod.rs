//! The console: pages for people, on a separate listener.
//!
//! A session acts for a tenant. Its requests pass the service's own routes inside this process with
//! the key of the session. So scopes, plan and limits are those of the API. Pages are made
//! here and work without scripts. They load nothing from another origin.

mod address_search;
mod api;
mod assets;
mod blocking;
mod cookie;
mod csv_file;
mod drift_page;
mod error;
mod find_page;
mod form;
mod guard;
mod guide_page;
mod home_points;
mod idempotent_form;
mod job_page;
mod job_results;
mod jobs_page;
mod layout;
mod login;
mod market_part;
mod operation_page;
mod operation_plots;
mod parquet_file;
mod releases_page;
mod report_page;
mod reports_list;
mod series_page;
mod stored_home;
mod tile_map;
mod upload;
mod usage_page;
mod value_evidence;
mod value_form;
mod value_inputs;
mod value_page;
mod value_sales;

use crate::clock::new_id;
use crate::http::middleware::MiddlewareLayer;
use crate::http::{self, compression, divided_body};
use crate::operation_samples::OperationSamples;
use crate::service::Service;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use domesday_console::fields::Fields;
use domesday_console::reports::ReportsFolder;
use error::ConsoleError;
use layout::FORM_ID;
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

/// Bytes of the smallest page or file that is compressed.
const SMALLEST_COMPRESSED: u16 = 1 << 10;

/// The parts that every page of the console needs.
#[derive(Clone)]
struct Console {
    service: Arc<Service>,
    /// The routes of the service.
    api: Router,
    samples: Arc<OperationSamples>,
    /// The folder of reports, where one is configured.
    reports: Option<Arc<ReportsFolder>>,
}

impl Console {
    /// Returns an id for a form that is shown for the first time.
    fn new_form_id(&self) -> String {
        new_id(&*self.service.clock).to_string()
    }

    /// Returns the id of a form that was sent, or a new one where it has none.
    fn form_id(&self, fields: &Fields) -> String {
        let id = fields.get(FORM_ID);
        let id = id.filter(|id| id.parse::<uuid::Uuid>().is_ok());
        id.map_or_else(|| self.new_form_id(), str::to_owned)
    }
}

/// Returns the routes of the console. It needs the sessions of `service`.
pub fn router(
    service: Arc<Service>,
    samples: Arc<OperationSamples>,
    reports: Option<ReportsFolder>,
) -> Router {
    let console = Console {
        api: http::router(service.clone()),
        service,
        samples,
        reports: reports.map(Arc::new),
    };
    let pages = Router::new()
        .route("/", get(value_form::page))
        .route("/addresses", post(find_page::find))
        .route("/values", get(value_form::to_page).post(value_form::value))
        .route("/values/{valuation_id}", get(value_page::page))
        .route("/markets", get(series_page::markets))
        .route("/rates", get(series_page::rates))
        .route("/markets.csv", get(series_page::markets_file))
        .route("/markets.parquet", get(series_page::markets_file))
        .route("/rates.csv", get(series_page::rates_file))
        .route("/rates.parquet", get(series_page::rates_file))
        .route("/releases", get(releases_page::page))
        .route("/releases/report", get(report_page::page))
        .route("/releases/shadow", get(report_page::shadow))
        .route("/releases/drift", get(drift_page::page))
        .route("/jobs", get(jobs_page::page).post(jobs_page::submit))
        .route("/jobs/{job_ids}", get(job_page::page))
        .route("/jobs/{job_ids}/results.csv", get(job_results::download))
        .route("/usage", get(usage_page::page))
        .route("/usage.csv", get(usage_page::file))
        .route("/map/{file}", get(tile_map::range))
        .route("/operation", get(operation_page::page))
        .route(guide_page::PATH, get(guide_page::page))
        .route("/logout", post(login::logout))
        .layer(from_fn_with_state(console.clone(), guard::require_session));
    Router::new()
        .merge(pages)
        .route("/login", get(login::page).post(login::login))
        .route("/assets/{file}", get(assets::file))
        .fallback(|| async { ConsoleError::NoPage })
        .with_state(console.clone())
        .layer(CatchPanicLayer::custom(error::answer_panic))
        .layer(from_fn_with_state(console, guard::require_own_origin))
        .layer(from_fn(guard::add_security_headers))
        .layer(MiddlewareLayer(divided_body::BodyDivider))
        .layer(compression::layer(SMALLEST_COMPRESSED))
}
