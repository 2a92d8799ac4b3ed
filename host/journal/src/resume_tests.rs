use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::append::Tail;
use crate::folder::{LOCK, key};
use crate::line::tests::about;
use crate::open_files::OpenFiles;
use crate::test_warnings::warnings;
use crate::{Journal, SealedReceipt, TenantKey, prepare};

#[path = "older_journal_tests.rs"]
mod older;

/// Bytes of a file in these tests before another is begun.
const FILE_BYTES: u64 = 16 << 10;

fn receipt(name: usize, bytes: usize) -> SealedReceipt {
    let about = about(&name.to_string());
    prepare(&about, &TenantKey::new([1; 32]), &vec![7; bytes]).unwrap()
}

/// A journal whose every receipt is durable, and the groups that they were written in.
struct WrittenJournal {
    dir: TempDir,
    tail: Tail,
    /// Of each group: its file, where it begins there, and the count of receipts before it.
    groups: Vec<(PathBuf, usize, usize)>,
    count: usize,
}

/// Finds the end of a journal without locking it, so that tests may open it too.
fn find(folder: &Path, host: &PublicKey) -> Tail {
    let lock = File::create(folder.join(LOCK)).unwrap();
    let files = OpenFiles::open(folder, lock).unwrap();
    Tail::find(folder, host, FILE_BYTES, files).unwrap()
}

impl WrittenJournal {
    /// Writes one group for each list of record lengths. No head is signed.
    fn new(groups: &[Vec<usize>]) -> WrittenJournal {
        WrittenJournal::with_padding(groups, 0)
    }

    /// Writes groups with `padding` bytes of zeros behind the last.
    fn with_padding(groups: &[Vec<usize>], padding: u64) -> WrittenJournal {
        let dir = tempfile::tempdir().unwrap();
        let host = key(dir.path(), [9; 32], true).unwrap().public();
        let mut tail = find(dir.path(), &host);
        tail.padding = padding;
        let mut written = WrittenJournal {
            dir,
            tail,
            groups: Vec::new(),
            count: 0,
        };
        for group in groups {
            written.group(group);
        }
        written
    }

    fn group(&mut self, lengths: &[usize]) {
        let before = self.files();
        let receipts: Vec<_> = (self.count..)
            .zip(lengths)
            .map(|(name, bytes)| receipt(name, *bytes))
            .collect();
        self.tail.append(&receipts).unwrap();
        let (path, _) = self.files().pop_last().unwrap();
        let start = (before.get(&path)).map_or(0, |bytes| without_padding(bytes).len());
        self.groups.push((path, start, self.count));
        self.count += lengths.len();
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = segment::list(self.dir.path()).unwrap();
        files
            .into_iter()
            .map(|(_, path)| (path.clone(), fs::read(&path).unwrap()))
            .collect()
    }

    fn open(&self) -> Result<Journal, JournalError> {
        Journal::open_with(self.dir.path(), [9; 32], Arc::new(|| 0), FILE_BYTES.into())
    }

