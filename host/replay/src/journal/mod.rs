//! The proof of a journal: its chain, and the valuations in it.

mod model_inputs;
mod releases;
mod report;

pub use self::model_inputs::ModelInputs;
pub use self::releases::Releases;
pub use self::report::{Problem, Report};

use domesday_engine::Runtime;
use domesday_engine::fixture::Fixture;
use domesday_engine::receipt_record::{Record, read};
use domesday_engine::replay::{Mismatch, agrees, replay};
use domesday_journal::{
    Expectations, Proof, Receipt, ReceiptHeader, TenantKey, VerifyError, removed_files, verify,
};
use domesday_registers::Progress;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Receipts between two reports of progress.
const PROGRESS_INTERVAL: u64 = 64;

/// The receipts to replay. Each filter narrows them.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The release that valued.
    pub release: Option<String>,
    /// The tenant that asked.
    pub tenant: Option<String>,
    /// The valuation. The result then holds its receipts, and the inputs of its model.
    pub valuation: Option<String>,
}

/// A journal to prove.
pub struct JournalReplay {
    /// Its folder.
    pub journal: PathBuf,
    /// The receipts that must be there, and the heads and the host's key that they must agree with.
    pub expectations: Expectations,
    /// The keys that open receipts, by their ids, if any were given.
    pub keys: Option<BTreeMap<String, TenantKey>>,
    /// The receipts to replay.
    pub selection: Selection,
}

/// A journal that was verified, and replayed where keys open it.
#[derive(Debug)]
pub struct JournalResult {
    /// The findings.
    pub report: Report,
    /// The replayed receipts, where the selection names a valuation.
    pub receipts: Vec<(Receipt, Fixture)>,
}

impl JournalReplay {
    /// Verifies the journal, and replays the chosen receipts. `listen` gets each receipt whose
    /// outcome is the same to the bit, with its fixture. A journal that does not hold is a result.
    pub fn run(
        &self,
        releases: Releases<'_>,
        listen: &mut dyn FnMut(&Receipt, &Fixture),
        progress: &mut Progress<'_>,
    ) -> JournalResult {
        let mut replay = ReceiptReplay {
            options: self,
            releases,
            listen,
            fixtures: Vec::new(),
            report: Report {
                journal: self.journal.clone(),
                engine: Runtime::version(),
                ..Report::default()
            },
        };
        let heads = self.expectations.heads.iter();
        let last = heads.map(|head| head.sequence).max();
        let own = domesday_journal::heads(&self.journal).unwrap_or_default();
        let last = last.max(own.last().map(|head| head.sequence)).unwrap_or(0);
        let proof = verify(&self.journal, &self.expectations, |receipt| {
            if receipt.sequence % PROGRESS_INTERVAL == 0 {
                progress("receipts", receipt.sequence, last.max(receipt.sequence));
            }
            replay.add(receipt);
        });
        let ReceiptReplay {
            fixtures,
            mut report,
            ..
        } = replay;
        match proof {
            Ok(proof) => self.add_proof(&mut report, &proof),
            Err(broken) => report.broken = Some(self.describe_flaw(&broken)),
        }
        report.nothing_proved = self.unmatched_options(&report);
        JournalResult {
            report,
            receipts: fixtures,
        }
    }

    /// Reports a chain that holds, with a warning for each part that nobody vouches for.
    fn add_proof(&self, report: &mut Report, proof: &Proof) {
        report.proved = true;
        report.host = Some(proof.host.to_string());
        report.signed = proof.signed;
        if proof.signed < proof.last {
            let count = proof.last - proof.signed.max(self.expectations.begins_at - 1);
            report
                .warnings
                .push(format!("no head vouches for the last {count} receipts"));
        }
        if !proof.is_connected {
            let begins_at = self.expectations.begins_at;
            report.warnings.push(format!(
                "no head vouches for receipt {}, so nothing shows which receipts came before {begins_at}",
                begins_at - 1
            ));
        }
        match proof.vouched_elsewhere {
            Some(last) if last >= proof.last => {}
            Some(last) => report.warnings.push(format!(
                "no head from elsewhere vouches for the receipts after {last}"
            )),
            None => {
                let given = match self.expectations.heads.is_empty() {
                    true => "no head from elsewhere was given",
                    false => "no head that was given is of these receipts",
                };
                report.warnings.push(format!(
                    "{given}, so anyone who can write this folder could have rewritten all of it"
                ));
            }
        }
        report.unfinished_bytes = proof.unfinished;
    }

