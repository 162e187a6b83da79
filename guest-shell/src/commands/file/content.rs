//! Types that `file` recognizes by content: description, MIME type and character set.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::file::text::{Text, binary_script};

pub(super) const OCTETS: &str = "application/octet-stream";

/// The three answers that `file` can give about a file.
pub(super) struct ContentType {
    pub(super) description: String,
    pub(super) mime: &'static str,
    pub(super) charset: &'static str,
}

impl ContentType {
    pub(super) fn new(description: impl Into<String>, mime: &'static str, charset: &'static str) -> Self {
        Self { description: description.into(), mime, charset }
    }
}

/// Returns the type of a file with this content.
pub(super) fn recognize(content: &[u8]) -> ContentType {
    match content {
        [] => return ContentType::new("empty", "inode/x-empty", "binary"),
        [_] => return ContentType::new("very short file (no magic)", OCTETS, "binary"),
        _ => {}
    }
    let text = Text::recognize(content);
    let charset = text.as_ref().map_or("binary", |text| text.charset);
    let data = tar(content)
        .or_else(|| json(content))
        .or_else(|| text.as_ref().and_then(|_| csv(content)))
        .or_else(|| image(content))
        .or_else(|| compressed(content))
        .or_else(|| other_format(content));
    if let Some((description, mime)) = data {
        return ContentType::new(description, mime, charset);
    }
    if let Some(text) = text {
        return text.describe();
    }
    match binary_script(content) {
        Some((description, mime)) => ContentType::new(description, mime, charset),
        None => ContentType::new("data", OCTETS, charset),
    }
}

/// Description and MIME type.
type Kind = Option<(String, &'static str)>;

fn kind(description: impl Into<String>, mime: &'static str) -> Kind {
    Some((description.into(), mime))
}

/// Reads an unsigned number of `size` bytes; 0 if the content is too short.
fn number(content: &[u8], at: usize, size: usize, big_endian: bool) -> u64 {
    let Some(bytes) = content.get(at..at + size) else {
        return 0;
    };
    let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match big_endian {
        true => bytes.iter().fold(0, join),
        false => bytes.iter().rev().fold(0, join),
    }
}

fn big(content: &[u8], at: usize, size: usize) -> u64 {
    number(content, at, size, true)
}

fn little(content: &[u8], at: usize, size: usize) -> u64 {
    number(content, at, size, false)
}

const TAR: &str = "application/x-tar";

/// Recognizes a tar archive by the checksum of its first header.
fn tar(content: &[u8]) -> Kind {
    let header = content.get(..512)?;
    let stored = std::str::from_utf8(&header[148..156]).ok()?;
    let stored = stored.trim_matches(|c: char| c == ' ' || c == '\0');
    let stored = u32::from_str_radix(stored, 8).ok()?;
    // The checksum field itself counts as blanks.
    let blanks = 8 * u32::from(b' ');
    let bytes = header[..148].iter().chain(&header[156..]);
    let sum: u32 = bytes.map(|byte| u32::from(*byte)).sum();
    if sum + blanks != stored {
        return None;
    }
    match &header[257..265] {
        b"ustar  \0" => kind("POSIX tar archive (GNU)", TAR),
        magic if magic.starts_with(b"ustar\0") => kind("POSIX tar archive", TAR),
        _ => kind("tar archive", TAR),
    }
}

/// Lenient reader of JSON, like that of `file`: a trailing comma is allowed, a string may contain line ends, and
/// numbers need not be in normal form.
struct JsonReader<'a> {
    content: &'a [u8],
    at: usize,
}

/// Largest depth to which nested values are read.
const JSON_DEPTH: usize = 200;

