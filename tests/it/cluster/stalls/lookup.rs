//! An address provider that accepts requests and answers none. Rows that need it end with its
//! error, and all others are valued.

use crate::common::demo::{at, house};
use crate::common::places::{Home, Places, Reply, home, listing};
use crate::crash::harness::World;
use crate::stalls::run::{Stall, host, keys};
use std::time::Duration;

/// Longer than any wait for the provider.
const LONG: Duration = Duration::from_secs(60);
const STREET: &str = "Badger Yard Gardens";
/// More than one run asks for: an answer of the provider is cached.
const POSTCODES: usize = 2_028;

fn postcode(number: usize) -> String {
    let letter = |number: usize| char::from(b'A' + u8::try_from(number % 26).unwrap());
    let (first, second) = (letter(number / 26), letter(number));
    format!("QA{} 9{first}{second}", number / 676 + 1)
}

fn hold(name: &str, world: &World) {
    let uprn = |number| 990_000_000_000 + u64::try_from(number).unwrap();
    let homes: Vec<Home> = (0..POSTCODES)
        .map(|number| home(uprn(number), &postcode(number), "4711", STREET))
        .collect();
    let places = Places::of(&homes);
    let keys = keys(world);
    let server = host(world)
        .with(&["--address-provider", &places.url()])
        .go();
    let freeze = |frozen| match frozen {
        true => places.set_behaviour(|_| Reply::Late(LONG, Box::new(Reply::Hangup))),
        false => places.set_behaviour(listing(&homes)),
    };
    // The provider is asked for every second.
    let unknown = |number| at("4711", STREET, &postcode(number));
    let bodies: Vec<_> = (0..POSTCODES)
        .flat_map(|number| [house(), unknown(number)])
        .collect();
    Stall {
        name,
        requests: ("/v3/value", &bodies),
        refusal: "identity_provider_unavailable",
        turns: false,
        freeze: &freeze,
    }
    .hold(world, &server, &keys);
    server.stop();
}

#[test]
fn an_address_provider_that_stalls_refuses_its_own_rows_alone_on_redb() {
    hold("address provider, redb", &World::embedded());
}

#[test]
fn an_address_provider_that_stalls_refuses_its_own_rows_alone_on_postgresql() {
    hold("address provider, PostgreSQL", &World::shared());
}
