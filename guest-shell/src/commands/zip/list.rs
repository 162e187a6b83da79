//! Lists of the entries of an archive.

use super::entry::{Entry, PIPE, TYPE, percent};

/// Form of a list of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Short form of `unzip -l`.
    Short,
    /// Long form of `unzip -v`.
    Long,
    /// Names only, as in `unzip -Z1`.
    Names,
    /// Form of `zipinfo`, as in `unzip -Z`.
    Info(Info),
}

/// Parts of the list of `zipinfo`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    /// True if lines of entries were requested.
    pub(super) lines: bool,
    pub(super) size: Size,
    pub(super) asks_head: bool,
    pub(super) asks_total: bool,
}

/// Form of the compressed size in a line of `zipinfo`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Size {
    #[default]
    None,
    Packed,
    Saved,
}

impl Info {
    /// Returns true if lines of entries are shown.
    fn shows_lines(self) -> bool {
        self.lines || !self.asks_head && !self.asks_total
    }

    /// Returns true if the head is shown. `named` is true if the command line selects entries.
    pub(super) fn shows_head(self, named: bool) -> bool {
        self.asks_head || !named && !self.asks_total || self.lines && !named
    }

    /// Returns true if totals are shown.
    pub(super) fn shows_total(self, named: bool) -> bool {
        self.asks_total || !named && !self.asks_head || self.lines && !named
    }
}

/// Lists entries in a form. `quiet` is the number of `-q`. `named` is true if the command line selects entries.
pub(super) fn list(entries: &[&Entry], form: Form, quiet: usize, named: bool) -> String {
    let (size, packed) =
        entries.iter().fold((0, 0), |(size, packed), entry| (size + entry.size, packed + entry.packed));
    let count = entries.len();
    let files = if count == 1 { "file" } else { "files" };
    let lines = |line: &dyn Fn(&Entry) -> String| entries.iter().map(|entry| line(entry)).collect::<String>();
    match form {
        Form::Names => lines(&|entry| format!("{}\n", entry.name)),
        Form::Short => {
            let lines = lines(&|entry| format!("{:9}  {}   {}\n", entry.size, entry.stamp(), entry.name));
            if quiet > 1 {
                return lines;
            }
            format!(
                "  Length      Date    Time    Name\n---------  ---------- -----   ----\n{lines}\
                 ---------                     -------\n{size:9}                     {count} {files}\n"
            )
        }
        Form::Long => {
            let lines = lines(&long);
            if quiet > 1 {
                return lines;
            }
            format!(
                " Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n\
                 --------  ------  ------- ---- ---------- ----- --------  ----\n{lines}\
                 --------          -------  ---                            -------\n\
                 {size:8}         {packed:8} {:3}%                            {count} {files}\n",
                percent(size, packed)
            )
        }
        Form::Info(form) => {
            let lines = if form.shows_lines() { lines(&|entry| info(entry, form.size)) } else { String::new() };
            if !form.shows_total(named) {
                return lines;
            }
            let saved = size.saturating_sub(packed).saturating_mul(1_000).checked_div(size).unwrap_or_default();
            let (whole, tenth) = (saved / 10, saved % 10);
            format!("{lines}{count} {files}, {size} bytes uncompressed, {packed} bytes compressed:  {whole}.{tenth}%\n")
        }
    }
}

fn long(entry: &Entry) -> String {
    let method = if entry.stored { "Stored" } else { "Defl:N" };
    format!(
        "{:8}  {method} {:8} {:3}% {} {:08x}  {}\n",
        entry.size,
        entry.packed,
        percent(entry.size, entry.packed),
        entry.stamp(),
        entry.crc,
        entry.name
    )
}

fn info(entry: &Entry, size: Size) -> String {
    let method = if entry.stored { "stor" } else { "defN" };
    let stamp = entry.stamp();
    let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = stamp[5..7].parse::<usize>().ok().and_then(|number| month.get(number.checked_sub(1)?));
    let stamp = format!("{}-{}-{} {}", &stamp[2..4], month.unwrap_or(&"???"), &stamp[8..10], &stamp[11..]);
    let packed = match size {
        Size::None => String::new(),
        Size::Packed => format!(" {:8}", entry.packed),
        Size::Saved => format!(" {:2}%", percent(entry.size, entry.packed)),
    };
    let text = if entry.text { 't' } else { 'b' };
    let extra = if entry.extra { 'x' } else { '-' };
    format!("{}  3.0 unx {:8} {text}{extra}{packed} {method} {stamp} {}\n", mode(entry), entry.size, entry.name)
}

fn mode(entry: &Entry) -> String {
    let kind = if entry.mode & TYPE == PIPE {
        'p'
    } else if entry.link {
        'l'
    } else if entry.directory {
        'd'
    } else {
        '-'
    };
    let mut bits: Vec<u8> =
        (0..9).map(|bit| if entry.mode >> (8 - bit) & 1 == 1 { b"rwx"[bit % 3] } else { b'-' }).collect();
    for (bit, at, with, without) in [(0o4000, 2, b's', b'S'), (0o2000, 5, b's', b'S'), (0o1000, 8, b't', b'T')] {
        if entry.mode & bit != 0 {
            bits[at] = if bits[at] == b'x' { with } else { without };
        }
    }
    std::iter::once(kind).chain(bits.into_iter().map(char::from)).collect()
}