impl JsonReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.content.get(self.at).copied()
    }

    fn skip(&mut self, matches: impl Fn(u8) -> bool) -> usize {
        let from = self.at;
        while self.peek().is_some_and(&matches) {
            self.at += 1;
        }
        self.at - from
    }

    fn skip_space(&mut self) {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// Consumes the next byte if it is this one.
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.string(),
            b'[' | b'{' if depth < JSON_DEPTH => self.members(depth + 1),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        let matches = self.content[self.at..].starts_with(word);
        matches.then(|| self.at += word.len())
    }

    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            match self.peek()? {
                b'"' => return self.take(b'"'),
                b'\\' => {
                    self.at += 1;
                    self.escape()?;
                }
                0 => return None,
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        let escaped = self.peek()?;
        self.at += 1;
        match escaped {
            b'u' => {
                let digits = self.content.get(self.at..self.at + 4)?;
                self.at += 4;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())
            }
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<()> {
        let _ = self.take(b'-');
        let mut digits = self.skip(|byte| byte.is_ascii_digit());
        if self.take(b'.').is_some() {
            digits += self.skip(|byte| byte.is_ascii_digit());
        }
        if digits > 0 && self.skip(|byte| matches!(byte, b'e' | b'E')) > 0 {
            self.skip(|byte| matches!(byte, b'+' | b'-'));
            digits = self.skip(|byte| byte.is_ascii_digit());
        }
        (digits > 0).then_some(())
    }

    /// Reads the members of an array or an object, with its brackets.
    fn members(&mut self, depth: usize) -> Option<()> {
        let object = self.peek()? == b'{';
        let end = if object { b'}' } else { b']' };
        self.at += 1;
        loop {
            self.skip_space();
            if self.take(end).is_some() {
                return Some(());
            }
            if object {
                self.string()?;
                self.skip_space();
                self.take(b':')?;
            }
            self.value(depth)?;
            self.skip_space();
            if self.take(b',').is_none() {
                return self.take(end);
            }
        }
    }
}

fn json(content: &[u8]) -> Kind {
    let mut reader = JsonReader { content, at: 0 };
    reader.skip_space();
    let first = reader.peek().filter(|byte| matches!(byte, b'[' | b'{'))?;
    reader.value(0)?;
    reader.skip_space();
    match reader.peek() {
        None => kind("JSON text data", "application/json"),
        // A second value of the same kind shows that the file has one value on each line; the rest is not read.
        Some(second) if second == first => {
            reader.value(0)?;
            kind("New Line Delimited JSON text data", "application/x-ndjson")
        }
        Some(_) => None,
    }
}

/// Number of lines that are examined for comma-separated values.
const CSV_LINES: usize = 10;

fn csv(content: &[u8]) -> Kind {
    let (mut fields, mut expected, mut lines) = (0, 0, 0);
    let mut quoted = false;
    for byte in content {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b',' => fields += 1,
            b'\n' => {
                lines += 1;
                if lines == 1 {
                    expected = fields;
                }
                if fields == 0 || fields != expected {
                    return None;
                }
                if lines == CSV_LINES {
                    break;
                }
                fields = 0;
            }
            _ => {}
        }
    }
    if lines > 2 { kind("CSV text", "text/csv") } else { None }
}

fn image(content: &[u8]) -> Kind {
    if content.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR") {
        return kind(png(content), "image/png");
    }
    if content.starts_with(b"\xff\xd8\xff") {
        return kind(jpeg(content), "image/jpeg");
    }
    if content.starts_with(b"GIF8") {
        let version = String::from_utf8_lossy(&content[3..content.len().min(6)]).into_owned();
        let size = match content.len() {
            ..=6 => String::new(),
            _ => format!(" {} x {}", little(content, 6, 2), little(content, 8, 2)),
        };
        return kind(format!("GIF image data, version {version},{size}"), "image/gif");
    }
    None
}

fn png(content: &[u8]) -> String {
    let (width, height) = (big(content, 16, 4), big(content, 20, 4));
    let color = match big(content, 25, 1) {
        0 => " grayscale",
        2 => "/color RGB",
        3 => " colormap",
        4 => " gray+alpha",
        6 => "/color RGBA",
        _ => "",
    };
    let interlaced = match big(content, 28, 1) {
        0 => "non-interlaced",
        _ => "interlaced",
    };
    let depth = big(content, 24, 1);
    format!("PNG image data, {width} x {height}, {depth}-bit{color}, {interlaced}")
}

fn jpeg(content: &[u8]) -> String {
    let mut description = "JPEG image data".to_string();
    if content.get(6..10) == Some(b"JFIF") && content.len() > 17 {
        let unit = match content[13] {
            0 => ", aspect ratio",
            1 => ", resolution (DPI)",
            2 => ", resolution (DPCM)",
            _ => "",
        };
        let (x, y) = (big(content, 14, 2), big(content, 16, 2));
        description.push_str(&format!(
            ", JFIF standard {}.{:02}{unit}, density {x}x{y}, segment length {}",
            content[11],
            content[12],
            big(content, 4, 2),
        ));
    }
    // Skips the segments before the frame, which contains the size.
    let mut at = 2;
    while content.get(at) == Some(&0xff) {
        let frame = match content.get(at + 1) {
            Some(0xc0) => "baseline",
            Some(0xc1) => "extended sequential",
            Some(0xc2) => "progressive",
            Some(0xd9 | 0xda) | None => break,
            Some(_) => {
                at += 2 + big(content, at + 2, 2).max(2) as usize;
                continue;
            }
        };
        description.push_str(&format!(
            ", {frame}, precision {}, {}x{}, components {}",
            big(content, at + 4, 1),
            big(content, at + 7, 2),
            big(content, at + 5, 2),
            big(content, at + 9, 1),
        ));
        break;
    }
    description
}

