//! Binary format of archives: local headers, central directory and its end record according to APPNOTE.TXT, without
//! ZIP64 and encryption.

use std::io::{Read as _, Write as _};
use std::ops::Range;

use crate::commands::calendar;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;

/// Lengths of the three records without names and extra fields.
const LOCAL_LENGTH: usize = 30;
const CENTRAL_LENGTH: usize = 46;
const END_LENGTH: usize = 22;

/// Made by version 3.0 on Unix, whose modes are in the external attributes.
const MADE_BY: u16 = 3 << 8 | 30;
const UNIX: u16 = 3;

/// Version of the format that extraction requires: with directories and deflation.
const NEEDED: u16 = 20;

/// Flags of an entry: encrypted; sizes follow the content; the name is UTF-8.
const ENCRYPTED: u16 = 1;
const DESCRIPTOR: u16 = 1 << 3;
const UTF8: u16 = 1 << 11;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Tag of the extra field for the time in seconds.
const TIME: u16 = 0x5455;

/// Mask of the file type in modes of Unix.
pub(super) const TYPE: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
pub(super) const DIRECTORY: u32 = 0o040_000;
pub(super) const FILE: u32 = 0o100_000;
pub(super) const PIPE: u32 = 0o010_000;
pub(super) const SYMLINK: u32 = LINK;

/// Earliest second that the format can represent: 1980.
const FIRST: u64 = 315_532_800;

/// Bit of the internal attributes: the content is text.
const TEXT: u16 = 1;

/// Entry of an archive, without its content.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) packed: u64,
    pub(super) crc: u32,
    pub(super) stored: bool,
    /// Mode of the file, including its type.
    pub(super) mode: u32,
    pub(super) directory: bool,
    pub(super) link: bool,
    /// True if the content is marked as text.
    pub(super) text: bool,
    /// True if there are extra fields.
    pub(super) extra: bool,
    /// Seconds since the Unix epoch.
    pub(super) time: u64,
    method: u16,
    flags: u16,
    offset: usize,
    /// Range of the entry's record in the central directory.
    record: Range<usize>,
}

/// Archive in memory.
pub(super) struct Archive {
    bytes: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    pub(super) comment: Vec<u8>,
    /// Number of bytes before the archive, which its offsets do not include.
    pub(super) before: usize,
}

/// Reason why content cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// The entry is encrypted, which is not supported.
    Encrypted,
    /// The entry is compressed by a method that is not supported.
    Method(u16),
    /// The entry lies outside of the archive, or there is none at this offset.
    Offset(usize),
    /// The bytes of the entry are not valid compressed data.
    Invalid,
    /// Content of this size does not fit into the memory of the run.
    Memory(u64),
    /// The checksum differs.
    Sum { found: u32, expected: u32 },
}

