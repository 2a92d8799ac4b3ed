use super::*;
use crate::line::tests::about;
use crate::{Journal, JournalError, TenantKey, heads, last_head, prepare};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

const COUNT: u64 = 30;

/// Writes a journal of thirty receipts in several files, and closes it.
async fn journal() -> TempDir {
    journal_of(0).await
}

/// Writes the journal of the same host with other records.
async fn journal_of(content: u8) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open_with(dir.path(), [9; 32], Arc::new(|| 0), 8_192.into()).unwrap();
    for name in 0..COUNT {
        let record = vec![u8::try_from(name).unwrap() ^ content; 400];
        let key = TenantKey::new([1; 32]);
        let receipt = prepare(&about(&name.to_string()), &key, &record).unwrap();
        let ticket = journal.append(receipt).unwrap();
        journal.wait_until_durable(ticket, ticket).await.unwrap();
    }
    dir
}

fn files(dir: &TempDir) -> Vec<PathBuf> {
    let files = segment::list(dir.path()).unwrap();
    assert!(files.len() > 2, "{files:?}");
    files.into_iter().map(|(_, path)| path).collect()
}

fn proof(dir: &TempDir) -> Result<Proof, VerifyError> {
    verify(dir.path(), &Expectations::default(), |_| {})
}

/// Rewrites the lines of one file.
fn change(path: &Path, with: impl FnOnce(&mut Vec<String>)) {
    let mut lines: Vec<_> = fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    with(&mut lines);
    let text: String = lines.into_iter().map(|line| line + "\n").collect();
    fs::write(path, text).unwrap();
}

#[tokio::test]
async fn a_sound_journal_is_proved_to_its_last_receipt() {
    let dir = journal().await;
    let proof = proof(&dir).unwrap();
    assert_eq!(
        (proof.last, proof.signed, proof.unfinished),
        (COUNT, COUNT, 0)
    );
    assert!(proof.heads >= 1);
}

#[tokio::test]
async fn the_last_head_is_the_hosts_own_or_none_is_handed_out() {
    let dir = journal().await;
    let head = last_head(dir.path()).unwrap();
    assert_eq!(head.sequence, COUNT);
    let path = dir.path().join("heads.jsonl");
    let other = domesday_package::SigningKey::from_seed([8; 32]);
    let foreign = crate::Head::sign(&other, COUNT, head.digest, head.at);
    let altered = crate::Head {
        sequence: COUNT - 1,
        ..head
    };
    for head in [foreign, altered] {
        fs::write(&path, serde_json::to_string(&head).unwrap() + "\n").unwrap();
        let refused = last_head(dir.path()).unwrap_err();
        assert!(
            matches!(refused, JournalError::ForeignHead { .. }),
            "{refused}"
        );
    }
    fs::remove_file(&path).unwrap();
    let refused = last_head(dir.path()).unwrap_err();
    assert!(matches!(refused, JournalError::NoHead { .. }), "{refused}");
    let nowhere = tempfile::tempdir().unwrap();
    let refused = last_head(nowhere.path()).unwrap_err();
    assert!(
        matches!(refused, JournalError::NotAJournal { .. }),
        "{refused}"
    );
}

