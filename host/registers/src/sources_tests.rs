use super::*;
use crate::areas::AreaFile;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Register {
    First,
    Second,
}

impl Kind for Register {
    fn name(self) -> &'static str {
        match self {
            Register::First => "first",
            Register::Second => "second",
        }
    }
}

#[test]
fn files_stand_by_register_and_content_whatever_their_names_and_order() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (abc, empty) = (write("1.csv", "abc"), write("2.csv", ""));
    let mut heard = 0;
    let mut progress = |stage: &str, done: u64, total: u64| {
        assert_eq!((stage, done), ("hash", total));
        heard += 1;
    };
    let listed = |given: &[(Register, &[PathBuf])], progress: &mut Progress<'_>| -> Vec<_> {
        let sources = list(given, progress).unwrap();
        let totals = sources.into_iter().map(|source| {
            let FileReport {
                file,
                sha256,
                bytes,
                ..
            } = source.report;
            (source.kind, file, sha256[..8].to_owned(), bytes)
        });
        totals.collect()
    };
    let expected = [
        (
            Register::First,
            "1.csv".to_owned(),
            "ba7816bf".to_owned(),
            3,
        ),
        (
            Register::Second,
            "1.csv".to_owned(),
            "ba7816bf".to_owned(),
            3,
        ),
        (
            Register::Second,
            "2.csv".to_owned(),
            "e3b0c442".to_owned(),
            0,
        ),
    ];
    let (first, second) = ([abc.clone()], [empty, abc]);
    let given = [(Register::Second, &second[..]), (Register::First, &first)];
    assert_eq!(listed(&given, &mut progress), expected);
    assert_eq!(heard, 2, "an empty file is hashed at once");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let path = PathBuf::from("nowhere.csv");
    let error = list(&[(Register::First, &[path][..])], &mut |_, _, _| ()).unwrap_err();
    let text = error.to_string();
    let ends = text.strip_prefix("cannot read nowhere.csv: No such file");
    assert!(
        ends.is_some_and(|ends| ends.ends_with("; check --first")),
        "{text}"
    );
}

#[test]
fn rows_are_kept_left_out_or_rejected_and_each_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("areas.csv");
    let header = "LAD23CD,LAD23NM,AREALHECT";
    let text =
        format!("{header}\nE06990001,Ashby,10\nE06990002,Thornet,ten\nW06990003,Brithel,30\n");
    std::fs::write(&path, text).unwrap();
    let mut sources = list(&[(Register::First, &[path][..])], &mut |_, _, _| ()).unwrap();
    let mut unused_rows = Vec::new();
    let read = sources[0].read::<AreaFile, &str, ReadError>(
        MaxRejected::ANY,
        &mut |_, _, _| (),
        |row| match row.code.starts_with('W') {
            true => Verdict::LeftOut("elsewhere", "Brithel"),
            false => Verdict::Kept,
        },
        |file, unused| {
            unused_rows.push(match unused {
                UnusedRow::Rejected(reject) => format!("{file} {}", reject.line),
                UnusedRow::LeftOut {
                    position: (_, line),
                    reason,
                    identifier,
                } => format!("{file} {line} {reason} {identifier}"),
            });
            Ok(())
        },
    );
    read.unwrap();
    assert_eq!(
        unused_rows,
        ["areas.csv 3", "areas.csv 4 elsewhere Brithel"]
    );
    let report = &sources[0].report;
    assert_eq!((report.rows_read, report.rows_kept), (3, 1));
    assert_eq!(report.left_out["elsewhere"], 1);
    assert_eq!(report.rejected.values().sum::<u64>(), 1);
}

#[test]
fn a_last_line_without_an_end_is_a_warning_with_its_line() {
    let read = |name: &str, content: &[u8]| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let mut sources = list(&[(Register::First, &[path][..])], &mut |_, _, _| ()).unwrap();
        let read = sources[0].read::<AreaFile, (), ReadError>(
            MaxRejected::ANY,
            &mut |_, _, _| (),
            |_| Verdict::Kept,
            |_, _| Ok(()),
        );
        read.unwrap();
        let report = &sources[0].report;
        let warnings = report.field_warnings.get("unended_last_line").copied();
        (report.rows_kept, report.unended.clone(), warnings)
    };
    let whole = "LAD23CD,LAD23NM,AREALHECT\nE06990001,Ashby,10\nE06990002,Thornet,9509.26\n";
    assert_eq!(read("areas.csv", whole.as_bytes()), (2, None, None));
    // The cut leaves a hectare figure of 95.
    let cut = &whole.as_bytes()[..whole.len() - 6];
    let expected = (2, Some("line 3".to_owned()), Some(1));
    assert_eq!(read("areas.csv", cut), expected);
    let quoted = "LAD23CD,LAD23NM,AREALHECT\nE06990001,Ashby,\"10\"";
    assert_eq!(read("areas.csv", quoted.as_bytes()), (1, None, None));
    // A row that the cut spoils is rejected, which says more.
    let cut = &whole.as_bytes()[..whole.len() - 8];
    assert_eq!(read("areas.csv", cut), (1, None, None));
}

/// Returns the error of reading an areas file with the default limit, or an empty text.
fn refusal(rows: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("areas.csv");
    std::fs::write(&path, format!("LAD23CD,LAD23NM,AREALHECT\n{rows}")).unwrap();
    let mut sources = list(&[(Register::First, &[path][..])], &mut |_, _, _| ()).unwrap();
    let read = sources[0].read::<AreaFile, (), ReadError>(
        MaxRejected::default(),
        &mut |_, _, _| (),
        |row| match row.code.starts_with('W') {
            true => Verdict::LeftOut("elsewhere", ()),
            false => Verdict::Kept,
        },
        |_, _| Ok(()),
    );
    match read {
        Ok(()) => String::new(),
        Err(error) => error
            .to_string()
            .replace(&format!("{}/", folder.path().display()), ""),
    }
}

#[test]
fn a_file_with_too_many_rejects_or_no_useful_row_is_refused() {
    let sound = "E06990001,Ashby,10\n";
    let bad = "E06990002,Thornet,ten\n";
    assert_eq!(refusal(&(sound.repeat(19) + bad)), "", "5 per cent");
    insta::assert_snapshot!(refusal(&(sound.repeat(18) + bad)), @r#"areas.csv: 1 of 19 rows are rejected, and the limit is 5 per cent (--max-rejected): bad_number 1 (the first: line 20: the number is missing or cannot be read: "ten")"#);
    insta::assert_snapshot!(refusal(""), @"areas.csv: no row follows the column names of the ONS Standard Area Measurements of local authorities; download it again");
    insta::assert_snapshot!(refusal("W06990003,Brithel,30\n"), @"areas.csv: none of its 1 rows is of use to the build as the ONS Standard Area Measurements of local authorities: elsewhere 1");
}
