//! Reads any of the register files and prints the counts of its rows.
//!
//! ```text
//! cargo run --release -p domesday-registers --example read -- price-paid pp-complete.csv
//! ```

#![allow(missing_docs, unused_crate_dependencies)]

use domesday_registers::rows::{Register, Rows};
use domesday_registers::{ReadError, RejectReason};
use domesday_registers::{
    address_file, areas, certificates, code_point, house_price_index, price_paid,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(register), Some(file)) = (arguments.next(), arguments.next()) else {
        return Err(
            "usage: read price-paid|certificates|code-point|areas|codes|index|addresses FILE"
                .into(),
        );
    };
    let file = Path::new(&file);
    match register.as_str() {
        "price-paid" => read::<price_paid::PricePaidFile>(file)?,
        "certificates" => read::<certificates::CertificateFile>(file)?,
        "code-point" => read::<code_point::CodePointFile>(file)?,
        "areas" => read::<areas::AreaFile>(file)?,
        "codes" => read::<areas::AuthorityCodeFile>(file)?,
        "index" => read::<house_price_index::IndexFile>(file)?,
        "addresses" => read::<address_file::AddressFile>(file)?,
        other => return Err(format!("no register is called {other}").into()),
    }
    Ok(())
}

fn read<T: Register>(file: &Path) -> Result<(), ReadError> {
    let bytes_read = domesday_registers::BytesRead::default();
    let started = Instant::now();
    let mut rows = Rows::<T>::open(file, &bytes_read)?;
    let mut accepted = 0_u64;
    let mut rejected: BTreeMap<RejectReason, (u64, String)> = BTreeMap::new();
    for row in rows.by_ref() {
        match row? {
            Ok(_) => accepted += 1,
            Err(reject) => {
                rejected
                    .entry(reject.reason)
                    .or_insert_with(|| (0, reject.to_string()))
                    .0 += 1
            }
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let lost: u64 = rejected.values().map(|(times, _)| times).sum();
    println!(
        "{}: {} rows read, {accepted} kept, {lost} rejected",
        T::NAME,
        accepted + lost
    );
    for (reason, (times, first)) in &rejected {
        println!("  {times} {}, first: {first}", reason.code());
    }
    for (warning, times) in rows.warnings() {
        println!("  {times} cells set aside: {warning}");
    }
    let rate = (accepted + lost) as f64 / seconds;
    println!(
        "  {} bytes in {seconds:.2} s, {rate:.0} rows a second",
        bytes_read.bytes()
    );
    Ok(())
}