impl Archive {
    /// Parses the directory of an archive. The error is a message.
    pub(super) fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let damaged = || "the central directory is damaged".to_owned();
        let last = bytes.len().checked_sub(END_LENGTH).ok_or("there is no central directory")?;
        let earliest = last.saturating_sub(usize::from(u16::MAX));
        let end = (earliest..=last).rev().find(|at| four(&bytes, *at) == Some(END));
        let end = end.ok_or("there is no central directory")?;
        let count = two(&bytes, end + 10).ok_or_else(damaged)?;
        let start = four(&bytes, end + 16).ok_or_else(damaged)?;
        if count == u16::MAX || start == u32::MAX {
            return Err("archives in the ZIP64 format are not supported here".to_owned());
        }
        let size = four(&bytes, end + 12).ok_or_else(damaged)?;
        let before = end.checked_sub(length(size)).and_then(|at| at.checked_sub(length(start))).unwrap_or_default();
        let mut at = length(start) + before;
        let mut entries = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let (mut entry, next) = central(&bytes, at).ok_or_else(damaged)?;
            entry.offset = entry.offset.saturating_add(before);
            entries.push(entry);
            at = next;
        }
        let comment = usize::from(two(&bytes, end + 20).ok_or_else(damaged)?);
        let rest = &bytes[end + END_LENGTH..];
        let comment = rest[..comment.min(rest.len())].to_vec();
        Ok(Self { bytes, entries, comment, before })
    }

    /// Returns the local header of an entry, with its name and extra fields.
    fn local(&self, entry: &Entry) -> Option<&[u8]> {
        (four(&self.bytes, entry.offset)? == LOCAL).then_some(())?;
        let name = usize::from(two(&self.bytes, entry.offset + 26)?);
        let extra = usize::from(two(&self.bytes, entry.offset + 28)?);
        self.bytes.get(entry.offset..entry.offset + LOCAL_LENGTH + name + extra)
    }

    /// Returns the content of an entry as stored in the archive.
    fn packed(&self, entry: &Entry) -> Option<&[u8]> {
        let start = entry.offset + self.local(entry)?.len();
        self.bytes.get(start..start.checked_add(usize::try_from(entry.packed).ok()?)?)
    }

    /// Returns the reason why an entry cannot be read at all.
    pub(super) fn refusal(&self, entry: &Entry) -> Option<Damage> {
        match entry.method {
            _ if entry.flags & ENCRYPTED != 0 => Some(Damage::Encrypted),
            STORED | DEFLATED => self.packed(entry).is_none().then_some(Damage::Offset(entry.offset)),
            other => Some(Damage::Method(other)),
        }
    }

    /// Returns the content of an entry, as far as it can be restored, and the damage.
    pub(super) fn content(&self, entry: &Entry) -> (Vec<u8>, Option<Damage>) {
        if let Some(damage) = self.refusal(entry) {
            return (Vec::new(), Some(damage));
        }
        let packed = self.packed(entry).unwrap_or_default();
        let mut content = Vec::new();
        if entry.method == DEFLATED {
            // One additional byte detects content that is larger than stated.
            let mut decoder = flate2::read::DeflateDecoder::new(packed).take(entry.size + 1);
            if let Err(why) = decoder.read_to_end(&mut content) {
                return match why.kind() {
                    std::io::ErrorKind::OutOfMemory => (Vec::new(), Some(Damage::Memory(entry.size))),
                    _ => (content, Some(Damage::Invalid)),
                };
            }
        } else {
            content.extend(packed);
        }
        let mut crc = flate2::Crc::new();
        crc.update(&content);
        let wrong = crc.sum() != entry.crc || content.len() as u64 != entry.size;
        (content, wrong.then(|| Damage::Sum { found: crc.sum(), expected: entry.crc }))
    }
}

impl Entry {
    /// Returns date and time to the minute: `2024-03-12 10:20`.
    pub(super) fn stamp(&self) -> String {
        let ([year, month, day], [hour, minute, _]) = calendar::civil(self.time);
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }
}

/// Characters of IBM's code page 437 from 128 on, which encodes names that are not UTF-8 (APPNOTE.TXT, appendix D).
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// Decodes the name of an entry. A name that is not UTF-8 is in the code page of DOS, so that different names remain
/// different.
fn text_of(name: &[u8]) -> String {
    let letter = |byte: &u8| match byte.checked_sub(128) {
        Some(at) => CP437.chars().nth(at.into()).unwrap_or(char::REPLACEMENT_CHARACTER),
        None => char::from(*byte),
    };
    std::str::from_utf8(name).map_or_else(|_| name.iter().map(letter).collect(), str::to_owned)
}

fn central(bytes: &[u8], at: usize) -> Option<(Entry, usize)> {
    (four(bytes, at)? == CENTRAL).then_some(())?;
    let field = |offset: usize| two(bytes, at + offset);
    let (name, extra, comment) = (usize::from(field(28)?), usize::from(field(30)?), usize::from(field(32)?));
    let names = at + CENTRAL_LENGTH;
    let fields = bytes.get(names + name..names + name + extra)?;
    let name_text = text_of(bytes.get(names..names + name)?);
    let unix = field(4)? >> 8 == UNIX;
    let directory = name_text.ends_with('/');
    let usual = if directory { DIRECTORY | 0o755 } else { FILE | 0o644 };
    let mode = four(bytes, at + 38)? >> 16;
    let mode = if unix && mode != 0 { mode } else { usual };
    let entry = Entry {
        name: name_text,
        size: four(bytes, at + 24)?.into(),
        packed: four(bytes, at + 20)?.into(),
        crc: four(bytes, at + 16)?,
        stored: field(10)? == STORED,
        mode,
        directory,
        link: mode & TYPE == LINK,
        text: field(36)? & TEXT != 0,
        extra: extra > 0,
        time: exact_time(fields).unwrap_or_else(|| from_dos(field(14).unwrap_or(0), field(12).unwrap_or(0))),
        method: field(10)?,
        flags: field(8)?,
        offset: length(four(bytes, at + 42)?),
        record: at..names + name + extra + comment,
    };
    Some((entry, names + name + extra + comment))
}

