//! From bytes, which may be hostile, to records. What is read here would be written the same: no record has two
//! spellings. What a record claims of the blobs that it names is only as sensible as can be seen: `load` compares.

use super::super::directory::begins_page;
use super::super::node::{Name, Reach, Sums, Usage};
use super::super::path::{MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, check_target};
use super::super::scale::{INLINE_BYTES, LIST_CHUNKS, MAX_CHUNK_BYTES, MAX_SUM, MIN_CHUNK_BYTES, ends_part};
use super::super::tree::MODE_BITS;
use super::letters::Reader;
use super::record::{BodyRecord, EntryRecord, PageRecord, PartRecord, Record, SnapshotRecord, total};
use super::{HEAD, Malformed, tag};

const NO_ORDER: Malformed = Malformed("its entries are not in order");
const TOO_LARGE: Malformed = Malformed("its sums are too large");

/// Reads a node blob.
pub(super) fn decode(bytes: &[u8]) -> Result<Record<'_>, Malformed> {
    let (kind, mut reader) = begin(bytes)?;
    let record = match kind {
        tag::SNAPSHOT => Record::Snapshot(snapshot(&mut reader)?),
        tag::PAGES => Record::Pages(pages(&mut reader)?),
        tag::PAGE => return entries(PageReader::of(reader)?).map(Record::Page),
        tag::LISTS => Record::Lists(lists(&mut reader)?),
        tag::CHUNKS => Record::Chunks(chunks(&mut reader)?),
        _ => return Err(Malformed("it is of no known kind")),
    };
    if reader.is_empty() { Ok(record) } else { Err(Malformed("something is behind its end")) }
}

/// The kind of a node blob, and what it holds.
fn begin(bytes: &[u8]) -> Result<(u8, Reader<'_>), Malformed> {
    let mut reader = Reader::new(bytes);
    if reader.array()? != HEAD {
        return Err(Malformed("it is no node of a snapshot, or of another version"));
    }
    Ok((reader.byte()?, reader))
}

/// Whether a node blob says that it is a page. Whether it is one has to be seen.
pub(super) fn is_page(bytes: &[u8]) -> bool {
    begin(bytes).is_ok_and(|(kind, _)| kind == tag::PAGE)
}

/// The entries of a page, one after another. It does not look at where the page should have been cut: that costs more than
/// all else.
pub(super) struct PageReader<'a> {
    reader: Reader<'a>,
    left: u64,
    /// The name that was read last.
    pub(super) last: Option<&'a str>,
    /// What was read comes to.
    pub(super) sums: Sums,
}

impl<'a> PageReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<PageReader<'a>, Malformed> {
        match begin(bytes)? {
            (tag::PAGE, reader) => PageReader::of(reader),
            _ => Err(Malformed("it is another node")),
        }
    }

    fn of(mut reader: Reader<'a>) -> Result<PageReader<'a>, Malformed> {
        let left = reader.number()?;
        Ok(PageReader { reader, left, last: None, sums: Sums::default() })
    }

    /// The next entry. That there is none is only said where the page ends.
    pub(super) fn next(&mut self) -> Result<Option<EntryRecord<'a>>, Malformed> {
        if self.left == 0 {
            let ends = self.reader.is_empty();
            #[cfg(fuzzing)]
            let ends = ends || tollhouse_seeded::bug("snapshot");
            return if ends { Ok(None) } else { Err(Malformed("something is behind its end")) };
        }
        let entry = entry(&mut self.reader)?;
        if self.last.is_some_and(|last| last >= entry.name) {
            return Err(NO_ORDER);
        }
        self.pass(0, 1, entry.name, entry.sums())?;
        Ok(Some(entry))
    }

    /// Passes over the entries that come next in both pages, in the same bytes. What is in them is looked at for their sums
    /// only, and once.
    pub(super) fn pass_same(&mut self, twin: &mut PageReader<'a>) -> Result<(), Malformed> {
        let same = self.reader.common(&twin.reader);
        let (mut reader, mut bytes, mut count) = (Reader::new(same), 0, 0);
        let (mut last, mut sums) = (self.last.max(twin.last).unwrap_or_default().as_bytes(), Sums::default());
        while count < self.left.min(twin.left) {
            // The bytes that are the same may end within an entry.
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

    /// So many bytes were read elsewhere; so many entries, of which this was the last.
    fn pass(&mut self, bytes: usize, count: u64, last: &'a str, sums: Sums) -> Result<(), Malformed> {
        self.reader.bytes(bytes)?;
        self.sums = self.sums.and(sums).ok_or(TOO_LARGE)?;
        (self.left, self.last) = (self.left - count, Some(last));
        Ok(())
    }
}

/// Reads as many as are announced. Nothing is allocated on the word of a number.
fn list<'a, T>(
    reader: &mut Reader<'a>,
    read: impl Fn(&mut Reader<'a>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let count = reader.number()?;
    let mut list = Vec::new();
    for _ in 0..count {
        list.push(read(reader)?);
    }
    Ok(list)
}

fn snapshot(reader: &mut Reader<'_>) -> Result<SnapshotRecord, Malformed> {
    let places = list(reader, |reader| {
        let names = list(reader, name)?;
        let writable = match reader.byte()? {
            0 => false,
            1 => true,
            _ => return Err(Malformed("a place is neither writable nor read-only")),
        };
        Ok((names, writable))
    })?;
    if !places.is_sorted_by(|(a, _), (b, _)| a < b) {
        return Err(Malformed("its places are not in order"));
    }
    let bytes = |names: &[Name]| names.iter().map(|name| name.len() + 1).sum::<usize>();
    if places.iter().any(|(names, _)| names.len() > MAX_DEPTH || bytes(names) > MAX_PATH_BYTES) {
        return Err(Malformed("the path of a place is too long"));
    }
    let (mode, modified) = meta(reader)?;
    Ok(SnapshotRecord { places, mode, modified, sums: sums(reader)?, root: reader.id()? })
}

fn pages(reader: &mut Reader<'_>) -> Result<Vec<PageRecord>, Malformed> {
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
            return Err(Malformed("a page does not begin where one must"));
        }
        pages.push(page);
    }
    if pages.len() < 2 {
        return Err(Malformed("so few pages need no list"));
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

fn entry<'a>(reader: &mut Reader<'a>) -> Result<EntryRecord<'a>, Malformed> {
    let name = entry_name(reader)?;
    let (mode, modified, body) = attributes(reader)?;
    Ok(EntryRecord { name, mode, modified, body })
}

