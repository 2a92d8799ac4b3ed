//! A registry that stalls. A command goes on when the registry does, and ends with an error where
//! it does not.

use crate::common::demo::RELEASE;
use crate::common::packages::{Releases, host};
use crate::common::program::{ProcessOutput, domesday, run_command};
use crate::common::registry::registry;
use crate::crash::harness::setting;
use crate::stalls::run::matrix;
use rustix::process::Signal;
use std::path::Path;
use std::time::{Duration, Instant};

/// The longest that a command waits for a registry: a minute of silence, four times.
const GIVEN_UP: Duration = Duration::from_secs(270);

fn release(arguments: &[&str], releases: &Path) -> ProcessOutput {
    let mut command = domesday();
    command.env("DOCKER_CONFIG", releases.join("no-such-folder"));
    command.arg("release").args(arguments);
    command.arg("--releases").arg(releases);
    run_command(command, GIVEN_UP)
}

#[test]
fn a_registry_that_stalls_delays_a_pull_and_a_publication_and_ends_neither() {
    let Some(registry) = registry() else { return };
    let (source, target, repository) = (Releases::copy(), host(), registry.repository());
    let (pause, _) = matrix();
    let publish = ["publish", RELEASE, &repository];
    let pull = ["pull", RELEASE, &repository];
    for (arguments, releases) in [(publish, source.path()), (pull, target.path())] {
        registry.signal(Signal::STOP);
        let began = Instant::now();
        std::thread::scope(|scope| {
            let command = scope.spawn(|| release(&arguments, releases));
            std::thread::sleep(pause);
            assert!(!command.is_finished());
            registry.signal(Signal::CONT);
            command.join().unwrap().ok();
        });
        println!(
            "registry, {}: done after {:.1} s",
            arguments[0],
            began.elapsed().as_secs_f64()
        );
    }
    // Where it never goes on.
    if setting("DOMESDAY_STALL_SECONDS").is_some() {
        registry.signal(Signal::STOP);
        let (began, target) = (Instant::now(), host());
        let error = release(&pull, target.path()).refused();
        println!(
            "registry, pull: refused after {:.1} s: {error}",
            began.elapsed().as_secs_f64()
        );
        registry.signal(Signal::CONT);
    }
}