/// Returns the time in an extra field.
fn exact_time(mut fields: &[u8]) -> Option<u64> {
    loop {
        let (tag, size) = (two(fields, 0)?, usize::from(two(fields, 2)?));
        let field = fields.get(4..4 + size)?;
        if tag == TIME && field.first().is_some_and(|flags| flags & 1 == 1) {
            return four(field, 1).map(u64::from);
        }
        fields = &fields[4 + size..];
    }
}

fn from_dos(date: u16, time: u16) -> u64 {
    let (date, time) = (u64::from(date), u64::from(time));
    let day = [1980 + (date >> 9), date >> 5 & 15, date & 31];
    calendar::seconds(day, [time >> 11, time >> 5 & 63, (time & 31) * 2]).unwrap_or(FIRST)
}

fn to_dos(time: u64) -> (u16, u16) {
    let ([year, month, day], [hour, minute, second]) = calendar::civil(time.max(FIRST));
    let date = (year - 1980).min(127) << 9 | month << 5 | day;
    let time = hour << 11 | minute << 5 | (second / 2);
    let small = |number: u64| u16::try_from(number).unwrap_or(u16::MAX);
    (small(date), small(time))
}

/// Content in the form for an archive.
pub(super) struct Packed {
    pub(super) bytes: Vec<u8>,
    pub(super) deflated: bool,
    /// True if compression was tried. At that point Info-ZIP detects text.
    looked_at: bool,
}

/// Compresses content, unless the result is not smaller.
pub(super) fn pack(content: &[u8], level: u32) -> Packed {
    if level > 0 {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(level));
        let written = encoder.write_all(content).and_then(|()| encoder.finish());
        if let Ok(bytes) = written
            && bytes.len() < content.len()
        {
            return Packed { bytes, deflated: true, looked_at: true };
        }
    }
    Packed { bytes: content.to_vec(), deflated: false, looked_at: level > 0 && !content.is_empty() }
}

/// Returns true if Info-ZIP considers the bytes text: they have few kinds of control characters, and other characters.
fn is_text(content: &[u8]) -> bool {
    let never = |byte: &u8| matches!(byte, 0..=6 | 14..=25 | 28..=31);
    !content.iter().any(never) && content.iter().any(|byte| matches!(byte, 9 | 10 | 13 | 32..))
}