fn compressed(content: &[u8]) -> Kind {
    if content.starts_with(b"\x1f\x8b") && content.len() > 2 {
        return kind(gzip(content), "application/gzip");
    }
    if content.starts_with(b"BZh") {
        let size = match content.get(3) {
            Some(digit @ b'1'..=b'9') => format!(", block size = {}00k", digit - b'0'),
            _ => String::new(),
        };
        return kind(format!("bzip2 compressed data{size}"), "application/x-bzip2");
    }
    if content.starts_with(b"\xfd7zXZ\0") {
        let check = match content.get(7) {
            Some(0) => ", checksum NONE",
            Some(1) => ", checksum CRC32",
            Some(4) => ", checksum CRC64",
            Some(10) => ", checksum SHA-256",
            _ => "",
        };
        return kind(format!("XZ compressed data{check}"), "application/x-xz");
    }
    if content.starts_with(b"\x28\xb5\x2f\xfd") {
        let description = "Zstandard compressed data (v0.8+), Dictionary ID: None";
        return kind(description, "application/zstd");
    }
    zip(content)
}

fn gzip(content: &[u8]) -> String {
    let mut description = "gzip compressed data".to_string();
    if content.len() < 10 {
        return description;
    }
    let flags = content[3];
    if flags & 1 != 0 {
        description.push_str(", ASCII");
    }
    if flags & 2 != 0 {
        description.push_str(", has CRC");
    }
    let mut at = 10;
    if flags & 4 != 0 {
        description.push_str(", extra field");
        at += 2 + little(content, at, 2) as usize;
    }
    if flags & 8 != 0 {
        let name = content.get(at..).unwrap_or_default().split(|byte| *byte == 0).next();
        let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
        description.push_str(&format!(", was \"{name}\""));
    }
    if flags & 16 != 0 {
        description.push_str(", has comment");
    }
    let modified = i128::from(little(content, 4, 4));
    if modified != 0 {
        let (utc, format) = ("UTC".to_string(), "%a %b %e %H:%M:%S %Y");
        let date = crate::commands::date::Date::strftime_nanos(Some(&utc), modified * 1_000_000_000, format);
        description.push_str(&format!(", last modified: {}", date.unwrap_or_default()));
    }
    description.push_str(match content[8] {
        2 => ", max compression",
        4 => ", max speed",
        _ => "",
    });
    description.push_str(match content[9] {
        0 => ", from FAT filesystem (MS-DOS, OS/2, NT)",
        3 => ", from Unix",
        _ => "",
    });
    let size = little(content, content.len() - 4, 4);
    format!("{description}, original size modulo 2^32 {size}")
}

fn zip(content: &[u8]) -> Kind {
    const ZIP: &str = "application/zip";
    if content.starts_with(b"PK\x05\x06") {
        return kind("Zip archive data (empty)", ZIP);
    }
    if !content.starts_with(b"PK\x03\x04") {
        return None;
    }
    let name_length = little(content, 26, 2) as usize;
    let name = content.get(30..30 + name_length)?;
    if name == b"mimetype" {
        let mime = &content[30 + name_length..];
        if mime.starts_with(b"application/epub+zip") {
            return kind("EPUB document", "application/epub+zip");
        }
        if mime.starts_with(b"application/vnd.oasis.opendocument.text") {
            let mime = "application/vnd.oasis.opendocument.text";
            return kind("OpenDocument Text", mime);
        }
    }
    let version = content[4];
    let method = match little(content, 8, 2) {
        0 => "store",
        8 => "deflate",
        12 => "bzip2",
        14 => "lzma",
        _ => "[unknown]",
    };
    let (major, minor) = (version / 10, version % 10);
    let description = format!("Zip archive data, at least v{major}.{minor} to extract, compression method={method}");
    kind(description, ZIP)
}

