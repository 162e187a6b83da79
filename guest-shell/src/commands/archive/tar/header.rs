//! Headers of members: blocks of 512 bytes, as GNU's `tar` reads and writes them.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::attributes::Principal;

/// Size of a header; contents are padded to a multiple of it.
pub(super) const TAR_BLOCK_SIZE: usize = 512;

/// Number of blocks that an archive's size is a multiple of.
pub(super) const BLOCKING_FACTOR: usize = 20;

/// Length of a name, or of a link's target, in a header.
const NAME_LENGTH: usize = 100;

/// Length of the field for the directories of a long name.
const PREFIX_LENGTH: usize = 155;

/// Kind of a regular file.
pub(super) const FILE: u8 = b'0';
/// Kind of a hard link.
pub(super) const HARD_LINK: u8 = b'1';
/// Kind of a symbolic link.
pub(super) const SYMBOLIC_LINK: u8 = b'2';
/// Kind of a directory.
pub(super) const DIRECTORY: u8 = b'5';
/// Kind of a regular file in archives that are older than kinds.
pub(super) const OLD_FILE: u8 = b'\0';
/// Kind of a block that holds the name of the next member, in GNU's format.
pub(super) const LONG_NAME: u8 = b'L';
/// Kind of a block that holds the target of the next member, in GNU's format.
pub(super) const LONG_TARGET: u8 = b'K';
/// Kind of a block that holds properties of the next member, in pax's format.
pub(super) const PAX_MEMBER: u8 = b'x';
/// Kind of a block that holds properties of all members, in pax's format.
pub(super) const PAX_ARCHIVE: u8 = b'g';

/// Header in an archive.
#[derive(Clone, Copy)]
pub(super) struct TarHeader<'a>(&'a [u8]);

impl<'a> TarHeader<'a> {
    /// Returns the header at a place, if there is a whole block.
    pub(super) fn at(archive: &'a [u8], offset: usize) -> Option<Self> {
        archive.get(offset..offset.checked_add(TAR_BLOCK_SIZE)?).map(Self)
    }

    /// Returns true for a block of zeros, which ends an archive.
    pub(super) fn is_end(self) -> bool {
        self.0.iter().all(|byte| *byte == 0)
    }

    /// Returns true if the checksum is that of the header.
    pub(super) fn has_right_checksum(self) -> bool {
        let checksum = &self.0[148..156];
        let sum = |bytes: &[u8]| bytes.iter().map(|byte| usize::from(*byte)).sum::<usize>();
        // The checksum counts as spaces.
        sum(self.0) - sum(checksum) + 8 * usize::from(b' ') == octal_or_zero(checksum)
    }

    /// Returns the name with a prefix of POSIX' format.
    pub(super) fn name(self) -> String {
        let name = text(&self.0[..NAME_LENGTH]);
        let prefix = text(&self.0[345..500]);
        if &self.0[257..263] == b"ustar\0" && !prefix.is_empty() { format!("{prefix}/{name}") } else { name }
    }

    pub(super) fn target(self) -> String {
        text(&self.0[157..157 + NAME_LENGTH])
    }

    pub(super) fn kind(self) -> u8 {
        self.0[156]
    }

    pub(super) fn mode(self) -> u32 {
        octal_or_zero(&self.0[100..108]) as u32
    }

    /// Returns the size of the contents. None if it is no number of this machine.
    pub(super) fn size(self) -> Option<usize> {
        octal(&self.0[124..136]).and_then(|size| usize::try_from(size).ok())
    }

    /// Returns the time of the last change in seconds.
    pub(super) fn modified(self) -> u64 {
        octal(&self.0[136..148]).unwrap_or(0)
    }

    /// Returns the name of the owner, or the number where there is none or `numeric` asks for it.
    pub(super) fn user(self, numeric: bool) -> String {
        name_or_number(&self.0[265..297], &self.0[108..116], numeric)
    }

    /// Returns the name of the group, or the number where there is none or `numeric` asks for it.
    pub(super) fn group(self, numeric: bool) -> String {
        name_or_number(&self.0[297..329], &self.0[116..124], numeric)
    }
}

/// Returns the place behind contents and their padding.
pub(super) fn content_end(start: usize, size: usize) -> Option<usize> {
    start.checked_add(size.checked_next_multiple_of(TAR_BLOCK_SIZE)?)
}

/// Returns the text of a field up to the first NUL.
pub(super) fn text(field: &[u8]) -> String {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    String::from_utf8_lossy(&field[..end]).into_owned()
}

fn name_or_number(name: &[u8], number: &[u8], numeric: bool) -> String {
    let name = text(name);
    if numeric || name.is_empty() { octal_or_zero(number).to_string() } else { name }
}

fn octal(field: &[u8]) -> Option<u64> {
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
    let digits = std::str::from_utf8(&field[..end]).ok()?.trim();
    if digits.is_empty() {
        return Some(0);
    }
    // The parser of numbers takes a sign, too.
    if !digits.bytes().all(|digit| matches!(digit, b'0'..=b'7')) {
        return None;
    }
    u64::from_str_radix(digits, 8).ok()
}

fn octal_or_zero(field: &[u8]) -> usize {
    octal(field).and_then(|value| usize::try_from(value).ok()).unwrap_or(0)
}

/// Format of new archives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ArchiveFormat {
    #[default]
    Gnu,
    Ustar,
    Pax,
}

