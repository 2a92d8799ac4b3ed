use super::*;
use crate::absent_file::Absence;
use crate::config::tests::whole;
use std::path::Path;

fn file(kind: FileKind, name: &str, modified: u64) -> ArrivedFile {
    ArrivedFile {
        path: Path::new("inbox").join(name),
        kind,
        sha256: digest([name].into_iter()),
        modified,
    }
}

fn registers() -> Vec<ArrivedFile> {
    vec![
        file(FileKind::PricePaid, "pp-complete.csv", 1),
        file(FileKind::CodePoint, "codepo_gb.zip", 1),
        file(FileKind::Areas, "areas.csv", 1),
        file(FileKind::AuthorityCodes, "codes.csv", 1),
        file(FileKind::Certificates, "certificates.csv", 1),
    ]
}

/// Returns an inbox in which all files arrived whole.
fn inbox_of(files: &[ArrivedFile]) -> Inbox {
    Inbox {
        files: files.to_vec(),
        ..Inbox::default()
    }
}

/// Returns the packages of a record.
fn ids_of(record: &RefreshRecord) -> BTreeSet<String> {
    record.built.values().map(|it| it.id.clone()).collect()
}

/// Decides on the 27th, where a record's packages exist.
fn decide(part: Part, files: &[ArrivedFile], record: &RefreshRecord) -> Decision {
    let config = whole();
    let context = PlanContext {
        config: &config,
        record,
        day: NaiveDate::from_ymd_opt(2026, 11, 27).unwrap(),
        packages: &ids_of(record),
    };
    context.decide_files(part, &inbox_of(files)).unwrap()
}

fn plan(part: Part, files: &[ArrivedFile], record: &RefreshRecord) -> BuildPlan {
    match decide(part, files, record) {
        Decision::Build(plan) => *plan,
        other => panic!("{other:?}"),
    }
}

/// Returns the record after a plan was carried out.
fn record_of(part: Part, plan: BuildPlan) -> RefreshRecord {
    let mut record = RefreshRecord::default();
    let mut built = plan.rests_on.record(plan.id, None);
    built.outcome = Outcome::Built;
    record.built.insert(part, built);
    record
}

#[test]
fn the_first_round_builds_from_all_files_of_its_kinds() {
    let plan = plan(Part::Snapshot, &registers(), &RefreshRecord::default());
    assert_eq!(plan.id, "registers-2026-11-27");
    assert_eq!(plan.update, None);
    assert_eq!(plan.new_files.len(), 5);
    assert_eq!(
        plan.build.command_line(),
        "domesday property build --snapshot-id registers-2026-11-27 \
         --price-paid inbox/pp-complete.csv --code-point inbox/codepo_gb.zip \
         --authority-codes inbox/codes.csv --certificates inbox/certificates.csv \
         --areas inbox/areas.csv --sign-with /etc/domesday/my.key --releases /etc/domesday/releases"
    );
    assert_eq!(
        plan.absent,
        [
            FileKind::HousePriceIndex,
            FileKind::Addresses,
            FileKind::OpenUprn
        ]
    );
}

#[test]
fn a_part_whose_files_are_not_there_says_which() {
    let files = &registers()[..1];
    let decision = decide(Part::Snapshot, files, &RefreshRecord::default());
    let kinds = vec![FileKind::CodePoint, FileKind::AuthorityCodes];
    assert_eq!(decision, Decision::Missing { kinds });
}

#[test]
fn the_same_files_are_not_built_from_again_wherever_they_lie() {
    let mut files = registers();
    let first = plan(Part::Markets, &files, &RefreshRecord::default());
    let record = record_of(Part::Markets, first);
    files.reverse();
    for file in &mut files {
        file.path = Path::new("elsewhere").join(file.path.file_name().unwrap());
    }
    let decision = decide(Part::Markets, &files, &record);
    let id = "markets-2026-11-27".to_owned();
    let outcome = Outcome::Built;
    assert_eq!(decision, Decision::Unchanged { id, outcome });
}