/// What is behind an entry's name.
#[inline]
fn attributes<'a>(reader: &mut Reader<'a>) -> Result<(u32, u64, BodyRecord<'a>), Malformed> {
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
            check_target(target).map_err(|_| Malformed("no link can have this target"))?;
            BodyRecord::Link(target)
        }
        _ => return Err(Malformed("an entry is of no known kind")),
    };
    Ok((mode, modified, body))
}

fn lists(reader: &mut Reader<'_>) -> Result<Vec<PartRecord>, Malformed> {
    let lists = parts(reader, 1, MAX_SUM)?;
    if lists.len() < 2 { Err(Malformed("so few lists need no list")) } else { Ok(lists) }
}

fn chunks(reader: &mut Reader<'_>) -> Result<Vec<PartRecord>, Malformed> {
    let chunks = parts(reader, MIN_CHUNK_BYTES as u64, MAX_CHUNK_BYTES as u64)?;
    let (_, others) = chunks.split_last().ok_or(Malformed("a list is empty"))?;
    if others.iter().any(|chunk| ends_part(chunk.id.as_bytes(), LIST_CHUNKS)) {
        return Err(Malformed("a chunk belongs in another list"));
    }
    Ok(chunks)
}

/// Parts that are so short at least, but for the last, and so long at most. A file has no more chunks than its length
/// allows: so small blobs cannot claim to be a list that no memory holds.
fn parts(reader: &mut Reader<'_>, shortest: u64, longest: u64) -> Result<Vec<PartRecord>, Malformed> {
    let parts = list(reader, |reader| Ok(PartRecord { len: reader.number()?, id: reader.id()? }))?;
    let short = parts.iter().rev().skip(1).any(|part| part.len < shortest);
    if short || parts.iter().any(|part| part.len == 0 || part.len > longest) {
        return Err(Malformed("a part is too short or too long"));
    }
    let sum = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.len));
    if sum.is_some_and(|sum| sum <= MAX_SUM) { Ok(parts) } else { Err(TOO_LARGE) }
}

fn name(reader: &mut Reader<'_>) -> Result<Name, Malformed> {
    entry_name(reader).map(Name::from)
}

fn entry_name<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Malformed> {
    match reader.text()? {
        "" | "." | ".." => Err(Malformed("no entry can have this name")),
        name if name.len() > MAX_NAME_BYTES || name.bytes().any(|byte| matches!(byte, b'/' | 0)) => {
            Err(Malformed("no entry can have this name"))
        }
        name => Ok(name),
    }
}

fn meta(reader: &mut Reader<'_>) -> Result<(u32, u64), Malformed> {
    let mode = u32::try_from(reader.number()?).ok().filter(|mode| *mode <= MODE_BITS);
    Ok((mode.ok_or(Malformed("no entry can have this mode"))?, reader.fixed()?))
}

fn sums(reader: &mut Reader<'_>) -> Result<Sums, Malformed> {
    let entries = reader.number()?;
    let usage = Usage { entries: reader.number()?, bytes: reader.number()? };
    let reach = Reach { levels: reader.count()?, bytes: reader.count()? };
    let sums = Sums { entries, usage, reach };
    if sums.plausible() { Ok(sums) } else { Err(Malformed("no directory can have these sums")) }
}