    #[track_caller]
    fn resume_error(&self) -> String {
        let before = self.files();
        match self.open() {
            Ok(_) => panic!("the journal resumed"),
            Err(error @ JournalError::DamagedReceipt { .. }) => {
                assert_eq!(self.files(), before, "the refusal changed a file");
                error.to_string()
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Leaves only these blocks of the last group, and cuts the group to this share.
    fn tear(&self, block: usize, present: &[bool], share: f64) {
        let (path, start, _) = self.groups.last().unwrap();
        let mut bytes = fs::read(path).unwrap();
        let length = (bytes.len() - start) as f64 * share;
        bytes.truncate(start + length as usize);
        let (group, padding) = bytes.split_at(without_padding(&bytes).len());
        let (mut bytes, padding) = (group.to_vec(), padding.to_vec());
        for (at, byte) in bytes.iter_mut().enumerate().skip(*start) {
            let number = at / block - start / block;
            if !present[number % present.len()] {
                *byte = 0;
            }
        }
        fs::write(path, [bytes, padding].concat()).unwrap();
    }

    /// Alters one byte at a share of all bytes; returns the file and the line.
    fn alter(&self, share: f64, with: u8) -> (PathBuf, usize) {
        let files = self.files();
        let length = |bytes: &Vec<u8>| without_padding(bytes).len();
        let total: usize = files.values().map(length).sum();
        let mut at = ((total as f64 * share) as usize).min(total - 1);
        for (path, mut bytes) in files {
            if at < length(&bytes) {
                let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
                bytes[at] ^= with;
                fs::write(&path, bytes).unwrap();
                return (path, line);
            }
            at -= length(&bytes);
        }
        unreachable!("no byte is there");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    verify(folder, &Expectations::default(), |receipt| {
        names.push(receipt.about.valuation_id.clone());
    })
    .unwrap();
    names
}

fn groups() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let group = prop::collection::vec(0..3_000_usize, 1..8);
    prop::collection::vec(group, 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_torn_last_group_resumes_with_every_receipt_before_it(
        groups in groups(),
        block in prop::sample::select(vec![512, 4_096]),
        present in prop::collection::vec(any::<bool>(), 1..40),
        share in 0.0..=1.0_f64,
        padding in prop::sample::select(vec![0, 100, 4_096]),
    ) {
        let written = WrittenJournal::with_padding(&groups, padding);
        written.tear(block, &present, share);
        let durable = written.groups.last().unwrap().2;
        let journal = written.open().unwrap();
        let resumed = usize::try_from(journal.sequence()).unwrap();
        prop_assert!((durable..=written.count).contains(&resumed), "{resumed} of {durable}");
        drop(journal);
        let expected: Vec<_> = (0..resumed).map(|name| name.to_string()).collect();
        prop_assert_eq!(names(written.dir.path()), expected);
    }

    #[test]
    fn an_altered_byte_is_refused_in_every_durable_group(
        groups in groups(),
        share in 0.0..1.0_f64,
        with in 1..=u8::MAX,
        padding in prop::sample::select(vec![0, 1_000]),
    ) {
        let written = WrittenJournal::with_padding(&groups, padding);
        let (path, line) = written.alter(share, with);
        let refused = written.resume_error();
        let place = format!("{}, line {line}:", path.display());
        prop_assert!(refused.contains(&place), "{place} {refused}");
    }

    #[test]
    fn lost_blocks_are_refused_where_a_later_group_follows(
        groups in groups(),
        block in prop::sample::select(vec![512, 4_096]),
        share in 0.0..1.0_f64,
        padding in prop::sample::select(vec![0, 1_000]),
    ) {
        let mut written = WrittenJournal::with_padding(&groups, padding);
        written.group(&[10]);
        let (path, end, _) = written.groups.last().unwrap().clone();
        let mut bytes = fs::read(&path).unwrap();
        let blocks = end / block;
        prop_assume!(blocks > 0);
        let at = ((blocks as f64 * share) as usize).min(blocks - 1) * block;
        bytes[at..at + block].fill(0);
        fs::write(&path, bytes).unwrap();
        let refused = written.resume_error();
        prop_assert!(refused.contains(&path.display().to_string()), "{refused}");
    }
}

#[test]
fn damage_before_a_durable_receipt_is_refused_after_an_abort() {
    for groups in [
        vec![vec![300]; 10],
        vec![vec![300; 5]; 2],
        vec![vec![300; 10]],
    ] {
        let written = WrittenJournal::new(&groups);
        let (path, ..) = &written.groups[0];
        let text = fs::read_to_string(path).unwrap();
        let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
        lines[4] = lines[4].replace("acme", "acne");
        fs::write(path, lines.concat()).unwrap();
        let refused = written.resume_error();
        assert!(
            refused.contains("receipts-000000000001.jsonl, line 5: receipt 5 was altered"),
            "{refused}"
        );
        assert!(
            refused.contains("`--journal` set to an empty folder"),
            "{refused}"
        );
    }
}

#[test]
fn zeros_that_fill_no_sector_are_refused_though_nothing_follows() {
    for (from, bytes) in [(700, 1), (512, 511), (600, 424)] {
        let written = WrittenJournal::new(&[vec![2_000]]);
        let (path, ..) = &written.groups[0];
        let mut text = fs::read(path).unwrap();
        text[from..from + bytes].fill(0);
        fs::write(path, text).unwrap();
        let refused = written.resume_error();
        assert!(refused.contains("line 1:"), "{refused}");
        assert!(refused.contains("zeros that fill no sector"), "{refused}");
    }
}

/// Zeros behind the last group stand there from the start. Those of a torn group begin with a
/// sector.
#[test]
fn zeros_to_the_end_are_refused_where_they_begin_within_a_line_and_a_sector() {
    for (from, is_torn) in [(700, false), (1_024, true), (1_025, false)] {
        let written = WrittenJournal::with_padding(&[vec![2_000]], 600);
        let (path, ..) = &written.groups[0];
        let mut bytes = fs::read(path).unwrap();
        bytes[from..].fill(0);
        fs::write(path, &bytes).unwrap();
        if is_torn {
            assert_eq!(written.open().unwrap().sequence(), 0);
            let aside = fs::read(path.with_extension("aside")).unwrap();
            assert_eq!(aside, bytes[..from]);
        } else {
            let refused = written.resume_error();
            assert!(refused.contains("zeros that fill no sector"), "{refused}");
        }
    }
}

/// A torn write cuts a line but does not misspell it, so a wrong byte is refused.
#[test]
fn a_wrong_byte_in_a_cut_last_line_is_refused() {
    let written = WrittenJournal::new(&[vec![300], vec![300]]);
    let (path, start, _) = written.groups.last().unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[start + 1] = b'x';
    bytes.truncate(start + 100);
    fs::write(path, bytes).unwrap();
    let refused = written.resume_error();
    assert!(refused.contains("line 2"), "{refused}");
}

#[test]
fn a_torn_group_never_overwrites_an_earlier_aside_file() {
    let written = WrittenJournal::new(&[vec![300, 300], vec![2_000, 2_000]]);
    let (path, start, _) = written.groups[1].clone();
    fs::write(path.with_extension("aside"), "earlier").unwrap();
    written.tear(512, &[true, false], 0.8);
    let torn = fs::read(&path).unwrap();
    drop(written.open().unwrap());
    assert_eq!(fs::read(path.with_extension("aside")).unwrap(), b"earlier");
    let aside = fs::read(path.with_extension("2.aside")).unwrap();
    assert_eq!(aside, without_padding(&torn[start..]));
    assert_eq!(fs::read(&path).unwrap(), torn[..start]);
}

/// The statement decides whether a hole before the line is a crash or damage. No other line vouches
/// for the last one yet, so its check covers the statement.
#[test]
fn a_last_line_that_names_another_group_is_refused_before_a_head_vouches_for_it() {
    // A separate group joins the one before it, and the other way round.
    for (groups, written, altered) in [
        (vec![vec![300], vec![300], vec![300]], 2, 1),
        (vec![vec![300], vec![300, 300]], 1, 2),
    ] {
        let journal = WrittenJournal::new(&groups);
        let (path, ..) = journal.groups[0].clone();
        let text = fs::read_to_string(&path).unwrap();
        let (before, last) = text.trim_end().rsplit_once('\n').unwrap();
        let durable = |count: u64| format!(r#""durable":{count},"#);
        let last = last.replace(&durable(written), &durable(altered));
        fs::write(&path, format!("{before}\n{last}\n")).unwrap();
        let refused = journal.resume_error();
        assert!(
            refused.contains("line 3: receipt 3 was altered"),
            "{refused}"
        );
    }
}

#[test]
fn a_failed_group_is_removed_and_the_last_receipt_must_still_be_there() {
    let mut written = WrittenJournal::new(&[vec![300], vec![300]]);
    let path = written.groups[0].0.clone();
    let sound = fs::read(&path).unwrap();
    fs::write(&path, [sound.as_slice(), b"half a group"].concat()).unwrap();
    written.tail.repair().unwrap();
    assert_eq!(fs::read(&path).unwrap(), sound);
    let mut damaged = sound.clone();
    damaged[sound.len() - 2] ^= 1;
    fs::write(&path, damaged).unwrap();
    assert!(matches!(
        written.tail.repair(),
        Err(JournalError::Damaged { .. })
    ));
    fs::write(&path, sound).unwrap();
    written.tail.repair().unwrap();
    written.group(&[300]);
    assert_eq!(names(written.dir.path()), ["0", "1", "2"]);
}

#[test]
fn a_journal_of_another_host_is_refused() {
    let written = WrittenJournal::new(&[vec![300]]);
    let stranger = domesday_package::SigningKey::from_seed([8; 32]).public();
    assert!(recover(written.dir.path(), &stranger, 0).is_err());
}

#[test]
fn a_hole_in_the_first_receipt_is_refused_where_another_group_follows() {
    let written = WrittenJournal::new(&[vec![2_000], vec![10]]);
    let (path, ..) = &written.groups[0];
    let mut bytes = fs::read(path).unwrap();
    bytes[512..1_024].fill(0);
    fs::write(path, bytes).unwrap();
    let refused = written.resume_error();
    assert!(refused.contains("all receipts through 1"), "{refused}");
}

#[test]
fn a_torn_group_that_a_head_vouches_for_is_refused() {
    let written = WrittenJournal::new(&[vec![300], vec![2_000, 2_000]]);
    // The host signs a head when it closes the journal.
    drop(written.open().unwrap());
    written.tear(512, &[true, false], 1.0);
    let torn = written.files();
    assert!(matches!(written.open(), Err(JournalError::NotSound(_))));
    assert_eq!(written.files(), torn);
}

/// The host follows the lines of a file far before the last head only where the file changed.
#[test]
fn a_refusal_for_an_altered_earlier_file_leaves_a_torn_group_in_its_place() {
    let full = vec![300, 17_000];
    let mut groups = vec![full; FILES_BEFORE_HEAD + 2];
    groups.extend([vec![300], vec![2_000, 2_000]]);
    let written = WrittenJournal::new(&groups);
    let (first, ..) = &written.groups[0];
    let (last, start, signed_through) = written.groups.last().unwrap().clone();
    written.tear(512, &[true, false], 1.0);
    assert_eq!(written.alter(0.0, 1), (first.clone(), 1));
    let before = written.files();
    assert!(before[&last].len() > start, "no torn group is there");
    let folder = written.dir.path();
    let host = key(folder, [9; 32], false).unwrap().public();
    let refused = recover(folder, &host, signed_through as u64).err().unwrap();
    assert!(
        matches!(&refused, JournalError::DamagedReceipt { path, line: 1, .. } if path == first),
        "{refused}"
    );
    assert_eq!(written.files(), before, "the refusal changed a file");
    assert!(!last.with_extension("aside").exists());
}

#[test]
fn a_last_line_is_torn_where_its_end_is_cut_and_damaged_where_its_end_is_altered() {
    let written = WrittenJournal::new(&[vec![300], vec![300]]);
    let (path, start, _) = &written.groups[1];
    let text = fs::read_to_string(path).unwrap();
    let cut = text.trim_end();
    fs::write(path, format!("{cut} ")).unwrap();
    let refused = written.resume_error();
    assert!(refused.contains("its end of line was altered"), "{refused}");
    fs::write(path, cut).unwrap();
    assert_eq!(written.open().unwrap().sequence(), 1);
    let aside = fs::read_to_string(path.with_extension("aside")).unwrap();
    assert_eq!(aside, cut[*start..]);
}

#[test]
fn a_group_of_zeros_alone_leaves_no_aside_file() {
    let written = WrittenJournal::new(&[vec![300], vec![2_000]]);
    written.tear(512, &[false], 1.0);
    assert_eq!(written.open().unwrap().sequence(), 1);
    assert!(!written.groups[1].0.with_extension("aside").exists());
}

#[test]
fn an_aside_file_that_cannot_be_created_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let created = new_aside(&dir.path().join("absent/receipts-000000000001.jsonl"));
    assert!(matches!(created, Err(JournalError::Io { .. })));
}

#[test]
fn each_readable_line_states_its_last_durable_receipt() {
    let digest = domesday_package::Sha256Digest::of(b"the line before");
    let lines = [(3, 2), (4, 2), (5, 4)].map(|(sequence, durable)| {
        let line = receipt(0, 300).line(sequence, &digest, durable);
        format!("{line}\n")
    });
    let text = lines.concat();
    let durable: Vec<_> = durable_statements(text.as_bytes()).collect();
    assert_eq!(durable, [2, 2, 4]);
}

#[test]
fn a_cut_group_is_logged_with_its_length_and_a_sound_journal_is_not() {
    let written = WrittenJournal::new(&[vec![300], vec![300]]);
    let folder = written.dir.path();
    let host = key(folder, [9; 32], false).unwrap().public();
    let recovers = || drop(recover(folder, &host, 0).unwrap());
    let finds = || drop(find(folder, &host));
    let (path, start, _) = &written.groups[1];
    let sound = fs::read(path).unwrap();
    let acts: [&dyn Fn(); 2] = [&recovers, &finds];
    for act in acts {
        fs::write(path, &sound).unwrap();
        assert!(warnings(act).is_empty());
        fs::write(path, &sound[..*start + 100]).unwrap();
        let logged = warnings(act);
        assert_eq!(logged.len(), 1, "{logged:?}");
        assert!(logged[0].contains("bytes=100\n"), "{logged:?}");
    }
}
