//! Decodes bytes, which may be hostile, into records. Every record has only one encoding: anything else is rejected.
//! Claims of a record about other blobs are only checked for plausibility: `load` compares them with those blobs.

use super::super::directory::begins_page;
use super::super::format_params::{INLINE_BYTES, LIST_CHUNKS, MAX_CHUNK_BYTES, MAX_SUM, MIN_CHUNK_BYTES, ends_part};
use super::super::node::{Name, PathExtent, SubtreeSums, Usage};
use super::super::path::{MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, check_target};
use super::super::tree::MODE_BITS;
use super::codec::ByteReader;
use super::record::{BodyRecord, EntryRecord, NodeRecord, PageRecord, PartRecord, SnapshotRecord, total};
use super::{MAGIC, Malformed, tag};

const NO_ORDER: Malformed = Malformed("its entries are not in order");
const TOO_LARGE: Malformed = Malformed("its sums are too large");

/// Decodes a node blob.
pub(super) fn decode(bytes: &[u8]) -> Result<NodeRecord<'_>, Malformed> {
    let (kind, mut reader) = begin(bytes)?;
    let record = match kind {
        tag::SNAPSHOT => NodeRecord::Snapshot(snapshot(&mut reader)?),
        tag::PAGES => NodeRecord::Pages(pages(&mut reader)?),
        tag::PAGE => return entries(PageReader::of(reader)?).map(NodeRecord::Page),
        tag::LISTS => NodeRecord::Lists(lists(&mut reader)?),
        tag::CHUNKS => NodeRecord::Chunks(chunks(&mut reader)?),
        _ => return Err(Malformed("unknown kind of node")),
    };
    if reader.is_empty() { Ok(record) } else { Err(Malformed("data after the end")) }
}

/// Returns the kind of a node blob, and a reader of its contents.
fn begin(bytes: &[u8]) -> Result<(u8, ByteReader<'_>), Malformed> {
    let mut reader = ByteReader::new(bytes);
    if reader.array()? != MAGIC {
        return Err(Malformed("wrong magic number or version"));
    }
    Ok((reader.byte()?, reader))
}

/// Returns true if a node blob claims to be a page, without checking the rest.
pub(super) fn is_page(bytes: &[u8]) -> bool {
    begin(bytes).is_ok_and(|(kind, _)| kind == tag::PAGE)
}

/// Reads the entries of a page, one after another. It does not check where the page should have been split, which would
/// cost more than everything else.
pub(super) struct PageReader<'a> {
    reader: ByteReader<'a>,
    left: u64,
    /// Name of the entry that was read last.
    pub(super) last: Option<&'a str>,
    /// Sums of the entries read so far.
    pub(super) sums: SubtreeSums,
}

impl<'a> PageReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<PageReader<'a>, Malformed> {
        match begin(bytes)? {
            (tag::PAGE, reader) => PageReader::of(reader),
            _ => Err(Malformed("not a page")),
        }
    }

    fn of(mut reader: ByteReader<'a>) -> Result<PageReader<'a>, Malformed> {
        let left = reader.number()?;
        Ok(PageReader { reader, left, last: None, sums: SubtreeSums::default() })
    }

    /// Reads the next entry. Returns `None` only where the page ends.
    pub(super) fn next(&mut self) -> Result<Option<EntryRecord<'a>>, Malformed> {
        if self.left == 0 {
            let ends = self.reader.is_empty();
            return if ends { Ok(None) } else { Err(Malformed("data after the end")) };
        }
        let entry = entry(&mut self.reader)?;
        if self.last.is_some_and(|last| last >= entry.name) {
            return Err(NO_ORDER);
        }
        self.pass(0, 1, entry.name, entry.sums())?;
        Ok(Some(entry))
    }

    /// Skips the next entries that are equal in both pages, byte by byte. They are decoded only for their sums, and
    /// only once.
    pub(super) fn pass_same(&mut self, twin: &mut PageReader<'a>) -> Result<(), Malformed> {
        let same = self.reader.common(&twin.reader);
        let (mut reader, mut bytes, mut count) = (ByteReader::new(same), 0, 0);
        let (mut last, mut sums) = (self.last.max(twin.last).unwrap_or_default().as_bytes(), SubtreeSums::default());
        while count < self.left.min(twin.left) {
            // The common bytes may end within an entry.
            let Ok((name, body)) = reader.text_bytes().and_then(|name| Ok((name, attributes(&mut reader)?.2))) else {
                break;
            };
            if last >= name {
                return Err(NO_ORDER);
            }
            sums = sums.and(body.sums(name.len())).ok_or(TOO_LARGE)?;
            (last, bytes, count) = (name, reader.read_of(same), count + 1);
        }
        if count > 0 {
            let last = std::str::from_utf8(last).map_err(|_| Malformed("a text is not UTF-8"))?;
            self.pass(bytes, count, last, sums)?;
            twin.pass(bytes, count, last, sums)?;
        }
        Ok(())
    }

    /// Skips this many bytes and entries that were read elsewhere; `last` is the name of the last of them.
    fn pass(&mut self, bytes: usize, count: u64, last: &'a str, sums: SubtreeSums) -> Result<(), Malformed> {
        self.reader.bytes(bytes)?;
        self.sums = self.sums.and(sums).ok_or(TOO_LARGE)?;
        (self.left, self.last) = (self.left - count, Some(last));
        Ok(())
    }
}

