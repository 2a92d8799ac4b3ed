//! The addresses of the made-up country, for the search of the demo's console.

use domesday_server::service::Service;
use std::sync::Arc;

/// Makes the demo's address directory on a separate thread, in half a second. Nothing waits for it:
/// until then the console has no search. A server that knows none of the demo's homes, or has a
/// directory, gets none.
#[cfg(feature = "builders")]
pub fn begin_demo_addresses(service: &Arc<Service>) {
    use domesday_server::demo;

    let sessions = service.console.as_ref();
    if sessions.is_none_or(|sessions| sessions.addresses().is_some()) {
        return;
    }
    let service = service.clone();
    std::thread::spawn(move || {
        // It values a home, which the start need not wait for.
        if !demo::is_valued(service.releases.current()) {
            return;
        }
        match made_up() {
            Ok(directory) => {
                if let Some(sessions) = &service.console {
                    sessions.set_addresses(directory);
                }
            }
            Err(error) => tracing::warn!(%error, "the demo's addresses cannot be searched"),
        }
    });
}

/// Does nothing, since without the builders nothing makes them.
#[cfg(not(feature = "builders"))]
pub fn begin_demo_addresses(_: &Arc<Service>) {}

/// Returns the addresses of the country that scripts/make-demo invents. The file has no name any
/// more once it is open.
#[cfg(feature = "builders")]
fn made_up() -> anyhow::Result<domesday_property::address_directory::AddressDirectory> {
    use chrono::NaiveDate;
    use domesday_property::address_directory::{AddressDirectory, DirectoryInputs, build};
    use domesday_registers::MaxRejected;
    use domesday_synthetic::{Size, World, generate};

    let folder = tempfile::tempdir()?;
    let world = World {
        seed: 1086,
        size: Size::demo(),
        through: NaiveDate::from_ymd_opt(2026, 9, 30).unwrap_or_default(),
    };
    generate(&world, folder.path(), |_, _, _| {})?;
    let inputs = DirectoryInputs {
        addresses: vec![folder.path().join("addresses.csv")],
        price_paid: Vec::new(),
        max_rejected: MaxRejected::default(),
    };
    let out = folder.path().join("addresses.redb");
    build(&inputs, &out, &mut |_, _, _| {})?;
    Ok(AddressDirectory::open(&out)?)
}
