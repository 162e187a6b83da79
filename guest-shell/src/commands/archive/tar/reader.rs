//! Members of an archive, one after the other, with names that stand in front of their headers.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::header::{LONG_NAME, LONG_TARGET, PAX_ARCHIVE, PAX_MEMBER, TAR_BLOCK_SIZE, TarHeader, content_end, text};

/// Member of an archive.
pub(super) struct TarMember<'a> {
    pub(super) header: TarHeader<'a>,
    pub(super) name: String,
    pub(super) target: String,
    /// Place of the contents.
    pub(super) start: usize,
    pub(super) size: usize,
    /// Place behind the contents and their padding, which may be behind the archive's end.
    pub(super) end: usize,
}

/// Walk through an archive.
pub(super) struct TarReader<'a> {
    archive: &'a [u8],
    offset: usize,
    /// Name of the next member, if it stood in front of it.
    name: Option<String>,
    /// Target of the next member, if it stood in front of it.
    target: Option<String>,
    found_end: bool,
}

impl<'a> TarReader<'a> {
    pub(super) fn new(archive: &'a [u8]) -> Self {
        Self { archive, offset: 0, name: None, target: None, found_end: false }
    }

    /// Returns the place up to which the archive was read.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns true if the walk came to a mark of the end, and not to the end of the data.
    pub(super) fn found_end(&self) -> bool {
        self.found_end
    }

    /// Returns the next header, of a member or of a name, and leaves it where it is.
    pub(super) fn header(&mut self) -> Option<TarHeader<'a>> {
        let header = TarHeader::at(self.archive, self.offset)?;
        self.found_end = header.is_end();
        (!self.found_end).then_some(header)
    }

    /// Returns the next member. The error is the message about a size that is no number.
    pub(super) fn member(&mut self) -> Option<Result<TarMember<'a>, String>> {
        loop {
            let header = self.header()?;
            if self.take_long_names(header) {
                continue;
            }
            if self.name.as_ref().map_or_else(|| header.name().is_empty(), String::is_empty) {
                self.found_end = true;
                return None;
            }
            return Some(self.take_member(header));
        }
    }

    /// Returns the member of a header that was read, and goes behind the member.
    pub(super) fn take_member(&mut self, header: TarHeader<'a>) -> Result<TarMember<'a>, String> {
        let name = self.name.take().unwrap_or_else(|| header.name());
        let target = self.target.take().unwrap_or_else(|| header.target());
        let start = self.offset + TAR_BLOCK_SIZE;
        let place = header.size().and_then(|size| Some((size, content_end(start, size)?)));
        let Some((size, end)) = place else {
            return Err(format!("tar: {name}: invalid size field\n"));
        };
        self.offset = end;
        Ok(TarMember { header, name, target, start, size, end })
    }

    /// Takes names of the next member. Returns false for the header of a member.
    pub(super) fn take_long_names(&mut self, header: TarHeader<'a>) -> bool {
        self.long_names_end(header).is_some_and(|end| {
            self.offset = end;
            true
        })
    }

    fn long_names_end(&mut self, header: TarHeader<'a>) -> Option<usize> {
        let kind = header.kind();
        if !matches!(kind, LONG_NAME | LONG_TARGET | PAX_MEMBER | PAX_ARCHIVE) {
            return None;
        }
        let start = self.offset + TAR_BLOCK_SIZE;
        let size = header.size()?;
        let content = self.archive.get(start..start.checked_add(size)?)?;
        match kind {
            LONG_NAME => self.name = Some(text(content)),
            LONG_TARGET => self.target = Some(text(content)),
            PAX_MEMBER => self.take_pax_records(content),
            _ => {}
        }
        content_end(start, size)
    }

    /// Takes names from records like `17 path=folder/f`.
    fn take_pax_records(&mut self, records: &[u8]) {
        for record in String::from_utf8_lossy(records).lines() {
            match record.split_once(' ').and_then(|(_, field)| field.split_once('=')) {
                Some(("path", name)) => self.name = Some(name.to_owned()),
                Some(("linkpath", target)) => self.target = Some(target.to_owned()),
                _ => {}
            }
        }
    }
}