    /// Describes the first flaw, and the remedy where retention removed receipts.
    fn describe_flaw(&self, broken: &VerifyError) -> String {
        let removed = removed_files(&self.journal).unwrap_or_default();
        match removed
            .last()
            .filter(|file| self.expectations.begins_at <= file.last)
        {
            Some(file) => format!(
                "{broken}. Retention removed the receipts up to {}: prove the others with --begins-at {}",
                file.last,
                file.last + 1
            ),
            None => broken.to_string(),
        }
    }

    /// Returns a message where the options choose nothing.
    fn unmatched_options(&self, report: &Report) -> Option<String> {
        let Selection {
            release,
            tenant,
            valuation,
        } = &self.selection;
        let narrowed = release.is_some() || tenant.is_some() || valuation.is_some();
        if narrowed && report.selected == 0 {
            return Some("no receipt matches the options".to_owned());
        }
        let opens = report.identical + report.failed > 0;
        ((self.keys.is_some() || valuation.is_some()) && report.selected > 0 && !opens)
            .then(|| "no key that was given opens any of these receipts".to_owned())
    }

    /// Returns the key that opens a receipt, if it was given.
    fn key(&self, receipt: &Receipt) -> Option<&TenantKey> {
        self.keys.as_ref()?.get(&receipt.key)
    }
}

impl Selection {
    /// Reports whether the filters choose a receipt.
    fn has(&self, about: &ReceiptHeader) -> bool {
        let matches =
            |filter: &Option<String>, found: &str| filter.as_ref().is_none_or(|id| id == found);
        matches(&self.release, &about.release_id)
            && matches(&self.tenant, &about.tenant)
            && matches(&self.valuation, &about.valuation_id)
    }
}

/// The replay of the receipts that the options choose.
struct ReceiptReplay<'a, 'r> {
    options: &'a JournalReplay,
    releases: Releases<'r>,
    /// Gets each receipt whose outcome is the same, with its fixture.
    listen: &'a mut dyn FnMut(&Receipt, &Fixture),
    /// The replayed receipts, where the options name a valuation.
    fixtures: Vec<(Receipt, Fixture)>,
    report: Report,
}

impl ReceiptReplay<'_, '_> {
    /// Counts a receipt, and replays it where the options choose it and a key opens it.
    fn add(&mut self, receipt: &Receipt) {
        self.report.receipts += 1;
        if !self.options.selection.has(&receipt.about) {
            return;
        }
        self.report.selected += 1;
        let Some(key) = self.options.key(receipt) else {
            self.report.sealed += 1;
            return;
        };
        match prove(receipt, key, &mut self.releases) {
            Ok(fixture) => self.add_identical(receipt, fixture),
            Err(problem) => self.report.add_problem(receipt, problem),
        }
    }