/// Member whose header is written.
#[derive(Clone, Copy)]
pub(super) struct NewMember<'a> {
    pub(super) name: &'a str,
    /// Target of a link, else empty.
    pub(super) target: &'a str,
    pub(super) kind: u8,
    pub(super) mode: u32,
    /// Time of the last change, in seconds since the epoch.
    pub(super) modified: u64,
    pub(super) size: usize,
    pub(super) user: &'a Principal,
    pub(super) group: &'a Principal,
}

impl NewMember<'_> {
    /// Returns the header in a format. The error says what is too long for the format.
    pub(super) fn header(&self, format: ArchiveFormat) -> Result<Vec<u8>, &'static str> {
        match format {
            ArchiveFormat::Gnu => Ok(self.gnu_header()),
            ArchiveFormat::Ustar if self.target.len() > NAME_LENGTH => Err("link name is too long"),
            ArchiveFormat::Ustar => {
                let (prefix, name) = split_name(self.name).ok_or("file name is too long (cannot be split)")?;
                Ok(self.block(prefix, name, true).to_vec())
            }
            ArchiveFormat::Pax => Ok(self.pax_header()),
        }
    }

    /// Returns the header, behind a name or a target that is too long for it.
    fn gnu_header(&self) -> Vec<u8> {
        let mut blocks = Vec::new();
        for (text, kind) in [(self.target, LONG_TARGET), (self.name, LONG_NAME)] {
            if text.len() > NAME_LENGTH {
                blocks.extend(long_text(text, kind));
            }
        }
        blocks.extend_from_slice(&self.block("", self.name, false));
        blocks
    }

    /// Returns the header, behind records of a name or a target that is too long for it.
    fn pax_header(&self) -> Vec<u8> {
        let split = split_name(self.name);
        let mut records = String::new();
        if split.is_none() {
            records.push_str(&pax_record("path", self.name));
        }
        if self.target.len() > NAME_LENGTH {
            records.push_str(&pax_record("linkpath", self.target));
        }
        let mut blocks = Vec::new();
        if !records.is_empty() {
            let file = self.name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            let name = format!("./PaxHeaders/{file}");
            let member =
                NewMember { name: &name, target: "", kind: PAX_MEMBER, mode: 0o644, size: records.len(), ..*self };
            blocks.extend_from_slice(&member.block("", &name, true));
            blocks.extend_from_slice(records.as_bytes());
            blocks.resize(blocks.len().next_multiple_of(TAR_BLOCK_SIZE), 0);
        }
        let (prefix, name) = split.unwrap_or(("", self.name));
        blocks.extend_from_slice(&self.block(prefix, name, true));
        blocks
    }

    fn block(&self, prefix: &str, name: &str, is_posix: bool) -> [u8; TAR_BLOCK_SIZE] {
        let mut header = [0u8; TAR_BLOCK_SIZE];
        let mut put = |at: usize, text: &str, most: usize| {
            let bytes = &text.as_bytes()[..text.len().min(most)];
            header[at..at + bytes.len()].copy_from_slice(bytes);
        };
        put(0, name, NAME_LENGTH);
        put(157, self.target, NAME_LENGTH);
        put(257, if is_posix { "ustar\x0000" } else { "ustar  " }, 8);
        put(345, prefix, PREFIX_LENGTH);
        put(265, &self.user.name, 31);
        put(297, &self.group.name, 31);
        let mode = if self.kind == SYMBOLIC_LINK { 0o777 } else { self.mode & 0o7777 };
        write_octal(&mut header[100..108], mode.into());
        write_octal(&mut header[108..116], self.user.number.into());
        write_octal(&mut header[116..124], self.group.number.into());
        write_octal(&mut header[124..136], self.size as u64);
        write_octal(&mut header[136..148], self.modified);
        if is_posix {
            // Numbers of a device.
            write_octal(&mut header[329..337], 0);
            write_octal(&mut header[337..345], 0);
        }
        header[156] = self.kind;
        header[148..156].fill(b' ');
        let checksum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        // As GNU's: six digits, NUL and a space.
        write_octal(&mut header[148..155], checksum.into());
        header
    }
}

/// Returns a name in two parts that fit into a header, if it has such.
fn split_name(name: &str) -> Option<(&str, &str)> {
    if name.len() <= NAME_LENGTH {
        return Some(("", name));
    }
    let end = name.trim_end_matches('/').len().min(PREFIX_LENGTH + 1);
    let slash = name.as_bytes()[..end].iter().rposition(|byte| *byte == b'/').filter(|slash| *slash > 0)?;
    (name.len() - slash - 1 <= NAME_LENGTH).then(|| (&name[..slash], &name[slash + 1..]))
}

/// Returns a record of pax's format, which begins with its own length.
fn pax_record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}")
}

/// Returns the blocks that hold a long name or target.
fn long_text(text: &str, kind: u8) -> Vec<u8> {
    let root = Principal { name: "root".to_owned(), number: 0 };
    let (mode, modified, size) = (0o644, 0, text.len() + 1);
    let (user, group) = (&root, &root);
    let member = NewMember { name: "././@LongLink", target: "", kind, mode, modified, size, user, group };
    let mut blocks = member.block("", member.name, false).to_vec();
    blocks.extend_from_slice(text.as_bytes());
    blocks.resize((blocks.len() + 1).next_multiple_of(TAR_BLOCK_SIZE), 0);
    blocks
}

/// Writes the last digits of a number and a NUL, which fill the field.
fn write_octal(field: &mut [u8], value: u64) {
    let width = field.len() - 1;
    let digits = format!("{value:0>width$o}");
    field[..width].copy_from_slice(&digits.as_bytes()[digits.len() - width..]);
    field[width] = 0;
}