#[tokio::test]
async fn an_altered_line_is_named_by_its_check() {
    let dir = journal().await;
    let path = &files(&dir)[1];
    change(path, |lines| lines[1] = lines[1].replace("acme", "acne"));
    match proof(&dir) {
        Err(VerifyError::At {
            path: at,
            line: 2,
            flaw: Flaw::Check { .. },
        }) => assert_eq!(at, *path),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_altered_line_without_a_check_is_found_at_the_one_that_follows_it() {
    let dir = journal().await;
    let path = &files(&dir)[1];
    change(path, |lines| {
        let (begin, _) = lines[1].split_once(r#","check":"#).unwrap();
        lines[1] = format!("{begin}}}");
    });
    match proof(&dir) {
        Err(VerifyError::At {
            path: at,
            line: 3,
            flaw: Flaw::Link { .. },
        }) => assert_eq!(at, *path),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_removed_repeated_or_cut_line_is_named() {
    for break_it in [0, 1, 2] {
        let dir = journal().await;
        let path = &files(&dir)[1];
        change(path, |lines| match break_it {
            0 => drop(lines.remove(2)),
            1 => lines.insert(2, lines[1].clone()),
            _ => lines[2].truncate(40),
        });
        match proof(&dir) {
            Err(VerifyError::At {
                path: at,
                line: 3,
                flaw,
            }) => {
                assert_eq!(at, *path);
                assert_eq!(matches!(flaw, Flaw::NotAReceipt(_)), break_it == 2);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_file_taken_out_is_named_by_the_receipts_that_are_missing() {
    let dir = journal().await;
    fs::remove_file(&files(&dir)[1]).unwrap();
    assert!(matches!(
        proof(&dir),
        Err(VerifyError::At {
            line: 1,
            flaw: Flaw::Sequence { .. },
            ..
        })
    ));
    let dir = journal().await;
    fs::remove_file(&files(&dir)[0]).unwrap();
    assert!(matches!(
        proof(&dir),
        Err(VerifyError::At {
            line: 1,
            flaw: Flaw::Sequence { expected: 1, .. },
            ..
        })
    ));
}

#[tokio::test]
async fn files_put_elsewhere_may_be_missing_where_that_is_said() {
    let dir = journal().await;
    let first = segment::list(dir.path()).unwrap()[1].0;
    fs::remove_file(&files(&dir)[0]).unwrap();
    let expected = Expectations {
        begins_at: first,
        ..Expectations::default()
    };
    let mut seen = 0;
    let proof = verify(dir.path(), &expected, |_| seen += 1).unwrap();
    assert_eq!((proof.last, seen), (COUNT, COUNT - first + 1));
}

#[tokio::test]
async fn a_journal_cut_short_contradicts_its_own_head_or_one_kept_elsewhere() {
    let dir = journal().await;
    let elsewhere = heads(dir.path()).unwrap();
    fs::remove_file(files(&dir).pop().unwrap()).unwrap();
    let Err(VerifyError::Whole(Flaw::CutShort {
        signed: COUNT,
        last,
    })) = proof(&dir)
    else {
        panic!("not found");
    };
    assert!(last < COUNT);
    // Who cuts the journal can cut its heads; the one kept elsewhere stands.
    fs::remove_file(dir.path().join("heads.jsonl")).unwrap();
    assert_eq!(proof(&dir).unwrap().signed, 0);
    let expected = Expectations {
        heads: elsewhere,
        ..Expectations::default()
    };
    let found = verify(dir.path(), &expected, |_| {});
    assert!(matches!(
        found,
        Err(VerifyError::Whole(Flaw::CutShort { .. }))
    ));
}

/// A journal that its own host wrote anew with another record contradicts a head kept elsewhere.
#[tokio::test]
async fn a_journal_written_anew_contradicts_a_head_kept_elsewhere() {
    let (dir, other) = (journal().await, journal().await);
    let elsewhere = heads(dir.path()).unwrap();
    for (_, path) in segment::list(other.path()).unwrap() {
        fs::remove_file(path).unwrap();
    }
    fs::remove_file(other.path().join("heads.jsonl")).unwrap();
    let again = Journal::open(other.path(), [0; 32], Arc::new(|| 0)).unwrap();
    for name in 0..COUNT {
        let key = TenantKey::new([1; 32]);
        let receipt = prepare(&about(&name.to_string()), &key, b"another").unwrap();
        let ticket = again.append(receipt).unwrap();
        again.wait_until_durable(ticket, ticket).await.unwrap();
    }
    drop(again);
    assert!(proof(&other).is_ok(), "in itself it is sound");
    let expected = Expectations {
        heads: elsewhere,
        ..Expectations::default()
    };
    let found = verify(other.path(), &expected, |_| {});
    assert!(
        matches!(
            found,
            Err(VerifyError::At {
                flaw: Flaw::Head { .. },
                ..
            })
        ),
        "{found:?}"
    );
}

#[tokio::test]
async fn another_hosts_journal_and_a_forged_head_are_refused() {
    let dir = journal().await;
    let stranger = domesday_package::SigningKey::from_seed([5; 32]);
    let expected = Expectations {
        host: Some(stranger.public()),
        ..Expectations::default()
    };
    let found = verify(dir.path(), &expected, |_| {});
    assert!(
        matches!(found, Err(VerifyError::Whole(Flaw::Forged { .. }))),
        "{found:?}"
    );
    fs::remove_file(dir.path().join("heads.jsonl")).unwrap();
    let found = verify(dir.path(), &expected, |_| {});
    assert!(matches!(
        found,
        Err(VerifyError::At {
            line: 1,
            flaw: Flaw::OtherHost { .. },
            ..
        })
    ));
    let mut forged = crate::Head::sign(&stranger, 2, Sha256Digest::of(b"x"), 0);
    forged.host = folder::host(dir.path()).unwrap().to_string();
    let expected = Expectations {
        heads: vec![forged],
        ..Expectations::default()
    };
    let found = verify(dir.path(), &expected, |_| {});
    assert!(matches!(
        found,
        Err(VerifyError::Whole(Flaw::Forged { .. }))
    ));
}

#[tokio::test]
async fn an_unfinished_line_is_refused_where_another_file_follows() {
    let dir = journal().await;
    let path = &files(&dir)[0];
    let text = fs::read_to_string(path).unwrap();
    let unfinished = text.lines().count() as u64 + 1;
    fs::write(path, format!("{text}{{")).unwrap();
    match proof(&dir) {
        Err(VerifyError::At {
            path: at,
            line,
            flaw: Flaw::NotAReceipt(_),
        }) => assert_eq!((&at, line), (path, unfinished)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_line_longer_than_any_receipt_is_not_an_unfinished_one() {
    let dir = journal().await;
    let path = files(&dir).pop().unwrap();
    let file = File::options().write(true).open(path).unwrap();
    let length = file.metadata().unwrap().len();
    for (bytes, is_unfinished) in [(LONGEST - 1, true), (LONGEST, false)] {
        file.set_len(length + bytes - 1).unwrap();
        file.write_at(b"x", length + bytes - 1).unwrap();
        let found = proof(&dir).is_ok_and(|proof| proof.unfinished == bytes);
        assert_eq!(found, is_unfinished, "{bytes}");
    }
}

#[tokio::test]
async fn a_journal_that_ends_before_the_expected_receipt_is_cut_short() {
    let dir = journal().await;
    for (end, is_cut) in [(COUNT - 1, false), (COUNT, false), (COUNT + 1, true)] {
        let expected = Expectations {
            ends_at: Some(end),
            ..Expectations::default()
        };
        match verify(dir.path(), &expected, |_| {}) {
            Err(VerifyError::Whole(Flaw::CutShort { last, signed })) => {
                assert!(is_cut, "{end}");
                assert_eq!((last, signed), (COUNT, end));
            }
            other => assert!(!is_cut && other.is_ok(), "{end}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_receipt_that_names_a_group_of_others_is_found() {
    let dir = journal().await;
    change(&files(&dir).pop().unwrap(), |lines| {
        let last = lines.last_mut().unwrap();
        *last = last.replace(r#""durable":29"#, r#""durable":27"#);
    });
    let found = proof(&dir);
    let expected = Flaw::Group {
        sequence: COUNT,
        durable: 27,
    };
    assert!(
        matches!(&found, Err(VerifyError::At { flaw, .. }) if *flaw == expected),
        "{found:?}"
    );
}

#[tokio::test]
async fn the_first_receipt_of_a_later_file_follows_the_head_before_it() {
    let dir = journal().await;
    let (begins_at, path) = segment::list(dir.path()).unwrap().swap_remove(1);
    change(&path, |lines| {
        let receipt: Receipt = serde_json::from_str(&lines[0]).unwrap();
        let other = Sha256Digest::of(b"another line").to_string();
        lines[0] = lines[0].replace(&receipt.previous.to_string(), &other);
    });
    let expected = Expectations {
        begins_at,
        ..Expectations::default()
    };
    match verify(dir.path(), &expected, |_| {}) {
        Err(VerifyError::At {
            line: 1,
            flaw: Flaw::Link { sequence, .. },
            ..
        }) => assert_eq!(sequence, begins_at),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn receipts_connect_to_earlier_ones_by_a_head_of_the_receipt_before_alone() {
    let dir = journal().await;
    let (begins_at, _) = segment::list(dir.path()).unwrap().swap_remove(1);
    let connects = |begins_at| {
        let expected = Expectations {
            begins_at,
            ..Expectations::default()
        };
        verify(dir.path(), &expected, |_| {}).unwrap().is_connected
    };
    assert!(connects(1) && connects(begins_at));
    let mut others = heads(dir.path()).unwrap();
    others.retain(|head| head.sequence + 1 != begins_at);
    let others: String = others
        .iter()
        .map(|head| serde_json::to_string(head).unwrap() + "\n")
        .collect();
    fs::write(dir.path().join("heads.jsonl"), others).unwrap();
    assert!(connects(1) && !connects(begins_at));
}

/// A head that an auditor kept says that the receipt before the first one was another.
#[tokio::test]
async fn a_head_from_elsewhere_of_the_receipt_before_the_first_one_counts() {
    let (dir, other) = (journal().await, journal_of(0x80).await);
    let (begins_at, _) = segment::list(dir.path()).unwrap().swap_remove(1);
    let head_of = |dir: &TempDir| {
        let heads = heads(dir.path()).unwrap();
        let mut heads = heads.into_iter();
        heads.rfind(|head| head.sequence + 1 == begins_at).unwrap()
    };
    let verify_with = |heads: Vec<Head>| {
        let expected = Expectations {
            heads,
            begins_at,
            ..Expectations::default()
        };
        verify(dir.path(), &expected, |_| {})
    };
    let proof = verify_with(vec![head_of(&dir)]).unwrap();
    assert_eq!(proof.vouched_elsewhere, Some(begins_at - 1));
    assert_eq!(verify_with(Vec::new()).unwrap().vouched_elsewhere, None);
    match verify_with(vec![head_of(&other)]) {
        Err(VerifyError::Whole(Flaw::Head { sequence, .. })) => {
            assert_eq!(sequence, begins_at - 1);
        }
        found => panic!("{found:?}"),
    }
    // One of no receipt that is looked at vouches for nothing.
    let early = heads(dir.path()).unwrap().into_iter();
    let early = early.filter(|head| head.sequence + 1 < begins_at).collect();
    assert_eq!(verify_with(early).unwrap().vouched_elsewhere, None);
}

/// A file whose line a host is writing: its midst is there after some reads.
struct WrittenLine {
    text: Vec<u8>,
    at: usize,
    /// Reads from a place until the line is whole.
    until_whole: u32,
}

impl Read for WrittenLine {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut text = self.text.clone();
        if self.until_whole > 0 {
            text[6..8].fill(0);
        }
        let read = (&text[self.at..]).read(into)?;
        self.at += read;
        Ok(read)
    }
}

impl Seek for WrittenLine {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(to) = to else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        self.at = usize::try_from(to).unwrap();
        self.until_whole = self.until_whole.saturating_sub(1);
        Ok(to)
    }
}

#[test]
fn a_line_that_a_host_is_writing_is_read_again_and_no_more_than_some_times() {
    for (until_whole, read) in [(0, "bcdefg\n"), (1, "bcdefg\n"), (9, "bcde\0\0\n")] {
        let mut reader = BufReader::new(WrittenLine {
            text: b"a\nbcdefg\nh\n".to_vec(),
            at: 0,
            until_whole,
        });
        let mut line = Vec::new();
        assert_eq!(read_settled_line(&mut reader, 0, &mut line).unwrap(), 2);
        assert_eq!(read_settled_line(&mut reader, 2, &mut line).unwrap(), 7);
        assert_eq!(String::from_utf8(line.clone()).unwrap(), read);
        assert_eq!(read_settled_line(&mut reader, 9, &mut line).unwrap(), 2);
        assert_eq!(line, b"h\n");
    }
}
