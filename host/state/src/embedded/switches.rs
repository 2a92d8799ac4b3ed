//! Switches in the file; reading them is memory's.

use super::EmbeddedState;
use super::change::Change;
use super::error::writing;
use super::switch_names::PAUSED;
use crate::{ReleaseKind, StateError, Switches};

impl Switches for EmbeddedState {
    fn pause_jobs(&self, paused: bool) -> Result<(), StateError> {
        self.blocking(move |tables| {
            let switches = tables.switches.edit()?;
            if paused {
                switches.insert(PAUSED, "").map_err(writing)?;
            } else {
                switches.remove(PAUSED).map_err(writing)?;
            }
            tables.changes.push(Change::Paused(paused));
            Ok(())
        })
    }

    fn jobs_paused(&self) -> bool {
        self.shared.memory.jobs_paused()
    }

    fn promoted_release(&self, what: ReleaseKind) -> Option<String> {
        self.shared.memory.promoted_release(what)
    }

    fn degradation(&self) -> Option<String> {
        self.shared.memory.degradation()
    }
}
