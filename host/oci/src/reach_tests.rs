use super::*;

const REGISTRY: &str = "https://registry.example/v2/a/blobs/b";

fn url(text: &str) -> Url {
    text.parse().unwrap()
}

fn reach(origin: &str) -> Reach {
    Reach::new(url(origin))
}

fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
    let address = |text: &&str| SocketAddr::new(text.parse().unwrap(), 0);
    texts.iter().map(address).collect()
}

/// The reach of a registry whose name has these addresses.
fn registry_at(texts: &[&str]) -> Reach {
    let reach = reach("https://registry.example");
    let all = addresses(texts);
    assert_eq!(reach.select("Registry.example", &all), Ok(all));
    reach
}

fn follow(previous: &[&str], target: &str) -> Result<(), DestinationError> {
    let previous: Vec<_> = previous.iter().map(|text| url(text)).collect();
    check_redirect(&reach("https://registry.example"), &previous, &url(target))
}

#[test]
fn a_registry_may_direct_to_itself_and_to_public_https() {
    for target in [
        "https://registry.example/v2/c",
        "https://registry.example:443/v2/c",
        "https://storage.example/d?signed",
        "https://8.8.8.8/d",
    ] {
        assert_eq!(follow(&[REGISTRY], target), Ok(()), "{target}");
        assert_eq!(reach(REGISTRY).check(&url(target)), Ok(()), "{target}");
    }
    let own = reach("http://127.0.0.1:5000/v2/");
    assert_eq!(own.check(&url("http://127.0.0.1:5000/v3/")), Ok(()));
}

#[test]
fn a_registry_may_not_direct_into_private_networks_or_out_of_tls() {
    for (target, host) in [
        ("http://storage.example/d", "storage.example"),
        ("http://registry.example/v2/c", "registry.example"),
        ("ftp://registry.example/v2/c", "registry.example"),
    ] {
        let expected = Err(DestinationError::NotSecure(host.to_owned()));
        assert_eq!(follow(&[REGISTRY], target), expected, "{target}");
    }
    for host in [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "registry.localhost",
        "registry.localhost.",
        "169.254.169.254",
        "10.1.2.3",
        "100.64.0.1",
        "198.18.0.1",
        "240.0.0.1",
        "[::1]",
        "[::a00:1]",
        "[::ffff:a00:1]",
        "[64:ff9b::a00:1]",
        "[2002:a00:1::1]",
        "[fd00::1]",
        "[fec0::1]",
    ] {
        let expected = Err(DestinationError::Private(host.to_owned()));
        let target = format!("https://{host}/d");
        assert_eq!(follow(&[REGISTRY], &target), expected, "{host}");
        let registry = reach("https://10.0.0.4");
        assert_eq!(registry.check(&url(&target)), expected, "{host}");
    }
    let own = reach("http://127.0.0.1:5000/v2/");
    assert_eq!(
        own.check(&url("http://127.0.0.1:5001/v2/")),
        Err(DestinationError::NotSecure("127.0.0.1".to_owned()))
    );
    assert_eq!(follow(&[REGISTRY], "https://localhost.example/d"), Ok(()));
}

