//! `domesday replay --journal`: proves a journal's chain, and the valuations in it.

use super::fixture_file::FixtureFile;
use super::progress::ProgressLine;
use super::replay_report::print;
use anyhow::{Context, bail};
use domesday_journal::{Expectations, Head, TenantKey};
use domesday_package::PublicKey;
use domesday_replay::{JournalReplay, Releases, Selection};
use domesday_server::admin::protocol::ReceiptKey;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub struct JournalOptions {
    /// Verify a host's journal of receipts, and replay those whose keys are given.
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,
    /// Keys of receipts, as `domesday journal keys` exports them.
    #[arg(long, value_name = "FILE", requires = "journal")]
    keys: Option<PathBuf>,
    /// Signed head kept elsewhere, as `domesday journal head` prints it. Repeatable.
    #[arg(long = "head", value_name = "FILE", requires = "journal")]
    heads: Vec<PathBuf>,
    /// Expected public key of the journal's host, ed25519:… (default: the one in the folder).
    #[arg(long, value_name = "KEY", requires = "journal")]
    host: Option<String>,
    /// First receipt to verify, if earlier files are elsewhere.
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 1,
        requires = "journal",
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    begins_at: u64,
    /// Last receipt that must exist, if later files are elsewhere.
    #[arg(long, value_name = "NUMBER", requires = "journal")]
    ends_at: Option<u64>,
    /// Replay only this valuation's receipts, and print them.
    #[arg(long, value_name = "ID", requires = "journal")]
    valuation: Option<String>,
    /// Replay only this tenant's receipts.
    #[arg(long, requires = "journal")]
    tenant: Option<String>,
    /// Write the replayed receipts with their evidence to a file as fixtures. It holds addresses:
    /// guard it.
    #[arg(long, value_name = "FILE", requires = "keys")]
    export: Option<PathBuf>,
}

impl JournalOptions {
    /// Verifies the journal, and replays the chosen receipts.
    ///
    /// # Errors
    /// An option's file cannot be read, or the export cannot be written or lacks receipts. A
    /// journal that does not hold is a result.
    pub fn run(
        &self,
        journal: &Path,
        releases: Releases<'_>,
        release: Option<&str>,
        json: bool,
    ) -> anyhow::Result<ExitCode> {
        let replay = JournalReplay {
            journal: journal.to_owned(),
            expectations: self.expectation()?,
            keys: self.keys()?,
            selection: Selection {
                release: release.map(str::to_owned),
                tenant: self.tenant.clone(),
                valuation: self.valuation.clone(),
            },
        };
        let export = self.export.as_deref().map(FixtureFile::begin);
        let mut export = export.transpose()?;
        let mut line = ProgressLine::new();
        let result = replay.run(
            releases,
            &mut |receipt, fixture| {
                if let Some(export) = &mut export {
                    export.add(&receipt.about.release_id, receipt.sequence, fixture);
                }
            },
            &mut |stage, done, total| line.show(stage, done, total),
        );
        drop(line);
        let exported = export.map(FixtureFile::finish).transpose();
        // Before an error of the export, since the report tells its reasons.
        match json {
            true => println!("{}", serde_json::to_string_pretty(&result.report)?),
            false => print(&result)?,
        }
        exported?;
        let sealed = result.report.sealed;
        if self.export.is_some() && sealed > 0 {
            bail!(
                "the export lacks {sealed} receipts that no key in --keys opens. Give their keys, \
                 or choose a tenant with --tenant"
            );
        }
        Ok(match result.report.is_proof() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    }

    fn expectation(&self) -> anyhow::Result<Expectations> {
        let mut heads = Vec::new();
        for path in &self.heads {
            let subject = || format!("cannot read the head {}", path.display());
            let text = std::fs::read_to_string(path).with_context(subject)?;
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                heads.push(serde_json::from_str::<Head>(line).with_context(subject)?);
            }
        }
        // The message does not repeat the value, since it may be a private key.
        let host = self.host.as_deref().map(str::parse::<PublicKey>);
        let host = host.transpose();
        let Ok(host) = host else {
            bail!(
                "--host is not a public key (ed25519: and 64 hexadecimal digits), as host.pub has it"
            );
        };
        Ok(Expectations {
            heads,
            host,
            begins_at: self.begins_at,
            ends_at: self.ends_at,
        })
    }

    fn keys(&self) -> anyhow::Result<Option<BTreeMap<String, TenantKey>>> {
        let Some(path) = &self.keys else {
            return Ok(None);
        };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the keys {}", path.display()))?;
        // The content is secret, so the message does not repeat the parser's error.
        let Ok(entries) = serde_json::from_str::<Vec<ReceiptKey>>(&text) else {
            bail!(
                "the keys {} are not in the form that `domesday journal keys` writes",
                path.display()
            );
        };
        let mut keys = BTreeMap::new();
        for key in entries {
            let mut secret = [0; 32];
            if hex::decode_to_slice(&key.secret, &mut secret).is_err() {
                bail!(
                    "the keys {}: that of {} is not 64 hexadecimal digits",
                    path.display(),
                    key.tenant
                );
            }
            let key = TenantKey::new(secret);
            keys.insert(key.id().to_owned(), key);
        }
        Ok(Some(keys))
    }
}