#[test]
fn a_new_month_of_price_paid_updates_the_last_snapshot() {
    let mut files = registers();
    let first = plan(Part::Snapshot, &files, &RefreshRecord::default());
    let record = record_of(Part::Snapshot, first);
    files.push(file(FileKind::PricePaid, "pp-monthly.csv", 2));
    let next = plan(Part::Snapshot, &files, &record);
    // The first one of the day has the id.
    assert_eq!(next.id, "registers-2026-11-27-2");
    assert_eq!(
        next.update.unwrap().command_line(),
        "domesday property update --snapshot-id registers-2026-11-27-2 \
         --from registers-2026-11-27 --price-paid inbox/pp-monthly.csv \
         --sign-with /etc/domesday/my.key --releases /etc/domesday/releases"
    );
    assert!(next.new_files.contains(&"inbox/pp-monthly.csv".into()));
    assert!(!next.new_files.contains(&"inbox/pp-complete.csv".into()));
    // Market statistics have no update.
    let first = plan(Part::Markets, &registers(), &RefreshRecord::default());
    let next = plan(Part::Markets, &files, &record_of(Part::Markets, first));
    assert_eq!(next.update, None);
}

#[test]
fn any_other_change_builds_the_snapshot_anew() {
    let record = record_of(
        Part::Snapshot,
        plan(Part::Snapshot, &registers(), &RefreshRecord::default()),
    );
    let month = file(FileKind::PricePaid, "pp-monthly.csv", 2);
    let mut certificates = registers();
    certificates.extend([month.clone(), file(FileKind::Certificates, "more.csv", 2)]);
    assert_eq!(plan(Part::Snapshot, &certificates, &record).update, None);
    // The complete file was replaced by a later one.
    let mut replaced = registers();
    replaced[0] = file(FileKind::PricePaid, "pp-complete-later.csv", 2);
    assert_eq!(plan(Part::Snapshot, &replaced, &record).update, None);
    // The last snapshot was removed.
    let config = whole();
    let context = PlanContext {
        config: &config,
        record: &record,
        day: NaiveDate::from_ymd_opt(2026, 12, 1).unwrap(),
        packages: &BTreeSet::new(),
    };
    let mut files = registers();
    files.push(month);
    let Some(Decision::Build(plan)) = context.decide_files(Part::Snapshot, &inbox_of(&files))
    else {
        panic!("nothing to build");
    };
    assert_eq!(plan.update, None);
}

#[test]
fn an_id_that_the_record_has_is_not_given_again_once_its_package_is_removed() {
    let files = registers();
    let first = plan(Part::Markets, &files, &RefreshRecord::default());
    let mut record = record_of(Part::Markets, first);
    let built = record.built.get_mut(&Part::Markets).unwrap();
    built.id = "markets-2026-11-27-2".to_owned();
    built.before = Some("markets-2026-11-27".to_owned());
    let config = whole();
    let context = PlanContext {
        config: &config,
        record: &record,
        day: NaiveDate::from_ymd_opt(2026, 11, 27).unwrap(),
        packages: &BTreeSet::new(),
    };
    let Some(Decision::Build(plan)) = context.decide_files(Part::Markets, &inbox_of(&files)) else {
        panic!("nothing to build");
    };
    assert_eq!(plan.id, "markets-2026-11-27-3");
    // The ids of another part do not count.
    let Some(Decision::Build(plan)) = context.decide_files(Part::Snapshot, &inbox_of(&files))
    else {
        panic!("nothing to build");
    };
    assert_eq!(plan.id, "registers-2026-11-27");
}

#[test]
fn a_kind_that_was_taken_before_and_is_gone_stops_the_build() {
    let mut files = registers();
    let first = plan(Part::Snapshot, &files, &RefreshRecord::default());
    let record = record_of(Part::Snapshot, first);
    files.pop();
    files.push(file(FileKind::PricePaid, "pp-monthly.csv", 2));
    let kinds = vec![FileKind::Certificates];
    assert_eq!(
        decide(Part::Snapshot, &files, &record),
        Decision::Missing { kinds }
    );
}

