//! Output of `ls` for the files of one listing.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::borrow::Cow;

use super::columns::{Cell, columns, separated};
use super::file::File;
use super::options::{Format, Indicator, Options};
use crate::commands::file_status::{self, FmtEnv, is_recent};
use bashkit::builtins::ls::quoting::quote_name;
use bashkit::builtins::system::{SANDBOX_GID, SANDBOX_UID};
use bashkit::fs::{FileType, Metadata};

/// Widths of numbers, for alignment in columns.
#[derive(Default)]
pub(super) struct Widths {
    inode: usize,
    blocks: usize,
    links: usize,
    size: usize,
}

pub(super) struct Printer<'a> {
    opts: &'a Options,
    env: FmtEnv,
    /// Current time, in nanoseconds since the epoch.
    now: i128,
    pub(super) out: String,
    /// True after the first colour, which is preceded by a reset.
    coloured: bool,
}

/// Returns the character after a name: `/` for directories, `*` for executables, `@` for links, `|` for FIFOs.
fn mark(meta: &Metadata, indicator: Indicator) -> &'static str {
    match (indicator, meta.file_type) {
        (Indicator::None, _) => "",
        (_, FileType::Directory) => "/",
        (Indicator::Slash, _) => "",
        (_, FileType::Symlink) => "@",
        (_, FileType::Fifo) => "|",
        (Indicator::Classify, FileType::File) if meta.mode & 0o111 != 0 => "*",
        _ => "",
    }
}

/// Returns GNU's default colours (without `LS_COLORS`).
fn colour(meta: &Metadata) -> Option<&'static str> {
    let mode = meta.mode;
    Some(match meta.file_type {
        FileType::Directory if mode & 0o1002 == 0o1002 => "30;42",
        FileType::Directory if mode & 0o002 != 0 => "34;42",
        FileType::Directory if mode & 0o1000 != 0 => "37;44",
        FileType::Directory => "01;34",
        FileType::Symlink => "01;36",
        FileType::Fifo => "33",
        FileType::File if mode & 0o4000 != 0 => "37;41",
        FileType::File if mode & 0o2000 != 0 => "30;43",
        FileType::File if mode & 0o111 != 0 => "01;32",
        FileType::File => return None,
    })
}

/// Returns the number of screen columns of a name. Control characters have no width.
pub(super) fn width_of(name: &str) -> usize {
    name.chars().filter(|c| !c.is_control()).count()
}

impl<'a> Printer<'a> {
    pub(super) fn new(opts: &'a Options, env: FmtEnv) -> Self {
        // Only dates need the clock.
        let now = match opts.format {
            Format::Long => env.now(),
            _ => 0,
        };
        Self { opts, env, now, out: String::new(), coloured: false }
    }

    /// Prints the sum of the blocks of a directory, before its listing.
    pub(super) fn total(&mut self, files: &[File]) {
        let opts = self.opts;
        if opts.format == Format::Long || opts.blocks {
            let blocks = files.iter().map(File::blocks).fold(0, u64::saturating_add);
            let sum = opts.block_unit.show(blocks.saturating_mul(512));
            self.out.push_str(&format!("total {sum}{}", opts.end));
        }
    }

    pub(super) fn listing(&mut self, files: &[File], widths: &Widths) {
        let opts = self.opts;
        if opts.format == Format::Long {
            for file in files {
                self.long(file, widths);
            }
            return;
        }
        let cells: Vec<Cell> = files.iter().map(|file| self.cell(file, widths)).collect();
        let text = match opts.format {
            Format::Commas => separated(&cells, ",", opts.width, opts.end),
            Format::Columns | Format::Across if opts.width == 0 => separated(&cells, " ", 0, opts.end),
            Format::Columns | Format::Across => {
                let across = opts.format == Format::Across;
                columns(&cells, opts.width, opts.tab, across, opts.end)
            }
            _ => columns(&cells, 0, 0, false, opts.end),
        };
        self.out.push_str(&text);
    }

    pub(super) fn widths(&self, files: &[File]) -> Widths {
        let opts = self.opts;
        let widest = |text: &dyn Fn(&File) -> String| files.iter().map(|file| text(file).len()).max().unwrap_or(0);
        let mut widths = Widths::default();
        // The format with commas has no alignment.
        if opts.format != Format::Commas {
            widths.inode = widest(&|file| self.inode(file));
            widths.blocks = widest(&|file| self.blocks(file));
        }
        if opts.format == Format::Long {
            widths.links = widest(&|file| file.links.to_string());
            widths.size = widest(&|file| opts.size_unit.show(file.size()));
        }
        widths
    }

