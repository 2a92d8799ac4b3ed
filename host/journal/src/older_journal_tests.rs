//! Journals that older versions wrote.

use super::*;
use domesday_package::Sha256Digest;

/// Rewrites a line as it was written before groups were marked.
fn older(line: &str) -> String {
    let receipt: Receipt = serde_json::from_str(line).unwrap();
    let older = Receipt {
        durable: None,
        check: None,
        ..receipt
    };
    serde_json::to_string(&older).unwrap()
}

/// Writes the journal's only file as an older program would have.
fn written_by_an_older_program(groups: &[Vec<usize>]) -> WrittenJournal {
    let written = WrittenJournal::new(groups);
    let (path, ..) = &written.groups[0];
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, rechain(&text, older)).unwrap();
    written
}

/// Rewrites each line, and chains it to the line before as that was rewritten.
fn rechain(text: &str, rewrite: impl Fn(&str) -> String) -> String {
    let mut previous: Option<String> = None;
    let mut all = String::new();
    for line in text.lines() {
        let receipt: Receipt = serde_json::from_str(line).unwrap();
        let chained = match &previous {
            Some(previous) => line.replace(
                &receipt.previous.to_string(),
                &Sha256Digest::of(previous.as_bytes()).to_string(),
            ),
            None => line.to_owned(),
        };
        let line = rewrite(&chained);
        all.push_str(&line);
        all.push('\n');
        previous = Some(line);
    }
    all
}

#[tokio::test]
async fn a_journal_of_an_older_program_resumes_and_proves() {
    let written = written_by_an_older_program(&[vec![300; 3]]);
    let journal = written.open().unwrap();
    let ticket = journal.append(receipt(3, 300)).unwrap();
    journal.wait_until_durable(ticket, ticket).await.unwrap();
    drop(journal);
    assert_eq!(names(written.dir.path()), ["0", "1", "2", "3"]);
    // Torn at its end, it resumes; with a whole receipt behind a hole, it does not.
    for (hole, resumes) in [(1_024..1_536, false), (1_024..usize::MAX, true)] {
        let written = written_by_an_older_program(&[vec![600; 5]]);
        let (path, ..) = &written.groups[0];
        let mut bytes = fs::read(path).unwrap();
        let end = hole.end.min(bytes.len());
        bytes[hole.start..end].fill(0);
        fs::write(path, bytes).unwrap();
        match resumes {
            true => drop(written.open().unwrap()),
            false => assert!(written.resume_error().contains("follows it")),
        }
    }
}

#[test]
fn a_journal_whose_checks_cover_the_record_alone_resumes_and_proves() {
    let written = WrittenJournal::new(&[vec![300], vec![300, 300]]);
    let (path, ..) = &written.groups[0];
    let text = rechain(&fs::read_to_string(path).unwrap(), |line| {
        let begins = line.find(r#""about":"#).unwrap();
        let (start, _) = line.split_once(r#","check":"#).unwrap();
        let digest = Sha256Digest::of(&start.as_bytes()[begins..]).to_string();
        format!(r#"{start},"check":"{}"}}"#, &digest[..16])
    });
    fs::write(path, text).unwrap();
    assert_eq!(written.open().unwrap().sequence(), 3);
    assert_eq!(names(written.dir.path()), ["0", "1", "2"]);
}