/// Reads a list of the announced length. Memory is not allocated according to that number.
fn list<'a, T>(
    reader: &mut ByteReader<'a>,
    read: impl Fn(&mut ByteReader<'a>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let count = reader.number()?;
    let mut list = Vec::new();
    for _ in 0..count {
        list.push(read(reader)?);
    }
    Ok(list)
}

fn snapshot(reader: &mut ByteReader<'_>) -> Result<SnapshotRecord, Malformed> {
    let write_rules = list(reader, |reader| {
        let names = list(reader, name)?;
        let writable = match reader.byte()? {
            0 => false,
            1 => true,
            _ => return Err(Malformed("a write rule is neither writable nor read-only")),
        };
        Ok((names, writable))
    })?;
    if !write_rules.is_sorted_by(|(a, _), (b, _)| a < b) {
        return Err(Malformed("its write rules are not in order"));
    }
    let bytes = |names: &[Name]| names.iter().map(|name| name.len() + 1).sum::<usize>();
    if write_rules.iter().any(|(names, _)| names.len() > MAX_DEPTH || bytes(names) > MAX_PATH_BYTES) {
        return Err(Malformed("the path of a write rule is too long"));
    }
    let (mode, modified) = meta(reader)?;
    Ok(SnapshotRecord { write_rules, mode, modified, sums: sums(reader)?, root: reader.id()? })
}

fn pages(reader: &mut ByteReader<'_>) -> Result<Vec<PageRecord>, Malformed> {
    let mut first = true;
    let mut pages: Vec<PageRecord> = Vec::new();
    let count = reader.number()?;
    for _ in 0..count {
        let name = if std::mem::take(&mut first) { Name::from(reader.text()?) } else { name(reader)? };
        let page = PageRecord { first: name, sums: sums(reader)?, id: reader.id()? };
        let right = match pages.last() {
            None => page.first.is_empty(),
            Some(last) => last.first < page.first && begins_page(&page.first) && page.sums.entries > 0,
        };
        if !right {
            return Err(Malformed("a page begins with a name that begins no page"));
        }
        pages.push(page);
    }
    if pages.len() < 2 {
        return Err(Malformed("a list of pages needs at least two"));
    }
    total(pages.iter().map(|page| page.sums)).ok_or(TOO_LARGE)?;
    Ok(pages)
}

fn entries<'a>(mut page: PageReader<'a>) -> Result<Vec<EntryRecord<'a>>, Malformed> {
    let mut entries = Vec::new();
    while let Some(entry) = page.next()? {
        if !entries.is_empty() && begins_page(entry.name) {
            return Err(Malformed("an entry belongs in another page"));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn entry<'a>(reader: &mut ByteReader<'a>) -> Result<EntryRecord<'a>, Malformed> {
    let name = entry_name(reader)?;
    let (mode, modified, body) = attributes(reader)?;
    Ok(EntryRecord { name, mode, modified, body })
}