/// Writer of a new archive.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Writer {
    /// Adds an entry to the archive. The mode includes its type.
    pub(super) fn add(
        &mut self,
        name: &str,
        mode: u32,
        time: u64,
        content: &[u8],
        packed: &Packed,
    ) -> Result<(), String> {
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let entry = Entry {
            name: name.to_owned(),
            size: content.len() as u64,
            packed: packed.bytes.len() as u64,
            crc: crc.sum(),
            stored: !packed.deflated,
            mode,
            directory: name.ends_with('/'),
            link: mode & TYPE == LINK,
            text: packed.looked_at && is_text(content),
            extra: true,
            time,
            method: if packed.deflated { DEFLATED } else { STORED },
            flags: if name.is_ascii() { 0 } else { UTF8 },
            offset: 0,
            record: 0..0,
        };
        self.put(&entry, &packed.bytes)
    }

    /// Copies an entry of another archive unchanged, with its comment and extra fields.
    pub(super) fn keep(&mut self, archive: &Archive, entry: &Entry) -> Result<(), String> {
        if entry.flags & ENCRYPTED != 0 {
            return Err(format!(
                "{}: an encrypted entry cannot be kept in an archive that is changed here",
                entry.name
            ));
        }
        let early = "the archive ends too early";
        let (local, packed) = archive.local(entry).zip(archive.packed(entry)).ok_or(early)?;
        let central = archive.bytes.get(entry.record.clone()).ok_or(early)?;
        let flags = (entry.flags & !DESCRIPTOR).to_le_bytes();
        let offset = self.place(entry)?;
        // Checksum and sizes, which a descriptor after the content may have contained.
        self.bytes.extend(&local[..6]);
        self.bytes.extend(flags);
        self.bytes.extend(&local[8..14]);
        self.bytes.extend(&central[16..28]);
        self.bytes.extend(&local[26..]);
        self.bytes.extend(packed);
        self.directory.extend(&central[..8]);
        self.directory.extend(flags);
        self.directory.extend(&central[10..42]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(&central[46..]);
        Ok(())
    }

    /// Counts an entry, and returns the offset for its content.
    fn place(&mut self, entry: &Entry) -> Result<u32, String> {
        let large = || format!("{}: archives of 4 GiB and 65,534 entries are the most", entry.name);
        self.count = self.count.checked_add(1).filter(|count| *count < u16::MAX).ok_or_else(large)?;
        u32::try_from(self.bytes.len()).ok().filter(|offset| *offset < u32::MAX).ok_or_else(large)
    }

    fn put(&mut self, entry: &Entry, packed: &[u8]) -> Result<(), String> {
        let large = || format!("{}: an entry of 4 GiB is too large for an archive", entry.name);
        let small = |number: usize| u32::try_from(number).ok().filter(|number| *number < u32::MAX).ok_or_else(large);
        let size = small(usize::try_from(entry.size).map_err(|_| large())?)?;
        let packed_size = small(packed.len())?;
        let offset = self.place(entry)?;
        let name = entry.name.as_bytes();
        let name_length = u16::try_from(name.len()).map_err(|_| large())?;
        let (date, time) = to_dos(entry.time);
        let mut common = Vec::new();
        // Sizes are known, so no descriptor follows.
        let unicode = if entry.name.is_ascii() { 0 } else { UTF8 };
        for field in [NEEDED, entry.flags & !DESCRIPTOR | unicode, entry.method, time, date] {
            common.extend(field.to_le_bytes());
        }
        for field in [entry.crc, packed_size, size] {
            common.extend(field.to_le_bytes());
        }
        let mut extra = TIME.to_le_bytes().to_vec();
        extra.extend([5, 0, 1]);
        extra.extend(u32::try_from(entry.time).unwrap_or(u32::MAX).to_le_bytes());
        let extra_length = u16::try_from(extra.len()).expect("nine bytes");
        common.extend(name_length.to_le_bytes());
        common.extend(extra_length.to_le_bytes());

        self.bytes.extend(LOCAL.to_le_bytes());
        self.bytes.extend(&common);
        self.bytes.extend(name);
        self.bytes.extend(&extra);
        self.bytes.extend(packed);

        self.directory.extend(CENTRAL.to_le_bytes());
        self.directory.extend(MADE_BY.to_le_bytes());
        self.directory.extend(&common);
        // No comment, the first disk.
        self.directory.extend([0; 4]);
        self.directory.extend((u16::from(entry.text) * TEXT).to_le_bytes());
        // Attributes of DOS: a directory.
        let attributes = entry.mode << 16 | u32::from(entry.directory) << 4;
        self.directory.extend(attributes.to_le_bytes());
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name);
        self.directory.extend(&extra);
        Ok(())
    }

    /// Returns the complete archive, with this comment.
    pub(super) fn finish(mut self, comment: &[u8]) -> Result<Vec<u8>, String> {
        let comment_length = u16::try_from(comment.len()).map_err(|_| "a comment of 65,535 bytes is the most")?;
        let large = |_| "archives of 4 GiB are the most".to_owned();
        let start = u32::try_from(self.bytes.len()).map_err(large)?;
        let size = u32::try_from(self.directory.len()).map_err(large)?;
        self.bytes.append(&mut self.directory);
        self.bytes.extend(END.to_le_bytes());
        self.bytes.extend([0; 4]);
        self.bytes.extend(self.count.to_le_bytes());
        self.bytes.extend(self.count.to_le_bytes());
        self.bytes.extend(size.to_le_bytes());
        self.bytes.extend(start.to_le_bytes());
        self.bytes.extend(comment_length.to_le_bytes());
        self.bytes.extend(comment);
        Ok(self.bytes)
    }
}

/// Returns the reduction by compression, in percent, rounded.
pub(super) fn percent(size: u64, packed: u64) -> u64 {
    let saved = size.saturating_sub(packed);
    saved.saturating_mul(200).checked_div(size).unwrap_or_default().div_ceil(2)
}

