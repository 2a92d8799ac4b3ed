//! Executes commands on a running service.

use super::command_log::log_command;
use super::problem::Problem;
use super::protocol::{self, Command, LoadedRelease, Response, Status};
use super::state_commands::{copy_state, on_state};
use crate::clock::random;
use crate::console_sessions::ConsoleUser;
use crate::promotion::PromotionRequest;
use crate::release_source::{Fetch, ReleaseSource};
use crate::service::Service;
use crate::telemetry::process::read_status;
use domesday_backup::ledger_key::known_signers;
use domesday_state::{LedgerSigner as _, ReleaseKind, Scopes, TenantId, last_trusted_entry};
use domesday_valuation::sample_rate::SampleRate;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Time limit of the state when it reports its status.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Executes a command on a running service. Blocks.
///
/// # Errors
/// [`Problem`] if the command is not carried out.
pub fn on_service(service: &Service, command: Command) -> Result<Response, Problem> {
    match command {
        Command::Status {} => Ok(Response::Status(status(service))),
        Command::Releases {} => Ok(releases(service)),
        Command::Promote {
            kind,
            release,
            who,
            reason,
        } => {
            let kind = ReleaseKind::from(kind);
            let request = PromotionRequest {
                kind,
                release_id: &release,
                who: &who,
                reason: reason.as_deref(),
            };
            let record = service.promote(request, service.clock.now())?;
            service.show_promotions();
            tracing::info!(
                kind = kind.as_str(),
                release_id = release,
                who,
                ledger_hash = hex::encode(record.hash),
                "release promoted"
            );
            Ok(Response::Promoted(record.into()))
        }
        Command::ConsoleLogin {
            tenant,
            scopes,
            operator,
        } => {
            let link = console_link(service, &tenant, &scopes, operator)?;
            tracing::info!(tenant, operator, "link to the console made");
            Ok(Response::ConsoleLink { link })
        }
        Command::EraseReceiptKey { ref tenant } => {
            log_command(&command);
            let id: TenantId = tenant.parse()?;
            let outcome = on_state(&*service.state, service.clock.now(), command.clone());
            // The key may be gone whatever the outcome, and a repetition finds none.
            if let Some(receipts) = &service.receipts {
                receipts.forget(&id);
            }
            let console = service.console.as_ref();
            if let Some(values) = console.and_then(|console| console.values())
                && let Err(error) = values.forget(&id)
            {
                // Nobody can open them once the key is gone. A repetition tries again.
                tracing::warn!(%error, "sealed values of the console were not removed");
            }
            outcome
        }
        Command::CopyState { ref path } => {
            log_command(&command);
            // A copy may take minutes, and a stop can close the state only once it has ended.
            let must_stop = || service.connections.is_draining();
            copy_state(&*service.state, path, service.clock.now(), &must_stop)
        }
        Command::StartShadow { release, share } => {
            service.begin_shadow(&release, SampleRate::new(share)?)?;
            Ok(Response::Done {})
        }
        Command::StopShadow {} => match service.shadows.end() {
            Some(release) => Ok(Response::ShadowEnded { release }),
            None => Err(Problem::NoShadow),
        },
        command => {
            log_command(&command);
            let mut response = on_state(&*service.state, service.clock.now(), command)?;
            if let Response::History { known, .. } = &mut response {
                let trust = service.releases.trust();
                *known = known_signers(&service.ledger_key.public_key(), trust);
            }
            Ok(response)
        }
    }
}

/// Makes a link that opens a session of the console for a tenant.
fn console_link(
    service: &Service,
    tenant: &str,
    scopes: &[String],
    operator: bool,
) -> Result<String, Problem> {
    let sessions = service.console.as_ref().ok_or(Problem::NoConsole)?;
    let id: TenantId = tenant.parse()?;
    let tenants = service.state.tenants()?;
    match tenants.iter().find(|known| known.id == id) {
        Some(known) if known.enabled => {}
        Some(_) => {
            return Err(Problem::TenantDisabled {
                tenant: tenant.to_owned(),
            });
        }
        None => {
            return Err(Problem::NoTenant {
                tenant: tenant.to_owned(),
            });
        }
    }
    let user = ConsoleUser {
        tenant: id,
        scopes: match scopes.is_empty() {
            true => Scopes::all(),
            false => Scopes::parse(scopes)?,
        },
        operator,
    };
    Ok(sessions.make_link(user, random()?, service.clock.now()))
}

