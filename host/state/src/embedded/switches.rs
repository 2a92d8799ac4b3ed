//! Switches in the file; reading them is memory's.

use super::EmbeddedState;
use super::change::Change;
use super::error::writing;
use super::switch_names::{PAUSED, promoted_switch};
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

    fn promote(&self, what: ReleaseKind, release_id: &str) -> Result<(), StateError> {
        let release = release_id.to_owned();
        self.blocking(move |tables| {
            let switches = tables.switches.edit()?;
            switches
                .insert(promoted_switch(what), release.as_str())
                .map_err(writing)?;
            tables.changes.push(Change::Promoted(what, release));
            Ok(())
        })
    }

    fn promoted_release(&self, what: ReleaseKind) -> Option<String> {
        self.shared.memory.promoted_release(what)
    }

    fn degradation(&self) -> Option<String> {
        self.shared.memory.degradation()
    }
}
