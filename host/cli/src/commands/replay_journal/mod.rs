//! `domesday replay --journal`: proves a journal's chain, and the valuations in it.

mod export;
mod model_inputs;
mod releases;
mod report;

pub use releases::Releases;

use self::export::Export;
use self::model_inputs::ModelInputs;
use self::report::{Problem, Report, print};
use super::progress::ProgressLine;
use anyhow::{Context, bail};
use domesday_engine::Runtime;
use domesday_engine::fixture::Fixture;
use domesday_engine::replay::{Mismatch, agrees, replay};
use domesday_journal::{
    Expectations, Head, Proof, Receipt, ReceiptHeader, TenantKey, VerifyError, removed_files,
    verify,
};
use domesday_package::PublicKey;
use domesday_server::admin::protocol::ReceiptKey;
use domesday_server::receipts::{self, Record};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Problems that the report lists. It counts further ones.
const MAX_PROBLEMS: usize = 100;

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
    #[arg(long, value_name = "FILE", requires = "journal")]
    export: Option<PathBuf>,
}

impl JournalOptions {
    /// Verifies the journal, and replays the chosen receipts.
    ///
    /// # Errors
    /// An option's file cannot be read. A journal that does not hold is a result.
    pub fn run(
        &self,
        journal: &Path,
        releases: Releases<'_>,
        release: Option<&str>,
        json: bool,
    ) -> anyhow::Result<ExitCode> {
        let expected = self.expectation()?;
        let mut replay = ReceiptReplay {
            options: self,
            release,
            keys: self.keys()?,
            releases,
            export: self.export.as_deref().map(Export::begin).transpose()?,
            fixtures: Vec::new(),
            report: Report {
                journal: journal.to_owned(),
                engine: Runtime::version(),
                ..Report::default()
            },
        };
        let mut progress = ProgressLine::new();
        let last = expected.heads.iter().map(|head| head.sequence).max();
        let own = domesday_journal::heads(journal).unwrap_or_default();
        let last = last.max(own.last().map(|head| head.sequence)).unwrap_or(0);
        let proof = verify(journal, &expected, |receipt| {
            if receipt.sequence % 64 == 0 {
                progress.show("receipts", receipt.sequence, last.max(receipt.sequence));
            }
            replay.add(receipt);
        });
        drop(progress);
        let ReceiptReplay {
            export,
            fixtures,
            mut report,
            ..
        } = replay;
        match proof {
            Ok(proof) => self.add_proof(&mut report, &proof),
            Err(broken) => report.broken = Some(self.describe_flaw(journal, &broken)),
        }
        report.nothing_proved = self.unmatched_options(release, &report);
        if let Some(export) = export {
            export.finish()?;
        }
        match json {
            true => println!("{}", serde_json::to_string_pretty(&report)?),
            false => print(&report, &fixtures)?,
        }
        Ok(
            match report.proved && report.failed == 0 && report.nothing_proved.is_none() {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            },
        )
    }

    /// Reports a chain that holds, with a warning for each part that nobody vouches for.
    fn add_proof(&self, report: &mut Report, proof: &Proof) {
        report.proved = true;
        report.host = Some(proof.host.to_string());
        report.signed = proof.signed;
        if proof.signed < proof.last {
            let count = proof.last - proof.signed.max(self.begins_at - 1);
            report
                .warnings
                .push(format!("no head vouches for the last {count} receipts"));
        }
        if self.heads.is_empty() {
            let alone = "no head from elsewhere was given, so anyone who can write this folder could have rewritten all of it";
            report.warnings.push(alone.to_owned());
        }
        report.unfinished_bytes = proof.unfinished;
    }

    /// Describes the first flaw, and the remedy where retention removed receipts.
    fn describe_flaw(&self, journal: &Path, broken: &VerifyError) -> String {
        let removed = removed_files(journal).unwrap_or_default();
        match removed.last().filter(|file| self.begins_at <= file.last) {
            Some(file) => format!(
                "{broken}. Retention removed the receipts up to {}: prove the others with --begins-at {}",
                file.last,
                file.last + 1
            ),
            None => broken.to_string(),
        }
    }

