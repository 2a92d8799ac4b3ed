//! Files whose name or flag is that of another kind.

use crate::command_line::data::{REGISTERS, check_content, folder, rows};
use crate::command_line::making::registers;
use crate::common::program::run;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Returns an archive of these files.
fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn a_kind_is_found_by_the_content_whatever_the_name_and_form() {
    let folder = folder();
    let rents = fs::read(registers().join("price-index-of-private-rents.xlsx")).unwrap();
    let bank = "DATE,IUDBEDR\n01 Sep 2026,3.75\n02 Sep 2026,3.75\n";
    let certificates = rows("certificates.csv");
    let curve = "sonia_curve,1,2\n2026-09-30,3.91,3.90\n";
    let utf16: Vec<u8> = bank.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, content, kind) in [
        ("rents.csv", rents.clone(), "private rents (--rents)"),
        ("rents.xls", rents, "private rents (--rents)"),
        (
            "bank.xlsx",
            bank.into(),
            "Bank of England's database (--bank-csv)",
        ),
    ] {
        let output = check_content(folder.path(), name, &content).ok();
        assert!(
            output.stdout.contains(&format!("{name}: {kind}")),
            "{output:?}"
        );
    }
    for (name, content, kind, reason) in [
        (
            "header.csv",
            b"DATE,IUDBEDR\n".to_vec(),
            "Bank of England's database (--bank-csv)",
            "holds no value of a known series",
        ),
        (
            "utf16.csv",
            utf16,
            "Bank of England's database (--bank-csv)",
            "the text is UTF-16",
        ),
        (
            "sep.csv",
            format!("sep=,\n{bank}").into_bytes(),
            "Bank of England's database (--bank-csv)",
            "Delete it: sed 1d",
        ),
        (
            "curve.csv",
            curve.into(),
            "yield curves (--curves)",
            "\"sonia_curve\" names no curve dataset. Write one of: ois_spot_curve, ",
        ),
        (
            "bank.zip",
            zipped(&[("2026/bank.csv", bank.as_bytes())]),
            "zip archive",
            "it holds 2026/bank.csv, which is the Bank of England's database. Unpack it, then give \
             it with --bank-csv",
        ),
        (
            "energy.zip",
            zipped(&[("energy.csv", certificates.as_bytes())]),
            "zip archive",
            "which is the register of domestic energy certificates. Unpack it, then give it with \
             --certificates",
        ),
        (
            "other.zip",
            zipped(&[("a.txt", b"b")]),
            "zip archive",
            "the archive holds a.txt, and no register's table",
        ),
        (
            "json.csv",
            b"{\"a\": 1}\n".to_vec(),
            "unknown",
            "the file is JSON, not a table",
        ),
        (
            "other.csv",
            b"name,colour\nrose,red\n".to_vec(),
            "unknown",
            "no register begins with \"name,colour\"",
        ),
    ] {
        let output = check_content(folder.path(), name, &content);
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(
            output.stdout.contains(&format!("{name}: {kind}\n")),
            "{output:?}"
        );
        assert!(output.stdout.contains(reason), "{output:?}");
    }
}

/// Returns the refusal of a command that was given a file with the flag of another kind.
fn refusal(command: &[&str], flag: &str, file: &Path, others: &[(&str, &str)]) -> String {
    let folder = folder();
    let mut arguments: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    let releases = folder.path().display().to_string();
    arguments.extend(["--releases".to_owned(), releases]);
    arguments.extend([flag.to_owned(), file.display().to_string()]);
    for (register, option) in others.iter().filter(|(_, option)| *option != flag) {
        let path = registers().join(register).display().to_string();
        arguments.extend([(*option).to_owned(), path]);
    }
    run(arguments).refused()
}

#[test]
fn a_file_given_with_the_flag_of_another_kind_is_named_with_its_own_flag() {
    const PROPERTY: [&str; 4] = ["property", "build", "--snapshot-id", "wrong"];
    const MARKETS: [&str; 5] = ["series", "build", "markets", "--release-id", "wrong"];
    const RATES: [&str; 5] = ["series", "build", "rates", "--release-id", "wrong"];
    let folder = folder();
    let write = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    };
    let bank = "DATE,IUDBEDR\n01 Sep 2026,3.75\n02 Sep 2026,3.75\n";
    let sonia = write("sonia.csv", b"Date,SONIA\n01 Sep 2026,3.7\n");
    let bank_csv = write("bank.csv", bank.as_bytes());
    let bank_zip = write("bank.zip", &zipped(&[("bank.csv", bank.as_bytes())]));
    let tabs = write(
        "tabs.csv",
        rows("certificates.csv").replace(',', "\t").as_bytes(),
    );
    let register = |name: &str| registers().join(name);
    let all = REGISTERS;
    let property = &all[..6];
    let markets = [&all[..2], &all[3..5]].concat();
    let rates: [(&str, &str); 0] = [];
    let database = ["--bank-csv", bank_csv.to_str().unwrap()];
    let curves = [&RATES[..], &database[..]].concat();
    for (command, flag, file, others, reason) in [
        (
            &PROPERTY[..],
            "--price-paid",
            register("certificates.csv"),
            property,
            "certificates.csv was given as the Land Registry's price paid data. It is the register \
             of domestic energy certificates: give it with --certificates",
        ),
        (
            &PROPERTY,
            "--price-paid",
            tabs,
            property,
            "it was given as the Land Registry's price paid data. It is the register of domestic \
             energy certificates: give it with --certificates",
        ),
        (
            &PROPERTY,
            "--areas",
            register("price-index-of-private-rents.xlsx"),
            property,
            "It is a file of private rents: give it to `domesday series build markets` with --rents",
        ),
        (
            &RATES,
            "--bank-csv",
            register("price-paid.csv"),
            &rates,
            "price-paid.csv was given as the Bank of England's database. It is the Land Registry's \
             price paid data: give it to `domesday property build` with --price-paid",
        ),
        (
            &RATES,
            "--bank-csv",
            bank_zip,
            &rates,
            "It holds bank.csv, which is the Bank of England's database: unpack it, then give it \
             with --bank-csv",
        ),
        (
            &curves,
            "--curves",
            register("codepo_gb.zip"),
            &rates,
            "It is OS Code-Point Open: give it to `domesday property build` with --code-point",
        ),
        (
            &curves,
            "--curves",
            sonia.clone(),
            &rates,
            "It is the Bank of England's database: give it with --bank-csv",
        ),
        (
            &MARKETS,
            "--rents",
            sonia,
            &markets,
            "It is the Bank of England's database: give it to `domesday series build rates` with \
             --bank-csv",
        ),
        (
            &MARKETS,
            "--house-price-index",
            register("certificates.csv"),
            &markets,
            "It is the register of domestic energy certificates: give it with --certificates",
        ),
    ] {
        let refusal = refusal(command, flag, &file, others);
        assert!(refusal.contains(reason), "{flag}: {refusal}");
        assert!(!refusal.contains("Put the publisher's line"), "{refusal}");
    }
}