fn releases(service: &Service) -> Response {
    let withdrawn: BTreeMap<_, _> = service.releases.list_withdrawn().into_iter().collect();
    let retained = service.releases.list_retained();
    let held = retained.iter().map(|release| LoadedRelease {
        id: release.id.clone(),
        effective_date: release.manifest.effective_date.to_string(),
        snapshot: release.manifest.snapshot.id.to_string(),
        withdrawn: withdrawn.get(&release.id).cloned(),
    });
    Response::Releases {
        current: service.releases.current().id.clone(),
        held: held.collect(),
    }
}

fn status(service: &Service) -> Status {
    let releases = service.releases.list_retained();
    let served = releases
        .iter()
        .filter(|release| service.releases.holds(&release.id));
    let withdrawn = service.list_withdrawn().into_iter();
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        current_release: service.releases.current().id.clone(),
        check_problem: service.find_check_refusal(),
        releases: served.map(|release| release.id.clone()).collect(),
        promoted: list_promoted(service),
        release_source: service.release_source.as_deref().map(source_status),
        withdrawn: withdrawn
            .map(|(kind, release, reason)| protocol::WithdrawnRelease {
                kind: kind.into(),
                release,
                reason,
            })
            .collect(),
        shadow: service.shadows.now().map(|shadow| protocol::Shadow {
            release: shadow.release_id().to_owned(),
            share: shadow.share().part(),
        }),
        jobs_paused: service.state.jobs_paused(),
        // This thread may block, and no other does for it.
        jobs_waiting: Handle::current()
            .block_on(async { timeout(TIMEOUT, service.state.waiting()).await })
            .ok()
            .and_then(Result::ok),
        storage_problem: service.storage_problem(),
        missing_snapshots: (service.missing_packages.list().iter())
            .map(ToString::to_string)
            .collect(),
        log_lines_dropped: service.log_lines.dropped_lines(),
        resident_bytes: read_status().map(|process| process.resident_bytes),
    }
}

/// Returns the releases that were promoted last, with the manifests that the ledger has. Blocks,
/// for a bounded time but for a look into the folder of releases.
fn list_promoted(service: &Service) -> Vec<protocol::PromotedRelease> {
    let state = service.state.clone();
    let records = Handle::current().block_on(async {
        let reading = spawn_blocking(move || state.promotions().unwrap_or_default());
        let records = timeout(TIMEOUT, reading).await.ok().and_then(Result::ok);
        records.unwrap_or_default()
    });
    let served = service.served_releases().into_iter();
    let promoted = served.filter_map(|served| Some((served.kind, served.promoted?)));
    let promoted = promoted.map(|(kind, (release, held))| {
        let manifest = service.with_rules(|rules| {
            let entry = last_trusted_entry(&records, (kind, &release), |it| rules.accepts(it));
            entry.map(|entry| entry.manifest)
        });
        let found = service.retained_digest(kind, &release);
        let found = found.map(|digest| digest.to_string());
        let is_other = found.is_some() && manifest.is_some() && manifest != found;
        let held = held && !is_other;
        let other = found.filter(|_| is_other);
        protocol::PromotedRelease {
            kind: kind.into(),
            held,
            problem: match held {
                true => None,
                false => Some(find_problem(service, (kind, &release), other)),
            },
            manifest,
            release,
        }
    });
    promoted.collect()
}

/// Returns why this host does not hold a promoted release. `other` is the manifest of the package
/// that it has in its place, if it has one. Reads memory and the entry of a folder.
fn find_problem(
    service: &Service,
    (kind, id): (ReleaseKind, &str),
    other: Option<String>,
) -> String {
    let withdrawn = service.list_withdrawn().into_iter();
    let mut withdrawn = withdrawn.filter(|(of_kind, release, _)| *of_kind == kind && release == id);
    if let Some((_, _, reason)) = withdrawn.next() {
        return format!("it is withdrawn, since {reason}");
    }
    if let Some(refused) = service.metrics.promotions.refusal(kind, id) {
        return refused.reason;
    }
    match other {
        Some(other) => format!("its package here has the manifest {other}"),
        None => {
            let folder = service.releases.root().join(kind.as_str());
            match folder.join(id).exists() {
                true => "it is in the folder of releases, and was not opened".to_owned(),
                false => format!("it is not in {}", folder.display()),
            }
        }
    }
}

fn source_status(source: &dyn ReleaseSource) -> protocol::ReleaseSourceStatus {
    let fetches = source.list_fetches().into_iter();
    let fetches = fetches.map(|Fetch { kind, id, bytes }| protocol::ReleaseFetch {
        kind: kind.into(),
        release: id,
        bytes,
    });
    protocol::ReleaseSourceStatus {
        problem: source.problem(),
        fetches: fetches.collect(),
    }
}