#[test]
fn a_storage_may_redirect_to_itself_and_redirects_end() {
    let storage = "http://storage.example/";
    assert_eq!(follow(&[storage; 3], storage), Ok(()));
    assert_eq!(
        follow(&[storage; 4], storage),
        Err(DestinationError::TooMany)
    );
    assert!(follow(&[REGISTRY], storage).is_err());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of addresses")]
fn a_token_service_is_reached_by_https_or_on_the_registrys_own_machine() {
    for (registry, realm, plain, is_allowed) in [
        (
            "https://registry.example",
            "https://auth.example/token",
            false,
            true,
        ),
        (
            "https://registry.example",
            "https://registry.example/token",
            false,
            true,
        ),
        (
            "https://registry.example",
            "http://auth.example/token",
            false,
            false,
        ),
        (
            "https://registry.example",
            "http://auth.example/token",
            true,
            true,
        ),
        ("https://registry.example", "file:///token", true, false),
        (
            "http://127.0.0.1:5000",
            "http://127.0.0.1:5001/token",
            false,
            true,
        ),
        (
            "http://localhost:5000",
            "http://127.0.0.1:5001/token",
            false,
            true,
        ),
        (
            "http://127.0.0.1:5000",
            "http://localhost:5001/token",
            false,
            true,
        ),
        (
            "http://127.0.0.1:5000",
            "https://127.0.0.1:5001/token",
            false,
            true,
        ),
        // An address that this machine alone reaches.
        (
            "https://registry.example",
            "http://127.0.0.1:8500/v1",
            false,
            false,
        ),
        (
            "https://registry.example",
            "http://127.0.0.1:8500/v1",
            true,
            false,
        ),
        (
            "https://registry.example",
            "https://127.0.0.1:8500/v1",
            false,
            false,
        ),
        (
            "https://registry.example",
            "http://localhost:8500/v1",
            true,
            false,
        ),
        (
            "https://registry.example",
            "https://169.254.169.254/latest",
            false,
            false,
        ),
        (
            "https://registry.example",
            "https://10.0.0.5/token",
            false,
            false,
        ),
        (
            "https://registry.example",
            "https://[fd00::1]/token",
            false,
            false,
        ),
        (
            "http://127.0.0.1:5000",
            "https://169.254.169.254/latest",
            false,
            false,
        ),
        (
            "http://10.0.0.4:5000",
            "http://127.0.0.1:8500/v1",
            true,
            false,
        ),
        (
            "http://10.0.0.4:5000",
            "https://169.254.169.254/latest",
            false,
            false,
        ),
        // A registry's own network.
        ("http://10.0.0.4:5000", "http://10.0.0.5/token", true, true),
        (
            "http://10.0.0.4:5000",
            "http://10.0.0.5/token",
            false,
            false,
        ),
        (
            "https://10.0.0.4",
            "https://10.0.0.4:5001/token",
            false,
            true,
        ),
        (
            "http://127.0.0.1:5000",
            "https://10.0.0.5/token",
            false,
            true,
        ),
        (
            "http://169.254.1.1:5000",
            "http://169.254.1.1:5000/token",
            true,
            true,
        ),
    ] {
        let found = reach(registry).check_login(&url(realm), plain);
        assert_eq!(found.is_ok(), is_allowed, "{registry} {realm} {plain}");
    }
    let private = registry_at(&["10.0.0.4"]);
    assert_eq!(
        private.check_login(&url("https://10.0.0.5/"), false),
        Ok(())
    );
}

#[test]
fn a_public_registrys_names_may_not_resolve_to_private_addresses() {
    for registry in [
        reach("https://192.0.2.1"),
        reach("https://registry.example"),
        registry_at(&["192.0.2.1"]),
        // Its owner may give its name a private address besides.
        registry_at(&["10.0.0.4", "192.0.2.1"]),
        registry_at(&["127.0.0.1", "192.0.2.1"]),
    ] {
        for address in ["10.0.0.5", "169.254.169.254", "127.0.0.1", "::1", "fd00::1"] {
            let refused = registry.select("storage.example", &addresses(&[address]));
            let expected = DestinationError::Resolved {
                name: "storage.example".to_owned(),
                address: address.parse().unwrap(),
            };
            assert_eq!(refused, Err(expected));
        }
        let both = addresses(&["10.0.0.5", "192.0.2.2"]);
        assert_eq!(
            registry.select("storage.example", &both),
            Ok(addresses(&["192.0.2.2"]))
        );
    }
}

#[test]
fn a_private_registrys_names_may_resolve_to_addresses_of_private_networks_alone() {
    for registry in [
        reach("https://10.0.0.4"),
        reach("http://127.0.0.1:5000"),
        registry_at(&["10.0.0.4"]),
        registry_at(&["fd00::4", "10.0.0.4"]),
        registry_at(&["127.0.0.1"]),
    ] {
        for (address, is_allowed) in [
            ("10.0.0.5", true),
            ("fd00::1", true),
            ("192.0.2.2", true),
            ("127.0.0.1", false),
            ("169.254.169.254", false),
            ("::1", false),
        ] {
            let found = registry.select("storage.example", &addresses(&[address]));
            assert_eq!(found.is_ok(), is_allowed, "{address}");
        }
    }
    assert!(
        registry_at(&["169.254.1.1"])
            .select("storage.example", &addresses(&["10.0.0.5"]))
            .is_err()
    );
}

#[test]
fn the_first_answer_for_a_registrys_name_decides_its_network() {
    let registry = reach("https://registry.example");
    assert_eq!(registry.select("registry.example", &[]), Ok(Vec::new()));
    for (address, network) in [
        ("192.0.2.1", Network::Public),
        ("10.0.0.4", Network::Public),
    ] {
        let own = addresses(&[address]);
        assert_eq!(registry.select("registry.example", &own), Ok(own));
        assert!(registry.is_on(network), "{address}");
    }
}