/// First bytes of other formats, of which no details are described.
const STARTS: &[(&[u8], &str, &str)] = &[
    (b"SQLite format 3\0", "SQLite 3.x database", "application/vnd.sqlite3"),
    (b"!<arch>\ndebian-binary", "Debian binary package", "application/vnd.debian.binary-package"),
    (b"!<arch>\n", "current ar archive", "application/x-archive"),
    (b"070701", "ASCII cpio archive (SVR4 with no CRC)", "application/x-cpio"),
    (b"070702", "ASCII cpio archive (SVR4 with CRC)", "application/x-cpio"),
    (b"070707", "ASCII cpio archive (pre-SVR4 or odc)", "application/x-cpio"),
    (b"\x04\x22\x4d\x18", "LZ4 compressed data (v1.4+)", "application/x-lz4"),
    (b"Rar!\x1a\x07", "RAR archive data", "application/x-rar"),
    (b"OggS", "Ogg data", OCTETS),
];

fn other_format(content: &[u8]) -> Kind {
    if content.starts_with(b"\x7fELF") {
        return elf(content);
    }
    if content.starts_with(b"%PDF-") {
        return pdf(content);
    }
    if content.starts_with(b"RIFF") {
        return riff(content);
    }
    if content.starts_with(b"7z\xbc\xaf\x27\x1c") && content.len() > 7 {
        let version = format!("7-zip archive data, version {}.{}", content[6], content[7]);
        return kind(version, "application/x-7z-compressed");
    }
    if content.starts_with(b"\0asm") {
        let version = little(content, 4, 4);
        let stage = if version == 1 { " (MVP)" } else { "" };
        let description = format!("WebAssembly (wasm) binary module version {version:#x}{stage}");
        return kind(description, "application/wasm");
    }
    let known = STARTS.iter().find(|known| content.starts_with(known.0))?;
    kind(known.1, known.2)
}

fn pdf(content: &[u8]) -> Kind {
    let (major, minor) = (content.get(5)?, content.get(7)?);
    let (major, minor) = (char::from(*major), char::from(*minor));
    let mut description = format!("PDF document, version {major}.{minor}");
    let count = content.windows(6).position(|word| word == b"/Count");
    let pages: String = count
        .map(|at| &content[at + 6..])
        .into_iter()
        .flatten()
        .map(|byte| char::from(*byte))
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    if !pages.is_empty() {
        description.push_str(&format!(", {pages} pages"));
    }
    kind(description, "application/pdf")
}

fn riff(content: &[u8]) -> Kind {
    let riff = "RIFF (little-endian) data";
    match content.get(8..12) {
        Some(b"WAVE") => {
            let format = match little(content, 20, 2) {
                1 => format!(", Microsoft PCM, {} bit", little(content, 34, 2)),
                _ => String::new(),
            };
            let channels = match little(content, 22, 2) {
                1 => "mono".to_string(),
                2 => "stereo".to_string(),
                channels => format!("{channels} channels"),
            };
            let rate = little(content, 24, 4);
            let description = format!("{riff}, WAVE audio{format}, {channels} {rate} Hz");
            kind(description, "audio/x-wav")
        }
        Some(b"WEBP") => kind(format!("{riff}, Web/P image"), "image/webp"),
        _ => kind(riff, OCTETS),
    }
}

fn elf(content: &[u8]) -> Kind {
    let word = match content.get(4) {
        Some(1) => " 32-bit",
        Some(2) => " 64-bit",
        _ => return kind("ELF", OCTETS),
    };
    let big_endian = content.get(5) == Some(&2);
    let order = if big_endian { "MSB" } else { "LSB" };
    let (role, mime) = match number(content, 16, 2, big_endian) {
        1 => (" relocatable", "application/x-object"),
        2 => (" executable", "application/x-executable"),
        3 => (" shared object", "application/x-sharedlib"),
        4 => (" core file", "application/x-coredump"),
        _ => ("", OCTETS),
    };
    let machine = match number(content, 18, 2, big_endian) {
        3 => ", Intel 80386",
        40 => ", ARM",
        62 => ", x86-64",
        183 => ", ARM aarch64",
        243 => ", UCB RISC-V",
        _ => "",
    };
    let version = match number(content, 20, 4, big_endian) {
        1 => ", version 1",
        _ => ",",
    };
    let system = match content.get(7) {
        Some(0) => " (SYSV)",
        Some(3) => " (GNU/Linux)",
        _ => "",
    };
    kind(format!("ELF{word} {order}{role}{machine}{version}{system}"), mime)
}