/// Returns an inbox without a file of an earlier round.
fn inbox_without(kind: FileKind, modified: u64, absence: Absence) -> Inbox {
    let absent = AbsentFile {
        path: "inbox/absent".into(),
        kind,
        modified,
        absence,
    };
    Inbox {
        absent: vec![absent],
        ..inbox_of(&registers())
    }
}

#[test]
fn a_file_of_an_earlier_round_that_cannot_be_taken_stops_the_parts_of_its_kind() {
    let config = whole();
    let record = RefreshRecord::default();
    let decide = |part: Part, inbox: &Inbox| {
        let context = PlanContext {
            config: &config,
            record: &record,
            day: NaiveDate::from_ymd_opt(2026, 11, 27).unwrap(),
            packages: &BTreeSet::new(),
        };
        context.decide_files(part, inbox).unwrap()
    };
    let builds = |decision: Decision| matches!(decision, Decision::Build(_));
    let arriving = inbox_without(FileKind::PricePaid, 1, Absence::Arriving);
    for part in [Part::Markets, Part::Snapshot] {
        let files = vec!["inbox/absent is still arriving".to_owned()];
        assert_eq!(decide(part, &arriving), Decision::Waiting { files });
    }
    let rents = inbox_without(FileKind::Rents, 1, Absence::Unreadable);
    let files = vec!["inbox/absent cannot be read".to_owned()];
    assert_eq!(decide(Part::Markets, &rents), Decision::Absent { files });
    assert!(builds(decide(Part::Snapshot, &rents)));
    // A person is to look, whatever else is arriving.
    let mut both = arriving;
    both.absent.extend(rents.absent);
    let decision = decide(Part::Markets, &both);
    assert!(matches!(decision, Decision::Absent { .. }), "{decision:?}");
    // Of a kind that a build takes once, a later file is there.
    for (modified, is_outdated) in [(0, true), (1, false), (2, false)] {
        let codes = inbox_without(FileKind::CodePoint, modified, Absence::Arriving);
        assert_eq!(builds(decide(Part::Snapshot, &codes)), is_outdated);
    }
}

#[test]
fn of_a_kind_that_a_build_takes_once_the_latest_file_counts() {
    let mut files = registers();
    files.push(file(FileKind::CodePoint, "a-later.zip", 9));
    let line = plan(Part::Snapshot, &files, &RefreshRecord::default())
        .build
        .command_line();
    assert!(
        line.contains("a-later.zip") && !line.contains("codepo_gb.zip"),
        "{line}"
    );
}

#[test]
fn a_valuation_release_is_built_for_each_snapshot_and_each_change_of_the_model() {
    let config = whole();
    let mut record = RefreshRecord::default();
    let decide = |record: &RefreshRecord, snapshot: &str, model: &str| {
        let context = PlanContext {
            config: &config,
            record,
            day: NaiveDate::from_ymd_opt(2026, 11, 27).unwrap(),
            packages: &ids_of(record),
        };
        context.decide_valuation(snapshot, model).unwrap()
    };
    let Decision::Build(plan) = decide(&record, "s1", "m1") else {
        panic!("nothing to build");
    };
    assert_eq!(
        plan.build.command_line(),
        "domesday release build --release-id hedonic-2026-11-27 --model /etc/domesday/models/hedonic \
         --snapshot s1 --without-check --sign-with /etc/domesday/my.key \
         --releases /etc/domesday/releases"
    );
    let mut built = plan.rests_on.record(plan.id, None);
    built.outcome = Outcome::Refused;
    record.built.insert(Part::Valuation, built);
    let same = decide(&record, "s1", "m1");
    assert!(matches!(
        same,
        Decision::Unchanged {
            outcome: Outcome::Refused,
            ..
        }
    ));
    assert!(matches!(decide(&record, "s2", "m1"), Decision::Build(_)));
    assert!(matches!(decide(&record, "s1", "m2"), Decision::Build(_)));
}
