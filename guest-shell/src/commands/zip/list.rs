//! Lists of what is in an archive.

use super::entry::{Entry, percent};

/// How a list looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `-l`
    Short,
    /// `-v`
    Long,
    /// `-Z1`
    Names,
    /// `-Z`
    Info,
}

/// A list. `quiet` is how often `-q` was given.
pub(super) fn list(entries: &[&Entry], form: Form, quiet: usize) -> String {
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
        Form::Info => {
            let saved = size.saturating_sub(packed).saturating_mul(1_000).checked_div(size).unwrap_or_default();
            let (whole, tenth) = (saved / 10, saved % 10);
            format!(
                "{}{count} {files}, {size} bytes uncompressed, {packed} bytes compressed:  {whole}.{tenth}%\n",
                lines(&info)
            )
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

fn info(entry: &Entry) -> String {
    let method = if entry.stored { "stor" } else { "defN" };
    let stamp = entry.stamp();
    let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = stamp[5..7].parse::<usize>().ok().and_then(|number| month.get(number.checked_sub(1)?));
    let stamp = format!("{}-{}-{} {}", &stamp[2..4], month.unwrap_or(&"???"), &stamp[8..10], &stamp[11..]);
    format!("{}  3.0 unx {:8} bx {method} {stamp} {}\n", mode(entry), entry.size, entry.name)
}

fn mode(entry: &Entry) -> String {
    let kind = if entry.link {
        'l'
    } else if entry.directory {
        'd'
    } else {
        '-'
    };
    let bits = (0..9).map(|bit| if entry.mode >> (8 - bit) & 1 == 1 { b"rwx"[bit % 3].into() } else { '-' });
    std::iter::once(kind).chain(bits).collect()
}