fn two(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn four(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn length(number: u32) -> usize {
    usize::try_from(number).expect("32 bits fit into an address")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn savings_are_rounded() {
        for (size, packed, expected) in
            [(0, 0, 0), (24, 11, 54), (10, 10, 0), (10, 12, 0), (1000, 4, 100), (200, 1, 100)]
        {
            assert_eq!(percent(size, packed), expected, "{size} {packed}");
        }
    }

    #[test]
    fn archives_come_back() {
        let mut writer = Writer::default();
        let text = b"hello hello hello hello".repeat(9);
        writer.add("d/", DIRECTORY | 0o755, 1_710_238_831, b"", &pack(b"", 6)).expect("it fits");
        writer.add("d/é", FILE | 0o640, 1_710_238_831, &text, &pack(&text, 6)).expect("it fits");
        writer.add("l", SYMLINK | 0o777, 0, b"d/x", &pack(b"d/x", 0)).expect("it fits");
        let archive = Archive::read(writer.finish(b"").expect("it fits")).expect("an archive");
        let [directory, file, link] = &archive.entries[..] else { panic!("three") };
        assert!(directory.directory && !file.stored && link.link && link.stored);
        assert_eq!((file.mode & 0o777, file.time, file.stamp().as_str()), (0o640, 1_710_238_831, "2024-03-12 10:20"));
        assert_eq!(archive.content(file), (text.clone(), None));
        let mut again = Writer::default();
        again.keep(&archive, file).expect("it fits");
        let kept = Archive::read(again.finish(b"").expect("it fits")).expect("an archive");
        assert_eq!(kept.content(&kept.entries[0]), (text, None));
    }

    #[test]
    fn kept_entries_have_their_comments_and_extra_fields() {
        let mut writer = Writer::default();
        writer.add("f", FILE | 0o644, 0, b"abc", &pack(b"abc", 0)).expect("it fits");
        let mut bytes = writer.finish(b"").expect("it fits");
        // A comment of two bytes in the directory's record, and a descriptor in place of the sizes.
        let (central, end) = (LOCAL_LENGTH + 1 + 9 + 3, bytes.len() - END_LENGTH);
        bytes.splice(end..end, *b"!?");
        (bytes[central + 32], bytes[end + 2 + 12]) = (2, bytes[end + 2 + 12] + 2);
        (bytes[6], bytes[central + 8]) = (8, 8);
        bytes[14..26].fill(0);
        let archive = Archive::read(bytes.clone()).expect("an archive");
        let mut again = Writer::default();
        again.keep(&archive, &archive.entries[0]).expect("it fits");
        let kept = Archive::read(again.finish(b"").expect("it fits")).expect("an archive");
        assert_eq!(kept.content(&kept.entries[0]), (b"abc".to_vec(), None));
        assert!(kept.bytes[kept.entries[0].record.clone()].ends_with(b"!?"));
        assert_eq!(
            (kept.bytes[6], &kept.bytes[14..26]),
            (0, &bytes[central + 16..central + 28]),
            "what a descriptor says"
        );
    }

    #[test]
    fn damage_is_told() {
        let mut writer = Writer::default();
        writer.add("f", FILE | 0o644, 0, b"abc", &pack(b"abc", 6)).expect("it fits");
        let bytes = writer.finish(b"").expect("it fits");
        assert!(Archive::read(bytes[..20].to_vec()).is_err());
        assert!(Archive::read(b"no archive, but long enough".to_vec()).is_err());
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xff;
            if let Ok(archive) = Archive::read(damaged) {
                let _ = archive.entries.iter().map(|entry| archive.content(entry)).collect::<Vec<_>>();
            }
        }
        let mut damaged = bytes;
        damaged[LOCAL_LENGTH + 1 + 9] ^= 1;
        let archive = Archive::read(damaged).expect("its directory is whole");
        assert!(matches!(archive.content(&archive.entries[0]), (bytes, Some(Damage::Sum { .. })) if bytes.len() == 3));
    }

    #[test]
    fn comments_and_bytes_in_front_are_read() {
        let mut writer = Writer::default();
        writer.add("f", FILE | 0o644, 0, b"abc", &pack(b"abc", 6)).expect("it fits");
        let whole = [b"junk".to_vec(), writer.finish(b"about").expect("it fits")].concat();
        let archive = Archive::read(whole).expect("an archive");
        assert_eq!((archive.before, &archive.comment[..]), (4, &b"about"[..]));
        assert_eq!(archive.content(&archive.entries[0]), (b"abc".to_vec(), None));
        assert!(archive.entries[0].text);
    }

    #[test]
    fn dates_of_dos() {
        assert_eq!(to_dos(0), (1 << 5 | 1, 0));
        let (date, time) = to_dos(1_710_238_831);
        assert_eq!(from_dos(date, time), 1_710_238_830);
    }
}