    /// Counts a receipt whose replay has the same outcome.
    fn add_identical(&mut self, receipt: &Receipt, fixture: Fixture) {
        self.report.identical += 1;
        (self.listen)(receipt, &fixture);
        if self.options.selection.valuation.is_some() {
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
}

/// Opens a receipt and replays it. Returns it with its evidence, whatever its form.
fn prove(
    receipt: &Receipt,
    key: &TenantKey,
    releases: &mut Releases<'_>,
) -> Result<Fixture, String> {
    let about = &receipt.about;
    let record = receipt.open(key).map_err(|error| error.to_string())?;
    let record = read(about.form, &record).map_err(|error| error.to_string())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use domesday_package::{Sha256Digest, SigningKey};

    fn header(release_id: &str, tenant: &str, valuation_id: &str) -> ReceiptHeader {
        ReceiptHeader {
            at: 0,
            tenant: tenant.to_owned(),
            release_id: release_id.to_owned(),
            package: Sha256Digest::of(b"package"),
            snapshot: Sha256Digest::of(b"snapshot"),
            engine: Runtime::version().to_owned(),
            execution_id: String::new(),
            valuation_id: valuation_id.to_owned(),
            form: 1,
        }
    }

    fn options(selection: Selection, keys: Option<BTreeMap<String, TenantKey>>) -> JournalReplay {
        JournalReplay {
            journal: PathBuf::new(),
            expectations: Expectations::default(),
            keys,
            selection,
        }
    }

    #[test]
    fn each_filter_narrows_the_receipts() {
        let id = |text: &str| Some(text.to_owned());
        assert!(Selection::default().has(&header("r-1", "a", "v-1")));
        let selection = Selection {
            release: id("r-1"),
            tenant: id("a"),
            valuation: id("v-1"),
        };
        assert!(selection.has(&header("r-1", "a", "v-1")));
        for (release, tenant, valuation) in [
            ("r-2", "a", "v-1"),
            ("r-1", "b", "v-1"),
            ("r-1", "a", "v-2"),
        ] {
            assert!(!selection.has(&header(release, tenant, valuation)));
        }
    }

    #[test]
    fn options_that_choose_or_open_nothing_prove_nothing() {
        let of_tenant = Selection {
            tenant: Some("a".to_owned()),
            ..Selection::default()
        };
        let report = |selected, identical, failed| Report {
            selected,
            identical,
            failed,
            proved: true,
            ..Report::default()
        };
        let narrowed = options(of_tenant, None);
        assert!(narrowed.unmatched_options(&report(0, 0, 0)).is_some());
        assert_eq!(narrowed.unmatched_options(&report(2, 0, 0)), None);
        let keyed = options(Selection::default(), Some(BTreeMap::new()));
        assert_eq!(keyed.unmatched_options(&report(0, 0, 0)), None);
        assert!(keyed.unmatched_options(&report(2, 0, 0)).is_some());
        assert_eq!(keyed.unmatched_options(&report(2, 1, 0)), None);
        assert_eq!(keyed.unmatched_options(&report(2, 0, 1)), None);
    }

    #[test]
    fn a_proof_warns_where_no_head_vouches_for_the_receipt_before_its_first() {
        let mut later = options(Selection::default(), None);
        later.expectations.begins_at = 8;
        let warnings = |is_connected| {
            let mut report = Report::default();
            let proof = Proof {
                host: SigningKey::from_seed([9; 32]).public(),
                last: 9,
                heads: 1,
                signed: 9,
                is_connected,
                vouched_elsewhere: Some(9),
                unfinished: 0,
            };
            later.add_proof(&mut report, &proof);
            report.warnings
        };
        assert_eq!(warnings(true), Vec::<String>::new());
        let found = warnings(false).concat();
        assert!(found.contains("no head vouches for receipt 7"), "{found}");
    }

    #[test]
    fn a_report_is_a_proof_where_the_chain_holds_and_nothing_failed() {
        let sound = || Report {
            proved: true,
            selected: 2,
            identical: 1,
            sealed: 1,
            ..Report::default()
        };
        assert!(sound().is_proof());
        let changes: [fn(&mut Report); 3] = [
            |report| report.proved = false,
            |report| report.failed = 1,
            |report| report.nothing_proved = Some("no receipt matches the options".to_owned()),
        ];
        for change in changes {
            let mut report = sound();
            change(&mut report);
            assert!(!report.is_proof(), "{report:?}");
        }
    }
}