    /// Returns a message where the options choose nothing.
    fn unmatched_options(&self, release: Option<&str>, report: &Report) -> Option<String> {
        let narrowed = release.is_some() || self.tenant.is_some() || self.valuation.is_some();
        if narrowed && report.selected == 0 {
            return Some("no receipt matches the options".to_owned());
        }
        let opens = report.identical + report.failed > 0;
        ((self.keys.is_some() || self.valuation.is_some()) && report.selected > 0 && !opens)
            .then(|| "no key that was given opens any of these receipts".to_owned())
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

    fn keys(&self) -> anyhow::Result<BTreeMap<String, TenantKey>> {
        let Some(path) = &self.keys else {
            return Ok(BTreeMap::new());
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
        Ok(keys)
    }
}

/// The replay of the receipts that the options choose.
struct ReceiptReplay<'a, 'r> {
    options: &'a JournalOptions,
    release: Option<&'a str>,
    keys: BTreeMap<String, TenantKey>,
    releases: Releases<'r>,
    export: Option<Export<'a>>,
    /// The replayed receipts, where the options name a valuation.
    fixtures: Vec<(Receipt, Fixture)>,
    report: Report,
}

impl ReceiptReplay<'_, '_> {
    /// Counts a receipt, and replays it where the options choose it and a key opens it.
    fn add(&mut self, receipt: &Receipt) {
        self.report.receipts += 1;
        if !self.selects(&receipt.about) {
            return;
        }
        self.report.selected += 1;
        let Some(key) = self.keys.get(&receipt.key) else {
            self.report.sealed += 1;
            return;
        };
        match prove(receipt, key, &mut self.releases) {
            Ok(fixture) => self.add_identical(receipt, fixture),
            Err(problem) => self.add_problem(receipt, problem),
        }
    }

    /// Reports whether the options choose a receipt.
    fn selects(&self, about: &ReceiptHeader) -> bool {
        let matches = |filter: Option<&str>, found: &str| filter.is_none_or(|id| id == found);
        matches(self.release, &about.release_id)
            && matches(self.options.tenant.as_deref(), &about.tenant)
            && matches(self.options.valuation.as_deref(), &about.valuation_id)
    }

    /// Counts a receipt whose replay has the same outcome.
    fn add_identical(&mut self, receipt: &Receipt, fixture: Fixture) {
        self.report.identical += 1;
        if let Some(export) = &mut self.export {
            export.add(&fixture);
        }
        if self.options.valuation.is_some() {
            self.show_inputs(receipt, &fixture);
            self.fixtures.push((receipt.clone(), fixture));
        }
    }

    /// Adds what the release shows of its model. That is no part of the proof, so a failure is a
    /// warning.
    fn show_inputs(&mut self, receipt: &Receipt, fixture: &Fixture) {
        let about = &receipt.about;
        let Ok(opened) = self.releases.get(&about.release_id) else {
            return;
        };
        match ModelInputs::of(
            &opened.release,
            fixture,
            receipt.sequence,
            &about.valuation_id,
        ) {
            Ok(shown) => self.report.model_inputs.extend(shown),
            Err(failure) => self.report.warnings.push(format!(
                "{} cannot show the inputs of its model for receipt {}: {failure}",
                about.release_id, receipt.sequence
            )),
        }
    }

    /// Counts a receipt that is not proved. The report lists each problem once, with its first
    /// receipt.
    fn add_problem(&mut self, receipt: &Receipt, problem: String) {
        let report = &mut self.report;
        report.failed += 1;
        let has_space = report.problems.len() < MAX_PROBLEMS;
        let mut problems = report.problems.iter_mut();
        match problems.find(|listed| listed.problem == problem) {
            Some(listed) => listed.more += 1,
            None if has_space => report.problems.push(Problem {
                receipt: receipt.sequence,
                valuation_id: receipt.about.valuation_id.clone(),
                problem,
                more: 0,
            }),
            None => {}
        }
    }
}

/// Opens a receipt and replays it. Returns it with its evidence, whatever its form.
fn prove(
    receipt: &Receipt,
    key: &TenantKey,
    releases: &mut Releases<'_>,
) -> Result<Fixture, String> {
    let about = &receipt.about;
    let record = receipt.open(key).map_err(|error| error.to_string())?;
    let record = receipts::read(about.form, &record).map_err(|error| error.to_string())?;
    let opened = match &record {
        Record::SelfContained(_) => releases.get(&about.release_id)?,
        Record::Digests(_) => releases
            .get_with_snapshot(&about.release_id)
            .map_err(|error| {
                format!(
                    "its evidence is in the snapshot {}: {error}",
                    about.snapshot
                )
            })?,
    };
    if opened.package != about.package {
        return Err(format!(
            "the release {} here is not the one that made it: the digest of its manifest is {}, and was {}",
            about.release_id, opened.package, about.package
        ));
    }
    if opened.snapshot != about.snapshot {
        return Err(format!(
            "the release {} is pinned to the snapshot {}, and the receipt names {}",
            about.release_id, opened.snapshot, about.snapshot
        ));
    }
    let is_self_contained = matches!(record, Record::SelfContained(_));
    let fixture = match (record, &opened.evidence) {
        (Record::SelfContained(fixture), _) => *fixture,
        (Record::Digests(digests), Some(evidence)) => {
            let (row, engine) = (about.valuation_id.clone(), about.engine.clone());
            let complete = digests.complete(row, engine, &**evidence);
            complete.map_err(|mismatch| mismatch.to_string())?
        }
        (Record::Digests(_), None) => return Err("its snapshot is not open".to_owned()),
    };
    let outcome = replay(&opened.release, &fixture).and_then(|()| match &opened.evidence {
        Some(evidence) if is_self_contained => agrees(&**evidence, &fixture),
        _ => Ok(()),
    });
    match outcome {
        Err(mismatch) => Err(Mismatch::to_string(&mismatch)),
        Ok(()) => Ok(fixture),
    }
}
