//! Restrictions on sockets.

use std::ffi::c_int;

use seccompiler::{SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};

use super::super::ConfinePhase;
use super::{CallRestriction, Result, equal, one_of, other, rule, unsigned};

/// Options for the timeouts of sockets.
const TIMEOUTS: [(&str, c_int); 2] = [("SO_RCVTIMEO", libc::SO_RCVTIMEO), ("SO_SNDTIMEO", libc::SO_SNDTIMEO)];

/// Options of sockets without the network.
const OPTIONS: [(c_int, &[(&str, c_int)]); 1] = [(libc::SOL_SOCKET, &TIMEOUTS)];

/// Additional options that requests need, and the resolvers of C libraries. Not included are filters for packets, which
/// are programs in the kernel, the rules of a firewall (`IPT_SO_SET_REPLACE`), and options that bypass a machine's
/// routes (`SO_BINDTODEVICE`, `SO_MARK`, `IP_TRANSPARENT`).
const OPTIONS_OF_NETWORK: [(c_int, &[(&str, c_int)]); 4] = [
    (libc::SOL_SOCKET, &TIMEOUTS),
    (libc::IPPROTO_TCP, &[("TCP_NODELAY", libc::TCP_NODELAY)]),
    (libc::IPPROTO_IP, &[("IP_RECVERR", libc::IP_RECVERR)]),
    (libc::IPPROTO_IPV6, &[("IPV6_RECVERR", libc::IPV6_RECVERR), ("IPV6_V6ONLY", libc::IPV6_V6ONLY)]),
];

/// Restricts new sockets. Local sockets lead to other programs of the user (D-Bus, a container engine), netlink to the
/// kernel's network, raw ones past its rules.
pub(super) fn socket(phase: ConfinePhase) -> Result<CallRestriction> {
    let network = [("AF_INET", libc::AF_INET), ("AF_INET6", libc::AF_INET6)];
    let families = network.into_iter().filter(|_| phase.network);
    let families: Vec<_> = families.chain(phase.store.then_some(("AF_UNIX", libc::AF_UNIX))).map(unsigned).collect();
    if families.is_empty() {
        return Ok(CallRestriction {
            name: "socket",
            number: libc::SYS_socket,
            left: "nothing".to_owned(),
            refused: Vec::new(),
        });
    }
    let mut limit = one_of("socket", libc::SYS_socket, 0, &families)?;
    let (kinds, shown): (&[c_int], _) = match phase.network {
        true => (&[libc::SOCK_STREAM, libc::SOCK_DGRAM], "streams and datagrams"),
        false => (&[libc::SOCK_STREAM], "streams"),
    };
    limit.left = format!("{}: {shown}", limit.left);
    limit.refused.extend(kinds_other_than(kinds)?);
    // Other protocols (MPTCP, SCTP, UDP-Lite) are not TCP for Landlock, and may be a module that the kernel loads for
    // that.
    let protocols: &[c_int] = if phase.network { &[0, libc::IPPROTO_TCP, libc::IPPROTO_UDP] } else { &[0] };
    limit.refused.push(rule(protocols.iter().map(|protocol| other(2, protocol.unsigned_abs())))?);
    Ok(limit)
}

/// Restricts socket pairs. A pair of datagram sockets could be connected to something else.
pub(super) fn socketpair() -> Result<CallRestriction> {
    let mut refused = kinds_other_than(&[libc::SOCK_STREAM])?;
    refused.push(rule([other(0, libc::AF_UNIX.unsigned_abs())])?);
    Ok(CallRestriction {
        name: "socketpair",
        number: libc::SYS_socketpair,
        left: "AF_UNIX: streams".to_owned(),
        refused,
    })
}

/// Returns rules of which one matches if the second argument, a socket type with flags, is none of these types.
fn kinds_other_than(kinds: &[c_int]) -> Result<Vec<SeccompRule>> {
    // The bits above these are flags.
    const TYPE: u64 = 0xf;
    let refused = (0..=TYPE).filter(|kind| kinds.iter().all(|left| u64::from(left.unsigned_abs()) != *kind));
    let is = |kind| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(TYPE), kind);
    refused.map(|kind| rule([is(kind)])).collect()
}

/// Restricts `setsockopt`.
pub(super) fn options(phase: ConfinePhase) -> Result<CallRestriction> {
    let levels = if phase.network { &OPTIONS_OF_NETWORK[..] } else { &OPTIONS };
    let mut refused = vec![rule(levels.iter().map(|(level, _)| other(1, level.unsigned_abs())))?];
    for (level, options) in levels {
        let others = options.iter().map(|(_, option)| other(2, option.unsigned_abs()));
        refused.push(rule([equal(1, level.unsigned_abs())].into_iter().chain(others))?);
    }
    let names: Vec<&str> = levels.iter().flat_map(|(_, options)| options.iter()).map(|(name, _)| *name).collect();
    Ok(CallRestriction { name: "setsockopt", number: libc::SYS_setsockopt, left: names.join(", "), refused })
}
