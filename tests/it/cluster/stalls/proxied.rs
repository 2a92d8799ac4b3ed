//! A proxy between the hosts and their database that stops forwarding.

use crate::crash::harness::World;
use crate::stalls::database::hold;
use crate::stalls::proxy::Proxy;
use domesday_test_postgres::shared;

/// What was under way arrives when the proxy goes on.
#[test]
fn a_proxy_that_pauses_ends_requests_in_time_and_costs_nothing() {
    let (proxy, address) = Proxy::before(&shared().database());
    let freeze = |frozen| proxy.pause(frozen);
    hold(
        "proxy that pauses, PostgreSQL",
        &World::on(address),
        &freeze,
    );
}

/// As after a failover: connections of before neither answer nor close.
#[test]
fn a_proxy_that_loses_its_connections_ends_requests_in_time_and_costs_nothing() {
    let (proxy, address) = Proxy::before(&shared().database());
    let freeze = |frozen| {
        proxy.pause(frozen);
        proxy.lose();
    };
    hold(
        "proxy that loses connections, PostgreSQL",
        &World::on(address),
        &freeze,
    );
}
