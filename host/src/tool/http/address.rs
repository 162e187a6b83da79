//! Public IP addresses, after IANA's registries of special-purpose addresses (RFC 6890 and its updates). Addresses that
//! are not known to be public count as private.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Blocks of IPv4 that are not public: address and length of the prefix.
const SPECIAL_V4: [([u8; 4], u32); 17] = [
    ([0, 0, 0, 0], 8),       // this network
    ([10, 0, 0, 0], 8),      // private
    ([100, 64, 0, 0], 10),   // shared by carriers
    ([127, 0, 0, 0], 8),     // loopback
    ([169, 254, 0, 0], 16),  // link-local: also where clouds keep their credentials
    ([172, 16, 0, 0], 12),   // private
    ([192, 0, 0, 0], 24),    // protocol assignments
    ([192, 0, 2, 0], 24),    // documentation
    ([192, 31, 196, 0], 24), // AS112
    ([192, 52, 193, 0], 24), // AMT
    ([192, 88, 99, 0], 24),  // 6to4 relays
    ([192, 168, 0, 0], 16),  // private
    ([198, 18, 0, 0], 15),   // benchmarks
    ([198, 51, 100, 0], 24), // documentation
    ([203, 0, 113, 0], 24),  // documentation
    ([224, 0, 0, 0], 4),     // multicast
    ([240, 0, 0, 0], 4),     // reserved, and broadcast
];

/// Blocks within the global unicast addresses of IPv6 (2000::/3) that are not public.
const SPECIAL_V6: [([u16; 8], u32); 5] = [
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), // protocol assignments: Teredo, ORCHID, benchmarks
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), // documentation
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), // 6to4: holds an IPv4 address
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), // AS112
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), // documentation
];

/// Returns true if an address belongs to the public internet.
pub(in crate::tool) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|(block, length)| is_in_v4(address, *block, *length)),
        IpAddr::V6(address) => {
            is_in_v6(address, [0x2000, 0, 0, 0, 0, 0, 0, 0], 3)
                && !SPECIAL_V6.iter().any(|(block, length)| is_in_v6(address, *block, *length))
        }
    }
}

fn is_in_v4(address: Ipv4Addr, block: [u8; 4], length: u32) -> bool {
    (u32::from(address) ^ u32::from_be_bytes(block)) >> (32 - length) == 0
}

fn is_in_v6(address: Ipv6Addr, block: [u16; 8], length: u32) -> bool {
    (u128::from(address) ^ u128::from(Ipv6Addr::from(block))) >> (128 - length) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_public_only_if_on_the_public_internet() {
        for (text, expected) in [
            ("1.1.1.1", true),
            ("93.184.215.14", true),
            ("172.15.255.255", true),
            ("172.32.0.0", true),
            ("100.128.0.0", true),
            ("2606:4700:4700::1111", true),
            ("::ffff:8.8.8.8", true),
            ("0.0.0.0", false),
            ("10.255.255.255", false),
            ("100.64.0.1", false),
            ("127.0.0.1", false),
            ("127.255.0.1", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("192.168.1.1", false),
            ("198.19.255.255", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("64:ff9b::a00:1", false),
            ("fc00::1", false),
            ("fd12:3456::1", false),
            ("fe80::1", false),
            ("ff02::1", false),
            ("2001:db8::1", false),
            ("2001:0:1::1", false),
            ("2002:7f00:1::", false),
            ("::127.0.0.1", false),
        ] {
            assert_eq!(is_public(text.parse().expect("an address")), expected, "{text}");
        }
    }
}