/// Reads the part of an entry after its name.
#[inline]
fn attributes<'a>(reader: &mut ByteReader<'a>) -> Result<(u32, u64, BodyRecord<'a>), Malformed> {
    let kind = reader.byte()?;
    let (mode, modified) = meta(reader)?;
    let body = match kind {
        tag::FILE => match reader.number()? {
            len if len <= INLINE_BYTES => {
                let count = usize::try_from(len).map_err(|_| Malformed("a number is too large"))?;
                BodyRecord::Inline(reader.bytes(count)?.into())
            }
            len if len <= MAX_SUM => BodyRecord::Stored { len, id: reader.id()? },
            _ => return Err(Malformed("a file is too long")),
        },
        tag::DIRECTORY => BodyRecord::Directory { sums: sums(reader)?, id: reader.id()? },
        tag::LINK => {
            let target = reader.text()?;
            check_target(target).map_err(|_| Malformed("invalid link target"))?;
            BodyRecord::Link(target)
        }
        _ => return Err(Malformed("unknown kind of entry")),
    };
    Ok((mode, modified, body))
}

fn lists(reader: &mut ByteReader<'_>) -> Result<Vec<PartRecord>, Malformed> {
    let lists = parts(reader, 1, MAX_SUM)?;
    if lists.len() < 2 { Err(Malformed("a list of lists needs at least two")) } else { Ok(lists) }
}

fn chunks(reader: &mut ByteReader<'_>) -> Result<Vec<PartRecord>, Malformed> {
    let chunks = parts(reader, MIN_CHUNK_BYTES as u64, MAX_CHUNK_BYTES as u64)?;
    let (_, others) = chunks.split_last().ok_or(Malformed("a list is empty"))?;
    if others.iter().any(|chunk| ends_part(chunk.id.as_bytes(), LIST_CHUNKS)) {
        return Err(Malformed("a chunk belongs in another list"));
    }
    Ok(chunks)
}

/// Reads parts, each with at most `longest` bytes and, except the last, at least `shortest`. The minimum limits the
/// number of chunks by the length of the file, so that small blobs cannot claim to be a list that exceeds the memory.
fn parts(reader: &mut ByteReader<'_>, shortest: u64, longest: u64) -> Result<Vec<PartRecord>, Malformed> {
    let parts = list(reader, |reader| Ok(PartRecord { len: reader.number()?, id: reader.id()? }))?;
    let short = parts.iter().rev().skip(1).any(|part| part.len < shortest);
    if short || parts.iter().any(|part| part.len == 0 || part.len > longest) {
        return Err(Malformed("a part is too short or too long"));
    }
    let sum = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.len));
    if sum.is_some_and(|sum| sum <= MAX_SUM) { Ok(parts) } else { Err(TOO_LARGE) }
}

fn name(reader: &mut ByteReader<'_>) -> Result<Name, Malformed> {
    entry_name(reader).map(Name::from)
}

fn entry_name<'a>(reader: &mut ByteReader<'a>) -> Result<&'a str, Malformed> {
    match reader.text()? {
        "" | "." | ".." => Err(Malformed("invalid entry name")),
        name if name.len() > MAX_NAME_BYTES || name.bytes().any(|byte| matches!(byte, b'/' | 0)) => {
            Err(Malformed("invalid entry name"))
        }
        name => Ok(name),
    }
}

fn meta(reader: &mut ByteReader<'_>) -> Result<(u32, u64), Malformed> {
    let mode = u32::try_from(reader.number()?).ok().filter(|mode| *mode <= MODE_BITS);
    Ok((mode.ok_or(Malformed("invalid mode"))?, reader.fixed()?))
}

fn sums(reader: &mut ByteReader<'_>) -> Result<SubtreeSums, Malformed> {
    let entries = reader.number()?;
    let usage = Usage { entries: reader.number()?, bytes: reader.number()? };
    let reach = PathExtent { levels: reader.count()?, bytes: reader.count()? };
    let sums = SubtreeSums { entries, usage, reach };
    if sums.plausible() { Ok(sums) } else { Err(Malformed("impossible sums of a directory")) }
}
