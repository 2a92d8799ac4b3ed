//! The kinds of network that IP addresses belong to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of network that an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// This machine.
    Loopback,
    /// The network of an organisation, or one behind a carrier's NAT.
    Private,
    /// An address that no host of the internet has: link-local, multicast, reserved, or a tunnel.
    Special,
    /// The public internet.
    Public,
}

impl Network {
    /// Returns the network of an address.
    pub fn of(address: IpAddr) -> Network {
        match address.to_canonical() {
            IpAddr::V4(v4) => Network::of_v4(v4),
            IpAddr::V6(v6) => Network::of_v6(v6),
        }
    }

    fn of_v4(address: Ipv4Addr) -> Network {
        match address.octets() {
            [127, ..] => Network::Loopback,
            [10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => {
                Network::Private
            }
            // This network, link-local, IETF assignments, benchmarks, multicast and reserved.
            [0, ..] | [169, 254, ..] | [192, 0, 0, _] | [198, 18..=19, ..] | [224..=255, ..] => {
                Network::Special
            }
            _ => Network::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> Network {
        let [.., a, b, c, d] = address.octets();
        match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 1] => Network::Loopback,
            [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Network::Private,
            // IPv4-compatible and unspecified, local translation, Teredo, 6to4, link-local and
            // multicast.
            [0, 0, 0, 0, 0, 0, ..]
            | [0x64, 0xff9b, 1, ..]
            | [0x2001, 0, ..]
            | [0x2002, ..]
            | [0xfe80..=0xfebf, ..]
            | [0xff00..=0xffff, ..] => Network::Special,
            // NAT64: a host without IPv4 reaches the rest of the internet by these.
            [0x64, 0xff9b, 0, 0, 0, 0, ..] => match Network::of_v4(Ipv4Addr::new(a, b, c, d)) {
                Network::Loopback => Network::Special,
                embedded => embedded,
            },
            _ => Network::Public,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_has_its_network_to_both_ends() {
        for (network, addresses) in [
            (
                Network::Loopback,
                &["127.0.0.0", "127.255.255.255", "::1", "::ffff:127.0.0.1"][..],
            ),
            (
                Network::Private,
                &[
                    "10.0.0.0",
                    "10.255.255.255",
                    "100.64.0.0",
                    "100.127.255.255",
                    "172.16.0.0",
                    "172.31.255.255",
                    "192.168.0.0",
                    "192.168.255.255",
                    "::ffff:10.0.0.1",
                    "64:ff9b::10.0.0.1",
                    "fc00::",
                    "fdff:ffff::1",
                    "fec0::",
                    "feff::1",
                ],
            ),
            (
                Network::Special,
                &[
                    "0.0.0.0",
                    "0.255.255.255",
                    "169.254.0.0",
                    "169.254.169.254",
                    "192.0.0.0",
                    "192.0.0.255",
                    "198.18.0.0",
                    "198.19.255.255",
                    "224.0.0.0",
                    "239.255.255.255",
                    "240.0.0.0",
                    "255.255.255.255",
                    "::",
                    "::2",
                    "::10.0.0.1",
                    "::8.8.8.8",
                    "64:ff9b::127.0.0.1",
                    "64:ff9b::169.254.169.254",
                    "64:ff9b:1::1",
                    "2001::1",
                    "2002::",
                    "2002:a00:1::1",
                    "2002:ffff::1",
                    "fe80::1",
                    "febf::1",
                    "ff00::1",
                    "ff02::1",
                ],
            ),
            (
                Network::Public,
                &[
                    "1.0.0.1",
                    "9.255.255.255",
                    "11.0.0.0",
                    "100.63.255.255",
                    "100.128.0.0",
                    "126.255.255.255",
                    "128.0.0.0",
                    "169.253.255.255",
                    "172.15.255.255",
                    "172.32.0.0",
                    "192.0.1.0",
                    "192.167.255.255",
                    "192.169.0.0",
                    "198.17.255.255",
                    "198.20.0.0",
                    "223.255.255.255",
                    "::ffff:8.8.8.8",
                    "64:ff9b::8.8.8.8",
                    "2001:1::1",
                    "2003::1",
                    "2606:4700::1111",
                    "fbff::1",
                ],
            ),
        ] {
            for address in addresses {
                let found = Network::of(address.parse().unwrap());
                assert_eq!(found, network, "{address}");
            }
        }
    }
}