    fn inode(&self, file: &File) -> String {
        match file.meta {
            Some(_) => file.inode.to_string(),
            None => "?".to_string(),
        }
    }

    fn blocks(&self, file: &File) -> String {
        match file.meta {
            Some(_) => self.opts.block_unit.show(file.blocks().saturating_mul(512)),
            None => "?".to_string(),
        }
    }

    /// Returns the numbers at the beginning of a line.
    fn numbers(&self, file: &File, widths: &Widths) -> String {
        let mut text = String::new();
        if self.opts.inode {
            text.push_str(&format!("{:>width$} ", self.inode(file), width = widths.inode));
        }
        if self.opts.blocks {
            text.push_str(&format!("{:>width$} ", self.blocks(file), width = widths.blocks));
        }
        text
    }

    fn quoted<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let quoted = quote_name(name, self.opts.quoting);
        if self.opts.hide_controls && quoted.contains(char::is_control) {
            return Cow::Owned(quoted.replace(char::is_control, "?"));
        }
        quoted
    }

    fn name(&mut self, name: &str, meta: Option<&Metadata>) -> Cell {
        let quoted = self.quoted(name);
        let width = width_of(&quoted);
        let colour = meta.filter(|_| self.opts.colour).and_then(colour);
        let text = match colour {
            Some(colour) => {
                let reset = if self.coloured { "" } else { "\x1b[0m" };
                self.coloured = true;
                format!("{reset}\x1b[{colour}m{quoted}\x1b[0m")
            }
            None => quoted.into_owned(),
        };
        Cell { text, width }
    }

    fn cell(&mut self, file: &File, widths: &Widths) -> Cell {
        let numbers = self.numbers(file, widths);
        let name = self.name(&file.name, file.meta.as_ref());
        let mark = match &file.meta {
            Some(meta) => mark(meta, self.opts.indicator),
            None if self.opts.indicator >= Indicator::FileType => "@",
            None => "",
        };
        Cell { width: numbers.len() + name.width + mark.len(), text: format!("{numbers}{}{mark}", name.text) }
    }

    fn long(&mut self, file: &File, widths: &Widths) {
        let opts = self.opts;
        let mut line = self.numbers(file, widths);
        let unknown = || "?".to_string();
        let (mode, links, size) = match &file.meta {
            Some(meta) => (file_status::mode_string(meta), file.links.to_string(), opts.size_unit.show(file.size())),
            None => (format!("l{}", "?".repeat(9)), unknown(), unknown()),
        };
        line.push_str(&format!("{mode} {links:>width$} ", width = widths.links));
        let names = [(opts.owner, SANDBOX_UID), (opts.group, SANDBOX_GID)];
        for (_, id) in names.iter().filter(|(shown, _)| *shown) {
            let name = if opts.numeric { id.to_string() } else { self.env.username.clone() };
            let shown = if file.meta.is_some() { &name } else { "?" };
            line.push_str(&format!("{shown:<width$} ", width = name.chars().count()));
        }
        let date = self.date(file);
        line.push_str(&format!("{size:>width$} {date} ", width = widths.size));
        line.push_str(&self.name(&file.name, file.meta.as_ref()).text);
        match &file.target {
            Some(target) => {
                let meta = file.target_meta.as_ref();
                line.push_str(" -> ");
                line.push_str(&self.name(target, meta).text);
                line.push_str(meta.map_or("", |meta| mark(meta, opts.indicator)));
            }
            None => {
                let meta = file.meta.as_ref();
                line.push_str(meta.map_or("", |meta| mark(meta, opts.indicator)));
            }
        }
        line.push(opts.end);
        self.out.push_str(&line);
    }

    fn date(&self, file: &File) -> String {
        let time = file.time(self.opts);
        let recent = is_recent(time, self.now);
        let format = if recent { &self.opts.recent } else { &self.opts.old };
        let date = self.env.strftime(time, format);
        match file.meta {
            Some(_) => date,
            None => format!("{:>width$}", "?", width = date.chars().count()),
        }
    }

    /// Prints the name of a directory before its entries.
    pub(super) fn header(&mut self, name: &str) {
        if !self.out.is_empty() {
            self.out.push(self.opts.end);
        }
        // GNU quotes names of directories in every style but this one.
        let quoted = match self.opts.quoting {
            bashkit::builtins::ls::quoting::QuotingStyle::Escape => Cow::Borrowed(name),
            _ => self.quoted(name),
        };
        self.out.push_str(&format!("{quoted}:\n"));
    }
}
