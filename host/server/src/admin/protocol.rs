//! Commands and responses of the admin socket, as JSON. Client and server are one program, so the
//! protocol may change with any version.

use domesday_state::{
    LedgerHash, LedgerRecord, Month, Plan, ReleaseKind, UnixMillis, UsagePage, UsagePosition,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An operator's command. The server checks the names of tenants, keys and releases.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// The status of the service.
    Status {},
    /// The releases that the server holds.
    Releases {},
    /// Make a release the current one of its kind.
    Promote {
        /// The kind of release.
        kind: ReleaseKindArg,
        /// The release.
        release: String,
        /// The operator.
        who: String,
        /// The operator's reason.
        reason: Option<String>,
    },
    /// The promotion ledger.
    History {},
    /// Make a link that opens a session of the console.
    ConsoleLogin {
        /// The tenant that the session acts for.
        tenant: String,
        /// The scopes of its key. Empty for all.
        scopes: Vec<String>,
        /// True for the pages of operation too.
        operator: bool,
    },
    /// Run a release beside the current one.
    StartShadow {
        /// The release.
        release: String,
        /// Share of rows, above 0 and up to 1.
        share: f64,
    },
    /// Run none beside the current one.
    StopShadow {},
    /// Authenticate new cursors with another secret. Cursors of the last secret stay valid.
    RotateCursors {},
    /// Take new jobs, or no longer.
    PauseJobs {
        /// True to refuse new jobs, false to accept them.
        paused: bool,
    },
    /// Make a key.
    CreateKey(NewKey),
    /// The keys, without their secrets.
    Keys {},
    /// Revoke a key for good.
    RevokeKey {
        /// Its id.
        key: String,
    },
    /// The tenants.
    Tenants {},
    /// Put a tenant on a plan.
    SetPlan {
        /// The tenant.
        tenant: String,
        /// The plan.
        plan: Plan,
    },
    /// The keys of receipts.
    ReceiptKeys {
        /// The tenant; none for the keys of all tenants.
        tenant: Option<String>,
    },
    /// Forget a tenant's key, so that its receipts can never be read again.
    EraseReceiptKey {
        /// The tenant.
        tenant: String,
    },
    /// Copy the state into a new file.
    CopyState {
        /// The absolute path of the file.
        path: PathBuf,
    },
    /// A page of the ledger of units.
    UsageEntries {
        /// The month.
        month: Month,
        /// The tenant; none for all tenants.
        tenant: Option<String>,
        /// The entry to go on after.
        after: Option<UsagePosition>,
    },
    /// Serve a tenant, or no longer.
    Enable {
        /// The tenant.
        tenant: String,
        /// True to serve the tenant, false to refuse its requests.
        enabled: bool,
    },
}

/// A tenant's key of receipts.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptKey {
    /// The tenant.
    pub tenant: String,
    /// 64 hexadecimal digits. Its holder can read the tenant's receipts.
    pub secret: String,
}

impl std::fmt::Debug for ReceiptKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ReceiptKey(of {})", self.tenant)
    }
}

/// The kind of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseKindArg {
    /// Valuations.
    Valuation,
    /// Market statistics.
    Markets,
    /// Sterling rates.
    Rates,
}

impl From<ReleaseKindArg> for ReleaseKind {
    fn from(kind: ReleaseKindArg) -> ReleaseKind {
        match kind {
            ReleaseKindArg::Valuation => ReleaseKind::Valuation,
            ReleaseKindArg::Markets => ReleaseKind::Markets,
            ReleaseKindArg::Rates => ReleaseKind::Rates,
        }
    }
}

impl From<ReleaseKind> for ReleaseKindArg {
    fn from(kind: ReleaseKind) -> ReleaseKindArg {
        match kind {
            ReleaseKind::Valuation => ReleaseKindArg::Valuation,
            ReleaseKind::Markets => ReleaseKindArg::Markets,
            ReleaseKind::Rates => ReleaseKindArg::Rates,
        }
    }
}

/// A key that is to be made.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewKey {
    /// The tenant, made where it does not exist.
    pub tenant: String,
    /// The key's scopes.
    pub scopes: Vec<String>,
    /// The purpose of the key, as its maker states it.
    pub label: String,
    /// True if its requests for series must name their metrics.
    pub requires_metric_selection: bool,
    /// Days after which it opens nothing.
    pub expires_in_days: Option<u16>,
    /// The tenant's plan from now on.
    pub plan: Option<Plan>,
}

/// The response to a command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Response {
    /// The status of the service.
    Status(Status),
    /// The releases that the server holds.
    Releases {
        /// The one that new requests are valued by.
        current: String,
        /// All of them.
        held: Vec<LoadedRelease>,
    },
    /// The server carried out the command.
    Done {},
    /// A release is the current one, by this entry of the promotion ledger.
    Promoted(LedgerEntry),
    /// The promotion ledger.
    History {
        /// The first entry first.
        entries: Vec<LedgerEntry>,
        /// The release that the state has as promoted last, by kind.
        promoted: Vec<(ReleaseKindArg, String)>,
        /// The keys whose entries count on the server: its own, and those that it trusts.
        #[serde(default)]
        known: Vec<String>,
    },
    /// A link that opens a session of the console once.
    ConsoleLink {
        /// The link.
        link: String,
    },
    /// A release runs as a shadow no more.
    ShadowEnded {
        /// The release that shadowed.
        release: String,
    },
    /// The key's text, this once.
    Key {
        /// The whole key.
        key: String,
    },
    /// The keys.
    Keys {
        /// In order of their ids.
        keys: Vec<Key>,
    },
    /// The keys of receipts.
    ReceiptKeys {
        /// In order of their tenants.
        keys: Vec<ReceiptKey>,
    },
    /// The tenants.
    Tenants {
        /// In order of their ids.
        tenants: Vec<Tenant>,
    },
    /// The state is copied, or is in a database that has its own tools.
    StateCopied {
        /// The schema of the state.
        schema: u32,
        /// True if the state is in a database, so that nothing was written.
        in_database: bool,
        /// The time before which every change is in the copy.
        at: UnixMillis,
    },
    /// A page of the ledger of units.
    UsageEntries(UsagePage),
    /// The server refused the command.
    Refused {
        /// The problem, with its causes.
        problem: String,
    },
}

