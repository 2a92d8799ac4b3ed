//! `domesday file`: signs a file that is no part of a package, and verifies it.

use anyhow::Context;
use clap::Subcommand;
use domesday_package::{PublicKey, SigningKey, sign_file, verify_file};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum File {
    /// Sign a file: FILE.sig holds the signature.
    Sign {
        /// File to sign, of at most 1 MiB.
        file: PathBuf,
        /// Private key file.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
    /// Verify a file by its FILE.sig; exit 0 only if the key signed it.
    Verify {
        /// File to verify.
        file: PathBuf,
        /// Public key file.
        #[arg(long, value_name = "FILE")]
        key: PathBuf,
    },
}

impl File {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            File::Sign { file, key } => {
                let signature = sign_file(&file, &SigningKey::read(&key)?)?;
                println!("The signature is {}", signature.display());
            }
            File::Verify { file, key } => {
                let (key, comment) = PublicKey::read(&key)?;
                verify_file(&file, &key).context("do not use the file")?;
                println!("{} is signed by {key} {comment}", file.display());
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
