//! `domesday shadow`: a candidate beside the current release of a running server.

use super::report_file::ReportFileArgs;
use super::target::AdminTarget;
use anyhow::bail;
use clap::{ArgMatches, Subcommand};
use domesday_package::PackageId;
use domesday_server::admin::protocol::{Command, Response};
use domesday_server::shadow::report::comparison;
use domesday_valuation::sample_rate::SampleRate;

#[derive(Debug, Subcommand)]
pub enum Shadow {
    /// Start a shadow: run a release beside the current one on a share of live rows. No response
    /// changes.
    Start {
        /// Id of the candidate release.
        release: PackageId,
        /// Share of rows to run it on, above 0 and up to 1.
        #[arg(long, value_name = "SHARE", default_value = "0.01")]
        share: SampleRate,
        #[command(flatten)]
        target: AdminTarget,
    },
    /// Stop the shadow. Its recorded rows stay.
    Stop {
        #[command(flatten)]
        target: AdminTarget,
    },
    /// Report a shadow's outcomes against those that were served. Needs no server.
    Report {
        /// Id of the release that ran as a shadow.
        release: PackageId,
        /// Id of the release that was served (default: the last one that it ran beside).
        #[arg(long, value_name = "ID")]
        against: Option<PackageId>,
        #[command(flatten)]
        outputs: ReportFileArgs,
        #[command(flatten)]
        target: AdminTarget,
    },
}

impl Shadow {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<()> {
        match self {
            Shadow::Start {
                release,
                share,
                target,
            } => {
                let command = Command::StartShadow {
                    release: release.to_string(),
                    share: share.part(),
                };
                send(&target.resolve(matches)?, &command)?;
                println!("{release} runs as a shadow on {} of rows", share.part());
            }
            Shadow::Stop { target } => {
                let answer = send(&target.resolve(matches)?, &Command::StopShadow {})?;
                match answer {
                    Response::ShadowEnded { release } => {
                        println!("{release} no longer runs as a shadow; its recorded rows stay");
                    }
                    _ => println!("the shadow has ended; its recorded rows stay"),
                }
            }
            Shadow::Report {
                release,
                against,
                outputs,
                target,
            } => {
                let data = target.resolve(matches)?.data;
                let against = against.as_ref().map(PackageId::as_str);
                let outputs = outputs.open()?;
                outputs.write(&comparison(&data, release.as_str(), against)?)?;
            }
        }
        Ok(())
    }
}

fn send(target: &AdminTarget, command: &Command) -> anyhow::Result<Response> {
    match target.execute_on_server(command)? {
        Some(answer) => Ok(answer),
        None => bail!(
            "no server runs on the data folder {}; `domesday serve --shadow` starts one",
            target.data.display()
        ),
    }
}
