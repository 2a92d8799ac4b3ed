//! `domesday shadow`: a candidate beside the current release of a running server.

use super::outputs::Outputs;
use super::place::Place;
use crate::admin::wire::{Answer, Order};
use crate::shadow::Share;
use crate::shadow::read::comparison;
use anyhow::bail;
use clap::{ArgMatches, Subcommand};
use domesday_package::PackageId;

#[derive(Debug, Subcommand)]
pub enum Shadow {
    /// Run a release beside the current one on a share of live rows, until the server ends; no answer is touched.
    Begin {
        /// The release, which the server opens, proves and admits.
        release: PackageId,
        /// Share of rows that it is run on, above 0 and up to 1.
        #[arg(long, value_name = "SHARE", default_value = "0.01")]
        share: Share,
        #[command(flatten)]
        place: Place,
    },
    /// Run none any more; what was kept stays.
    End {
        #[command(flatten)]
        place: Place,
    },
    /// Compare what a release said as a shadow with what went out; no server is asked.
    Report {
        /// The release that ran as a shadow.
        release: PackageId,
        /// The release that was served; by default the last that it ran beside.
        #[arg(long, value_name = "ID")]
        against: Option<PackageId>,
        #[command(flatten)]
        outputs: Outputs,
        #[command(flatten)]
        place: Place,
    },
}

impl Shadow {
    pub fn run(self, matches: &ArgMatches) -> anyhow::Result<()> {
        match self {
            Shadow::Begin {
                release,
                share,
                place,
            } => {
                let order = Order::BeginShadow {
                    release: release.to_string(),
                    share: share.part(),
                };
                give(&place.settled(matches)?, &order)?;
                println!("{release} runs as a shadow on {} of rows", share.part());
            }
            Shadow::End { place } => {
                let answer = give(&place.settled(matches)?, &Order::EndShadow {})?;
                match answer {
                    Answer::ShadowEnded { release } => {
                        println!("{release} runs as a shadow no more; what was kept stays");
                    }
                    _ => println!("the shadow has ended; what was kept stays"),
                }
            }
            Shadow::Report {
                release,
                against,
                outputs,
                place,
            } => {
                let data = place.settled(matches)?.data;
                let against = against.as_ref().map(PackageId::as_str);
                let outputs = outputs.open()?;
                outputs.write(&comparison(&data, release.as_str(), against)?)?;
            }
        }
        Ok(())
    }
}

fn give(place: &Place, order: &Order) -> anyhow::Result<Answer> {
    match place.order_server(order)? {
        Some(answer) => Ok(answer),
        None => bail!(
            "no server runs on the data folder {}; `domesday serve --shadow` begins with one",
            place.data.display()
        ),
    }
}
