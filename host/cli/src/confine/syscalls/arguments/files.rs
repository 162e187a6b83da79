//! Restrictions on creating files and on their modes.

use libc::c_long;

use super::super::ConfinePhase;
use super::{CallRestriction, Result, having, one_of, rule};

/// Mode bits with which no file may be created: those that make it executable, and those that give it its owner's
/// rights.
const PROGRAM: [u32; 6] = [libc::S_ISUID, libc::S_ISGID, libc::S_ISVTX, libc::S_IXUSR, libc::S_IXGRP, libc::S_IXOTH];

/// Returns the restrictions of a phase.
pub(super) fn of(phase: ConfinePhase) -> Result<Vec<CallRestriction>> {
    let mut limits = modes(phase)?;
    limits.push(opening("openat", libc::SYS_openat, 2)?);
    #[cfg(target_arch = "x86_64")]
    limits.push(opening("open", libc::SYS_open, 1)?);
    limits.push(CallRestriction {
        name: "renameat2",
        number: libc::SYS_renameat2,
        left: "all but RENAME_WHITEOUT, which makes a device".to_owned(),
        refused: vec![rule([having(4, libc::RENAME_WHITEOUT)])?],
    });
    Ok(limits)
}

/// Restricts a call that opens files; the mode follows the flags, and counts only if a file is created.
fn opening(name: &'static str, number: c_long, flags: u8) -> Result<CallRestriction> {
    let makes = [libc::O_CREAT.unsigned_abs(), libc::O_TMPFILE.unsigned_abs()];
    let refused = makes
        .into_iter()
        .flat_map(|flag| PROGRAM.into_iter().map(move |bit| rule([having(flags, flag), having(flags + 1, bit)])));
    let left = "no new file that can be run, or has other rights than who runs it".to_owned();
    Ok(CallRestriction { name, number, left, refused: refused.collect::<Result<_>>()? })
}

/// Restricts the modes to those by which a file becomes the user's alone.
fn modes(phase: ConfinePhase) -> Result<Vec<CallRestriction>> {
    const FILE: (&str, u32) = ("0600", 0o600);
    const DIRECTORY: (&str, u32) = ("0700", 0o700);
    let left = if phase.opening { &[FILE, DIRECTORY][..] } else { &[FILE] };
    let mut limits = vec![one_of("fchmod", libc::SYS_fchmod, 1, left)?];
    if phase.opening || phase.store {
        limits.push(one_of("fchmodat", libc::SYS_fchmodat, 2, left)?);
        #[cfg(target_arch = "x86_64")]
        limits.push(one_of("chmod", libc::SYS_chmod, 1, left)?);
    }
    Ok(limits)
}