/// An entry of the promotion ledger, with its hash and signature.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// The hash of the entry before, or zeros.
    pub previous: LedgerHash,
    /// The entry as canonical JSON, to the byte.
    pub entry: String,
    /// Its hash.
    pub hash: LedgerHash,
    /// The public key of the signature.
    pub signer: String,
    /// The signature.
    pub signature: String,
}

impl From<LedgerRecord> for LedgerEntry {
    fn from(record: LedgerRecord) -> LedgerEntry {
        LedgerEntry {
            previous: record.previous,
            entry: record.entry,
            hash: record.hash,
            signer: record.signer,
            signature: record.signature,
        }
    }
}

impl From<LedgerEntry> for LedgerRecord {
    fn from(entry: LedgerEntry) -> LedgerRecord {
        LedgerRecord {
            previous: entry.previous,
            entry: entry.entry,
            hash: entry.hash,
            signer: entry.signer,
            signature: entry.signature,
        }
    }
}

/// The status of a running service.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// The program's version.
    pub version: String,
    /// The release that new requests are valued by.
    pub current_release: String,
    /// The reason why that release could not be promoted by its check report, if it could not.
    #[serde(default)]
    pub check_problem: Option<String>,
    /// Releases held open.
    pub releases: Vec<String>,
    /// The releases that were promoted last.
    #[serde(default)]
    pub promoted: Vec<PromotedRelease>,
    /// The source that promoted releases are fetched from, where one is set.
    #[serde(default)]
    pub release_source: Option<ReleaseSourceStatus>,
    /// Releases that are not served any more, since their files changed.
    #[serde(default)]
    pub withdrawn: Vec<WithdrawnRelease>,
    /// The release that runs beside it, if any does.
    pub shadow: Option<Shadow>,
    /// True if new jobs are refused.
    pub jobs_paused: bool,
    /// Jobs queued or running, over all hosts. None where the count failed.
    pub jobs_waiting: Option<u64>,
    /// The reason why changes cannot be made durable, if they cannot.
    pub storage_problem: Option<String>,
    /// The releases and snapshots that receipts need for their replay, and that are not here.
    #[serde(default)]
    pub missing_snapshots: Vec<String>,
    /// Log lines lost since the start.
    pub log_lines_dropped: usize,
    /// Resident memory, bytes.
    pub resident_bytes: Option<i64>,
}

/// The release of a kind that was promoted last.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PromotedRelease {
    /// Its kind.
    pub kind: ReleaseKindArg,
    /// Its id.
    pub release: String,
    /// SHA-256 of the manifest that was promoted. None where the ledger does not say it.
    pub manifest: Option<String>,
    /// True if this host holds the promoted package and may serve it.
    pub held: bool,
    /// The reason why it does not hold it, where the host knows one.
    #[serde(default)]
    pub problem: Option<String>,
}

/// The source that promoted releases are fetched from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReleaseSourceStatus {
    /// The problem that the last look found, if any.
    pub problem: Option<String>,
    /// The fetches that run.
    pub fetches: Vec<ReleaseFetch>,
}

/// A release that is being fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseFetch {
    /// Its kind.
    pub kind: ReleaseKindArg,
    /// Its id.
    pub release: String,
    /// The bytes read and written so far.
    pub bytes: u64,
}

/// A release that runs beside the current one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shadow {
    /// The release.
    pub release: String,
    /// Share of rows that it is run on.
    pub share: f64,
}

/// A release that a server does not serve any more, before it is started again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WithdrawnRelease {
    /// Its kind.
    pub kind: ReleaseKindArg,
    /// Its id.
    pub release: String,
    /// The difference that was found.
    pub reason: String,
}

/// A release that a server holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoadedRelease {
    /// Its id.
    pub id: String,
    /// Its effective date.
    pub effective_date: String,
    /// Its snapshot.
    pub snapshot: String,
    /// The reason why it is withdrawn, if it is.
    #[serde(default)]
    pub withdrawn: Option<String>,
}

/// A key as listed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Key {
    /// Its id.
    pub id: String,
    /// Its tenant.
    pub tenant: String,
    /// Active, revoked or expired.
    pub status: String,
    /// Its scopes.
    pub scopes: Vec<String>,
    /// The day on which it was made.
    pub created: String,
    /// The day on which it opens nothing any more, if there is one.
    pub expires: Option<String>,
    /// The purpose of the key, as its maker states it.
    pub label: String,
}

/// A tenant as listed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tenant {
    /// Its id.
    pub id: String,
    /// True if the tenant is served.
    pub enabled: bool,
    /// Units that it used this month.
    pub used: u64,
    /// Its limits.
    pub plan: Plan,
}
