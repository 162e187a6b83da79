//! `df`: free space of the session's file system, in GNU's columns.
//!
//! There is one file system, to which every path belongs.

use crate::commands::option_parser::gnu_getopt;
use async_trait::async_trait;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::{Builtin, Context, check_help_version, resolve_path};
use bashkit::{ExecResult, Result};

use super::du::size::{human_size, parse_block_size};

const HELP: &str = "\
Usage: df [OPTION]... [FILE]...
Show the room of the file system.

  -B, --block-size=SIZE  scale sizes by SIZE
  -h, --human-readable   print sizes in powers of 1024
  -H, --si               print sizes in powers of 1000
  -i, --inodes           list numbers of files instead of sizes
  -k, -m                 like --block-size=1K, --block-size=1M
      --output[=FIELDS]  source, fstype, itotal, iused, iavail, ipcent, size, used, avail, pcent, file, target
  -P, --portability      use the POSIX output format
  -t, --type=TYPE        only file systems of TYPE
  -T, --print-type       print the type
      --total            add a total
  -x, --exclude-type=TYPE  no file systems of TYPE
  --help\tdisplay this help and exit
  --version\toutput version information and exit
";

const LONG: [(&str, OptArg, char); 15] = [
    ("all", OptArg::No, 'a'),
    ("block-size", OptArg::Required, 'B'),
    ("human-readable", OptArg::No, 'h'),
    ("si", OptArg::No, 'H'),
    ("inodes", OptArg::No, 'i'),
    ("local", OptArg::No, 'l'),
    ("no-sync", OptArg::No, 'l'),
    ("sync", OptArg::No, 'l'),
    ("output", OptArg::Optional, 'O'),
    ("portability", OptArg::No, 'P'),
    ("print-type", OptArg::No, 'T'),
    ("total", OptArg::No, 'c'),
    ("type", OptArg::Required, 't'),
    ("exclude-type", OptArg::Required, 'x'),
    ("megabytes", OptArg::No, 'm'),
];

/// Name of the file system.
const SOURCE: &str = "bashkit-vfs";
/// Type of the file system.
const TYPE: &str = "vfs";

/// Column of the output.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DfColumn {
    Source,
    Type,
    Inodes,
    InodesUsed,
    InodesFree,
    InodesPercent,
    Size,
    Used,
    Available,
    Percent,
    File,
    Target,
}

/// Columns by the names that `--output` takes.
const COLUMNS: [(&str, DfColumn); 12] = [
    ("source", DfColumn::Source),
    ("fstype", DfColumn::Type),
    ("itotal", DfColumn::Inodes),
    ("iused", DfColumn::InodesUsed),
    ("iavail", DfColumn::InodesFree),
    ("ipcent", DfColumn::InodesPercent),
    ("size", DfColumn::Size),
    ("used", DfColumn::Used),
    ("avail", DfColumn::Available),
    ("pcent", DfColumn::Percent),
    ("file", DfColumn::File),
    ("target", DfColumn::Target),
];

/// Unit of the sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum DfUnit {
    Blocks(u64),
    /// Unit in which a size is at least 1, in powers of this number.
    Human(u64),
}

/// Options of one call.
struct DfOptions {
    unit: DfUnit,
    inodes: bool,
    portable: bool,
    with_type: bool,
    total: bool,
    /// Columns of `--output`.
    output: Option<Vec<DfColumn>>,
    only_types: Vec<String>,
    excluded_types: Vec<String>,
}

impl DfOptions {
    /// Reads a command line into options and names of files. The error is the result of a wrong call.
    fn parse(words: &[String]) -> std::result::Result<(Self, Vec<String>), ExecResult> {
        let (given, files) = gnu_getopt("df", words, "aB:hHiklmPt:Tvx:", &LONG, true, 1)?;
        let mut options = Self {
            unit: DfUnit::Blocks(1024),
            inodes: false,
            portable: false,
            with_type: false,
            total: false,
            output: None,
            only_types: Vec::new(),
            excluded_types: Vec::new(),
        };
        for option in given {
            let value = option.value.unwrap_or_default();
            match option.key {
                'B' => {
                    let size = parse_block_size(&value);
                    let wrong = || ExecResult::err(format!("df: invalid -B argument '{value}'\n"), 1);
                    options.unit = DfUnit::Blocks(size.ok_or_else(wrong)?);
                }
                'h' => options.unit = DfUnit::Human(1024),
                'H' => options.unit = DfUnit::Human(1000),
                'k' => options.unit = DfUnit::Blocks(1024),
                'm' => options.unit = DfUnit::Blocks(1024 * 1024),
                'i' => options.inodes = true,
                'P' => options.portable = true,
                'T' => options.with_type = true,
                'c' => options.total = true,
                't' => options.only_types.push(value),
                'x' => options.excluded_types.push(value),
                'O' => options.add_output(&value)?,
                // All file systems are local, and none is left out.
                _ => {}
            }
        }
        for (letter, is_given) in [('i', options.inodes), ('P', options.portable), ('T', options.with_type)] {
            if is_given && options.output.is_some() {
                return Err(usage_error(&format!("options -{letter} and --output are mutually exclusive")));
            }
        }
        Ok((options, files))
    }

    fn add_output(&mut self, names: &str) -> std::result::Result<(), ExecResult> {
        let output = self.output.get_or_insert_default();
        if names.is_empty() {
            output.extend(COLUMNS.map(|(_, column)| column));
            return Ok(());
        }
        for name in names.split(',') {
            let column = COLUMNS.iter().find(|(known, _)| *known == name).map(|(_, column)| *column);
            let Some(column) = column else {
                return Err(usage_error(&format!("option --output: field '{name}' unknown")));
            };
            if output.contains(&column) {
                return Err(usage_error(&format!("option --output: field '{name}' used more than once")));
            }
            output.push(column);
        }
        Ok(())
    }

    fn columns(&self) -> Vec<DfColumn> {
        use DfColumn::{
            Available, Inodes, InodesFree, InodesPercent, InodesUsed, Percent, Size, Source, Target, Type, Used,
        };
        if let Some(output) = &self.output {
            return output.clone();
        }
        let mut columns = vec![Source];
        columns.extend(self.with_type.then_some(Type));
        columns.extend(match self.inodes {
            true => [Inodes, InodesUsed, InodesFree, InodesPercent],
            false => [Size, Used, Available, Percent],
        });
        columns.push(Target);
        columns
    }

    fn lists_type(&self) -> bool {
        let names_it = |types: &[String]| types.iter().any(|name| name == TYPE);
        (self.only_types.is_empty() || names_it(&self.only_types)) && !names_it(&self.excluded_types)
    }

    fn heading(&self, column: DfColumn) -> String {
        let is_human = matches!(self.unit, DfUnit::Human(_));
        match column {
            DfColumn::Source => "Filesystem".to_owned(),
            DfColumn::Type => "Type".to_owned(),
            DfColumn::Inodes => "Inodes".to_owned(),
            DfColumn::InodesUsed => "IUsed".to_owned(),
            DfColumn::InodesFree => "IFree".to_owned(),
            DfColumn::InodesPercent => "IUse%".to_owned(),
            DfColumn::Size => match self.unit {
                DfUnit::Human(_) => "Size".to_owned(),
                DfUnit::Blocks(size) if self.portable => format!("{size}-blocks"),
                DfUnit::Blocks(size) => format!("{}-blocks", block_name(size)),
            },
            DfColumn::Used => "Used".to_owned(),
            DfColumn::Available if is_human || self.output.is_some() => "Avail".to_owned(),
            DfColumn::Available => "Available".to_owned(),
            DfColumn::Percent if self.portable && !is_human => "Capacity".to_owned(),
            DfColumn::Percent => "Use%".to_owned(),
            DfColumn::File => "File".to_owned(),
            DfColumn::Target => "Mounted on".to_owned(),
        }
    }

    fn size(&self, bytes: u64) -> String {
        match self.unit {
            DfUnit::Blocks(size) => bytes.div_ceil(size).to_string(),
            DfUnit::Human(base) => human_size(bytes, base),
        }
    }

    fn count(&self, count: u64) -> String {
        match self.unit {
            DfUnit::Human(base) => human_size(count, base),
            DfUnit::Blocks(_) => count.to_string(),
        }
    }
}

/// Space of the file system.
struct FileSystemRoom {
    bytes: u64,
    bytes_used: u64,
    /// Largest number of files, or 0 for no limit.
    files: u64,
    files_used: u64,
}

impl FileSystemRoom {
    fn of(ctx: &Context<'_>) -> Self {
        let (usage, limits) = (ctx.fs.usage(), ctx.fs.limits());
        let is_limited = limits.max_file_count < u64::MAX;
        Self {
            bytes: limits.max_total_bytes,
            bytes_used: usage.total_bytes,
            files: if is_limited { limits.max_file_count } else { 0 },
            files_used: if is_limited { usage.file_count } else { 0 },
        }
    }

    /// Returns the cells of a line.
    fn cells(&self, options: &DfOptions, columns: &[DfColumn], [source, kind, file, target]: [&str; 4]) -> Vec<String> {
        let cell = |column: &DfColumn| match column {
            DfColumn::Source => source.to_owned(),
            DfColumn::Type => kind.to_owned(),
            DfColumn::Inodes => options.count(self.files),
            DfColumn::InodesUsed => options.count(self.files_used),
            DfColumn::InodesFree => options.count(self.files.saturating_sub(self.files_used)),
            DfColumn::InodesPercent => percent(self.files_used, self.files),
            DfColumn::Size => options.size(self.bytes),
            DfColumn::Used => options.size(self.bytes_used),
            DfColumn::Available => options.size(self.bytes.saturating_sub(self.bytes_used)),
            DfColumn::Percent => percent(self.bytes_used, self.bytes),
            DfColumn::File => file.to_owned(),
            DfColumn::Target => target.to_owned(),
        };
        columns.iter().map(cell).collect()
    }
}

/// Returns the used share in percent, rounded up as in GNU's.
fn percent(used: u64, all: u64) -> String {
    match u128::from(all) {
        0 => "-".to_owned(),
        all => format!("{}%", (u128::from(used) * 100).div_ceil(all)),
    }
}

/// Returns the name of a block size: `1K`, `1MB`, `512B`.
fn block_name(size: u64) -> String {
    for (base, units) in [(1024_u64, ["", "K", "M", "G", "T"]), (1000, ["", "kB", "MB", "GB", "TB"])] {
        for (power, unit) in (1_u32..).zip(&units[1..]) {
            let whole = base.pow(power);
            if size >= whole && size.is_multiple_of(whole) && (size / whole < base || power == 4) {
                return format!("{}{unit}", size / whole);
            }
        }
    }
    format!("{size}B")
}

fn usage_error(message: &str) -> ExecResult {
    ExecResult::err(format!("df: {message}\nTry 'df --help' for more information.\n"), 1)
}

/// Lays out lines as GNU's does: names to the left, numbers to the right, as wide as the widest.
fn layout(columns: &[DfColumn], lines: &[Vec<String>]) -> String {
    let is_text =
        |column: &DfColumn| matches!(column, DfColumn::Source | DfColumn::Type | DfColumn::File | DfColumn::Target);
    let least = |column: &DfColumn| match column {
        DfColumn::Source => 14,
        DfColumn::Type | DfColumn::InodesPercent | DfColumn::Percent => 4,
        DfColumn::File | DfColumn::Target => 0,
        _ => 5,
    };
    let widest = |at: usize| lines.iter().map(|line| line[at].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        for (at, (column, cell)) in columns.iter().zip(line).enumerate() {
            let width = widest(at).max(least(column));
            let separator = if at == 0 { "" } else { " " };
            text += &match (is_text(column), at + 1 == columns.len()) {
                (true, true) => format!("{separator}{cell}"),
                (true, false) => format!("{separator}{cell:<width$}"),
                (false, _) => format!("{separator}{cell:>width$}"),
            };
        }
        text.push('\n');
    }
    text
}

/// Command `df` of the shell.
pub(crate) struct Df;

#[async_trait]
impl Builtin for Df {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, HELP, Some("df (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (options, files) = match DfOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(result) => return Ok(result),
        };
        let columns = options.columns();
        let room = FileSystemRoom::of(&ctx);
        let mut lines = vec![columns.iter().map(|column| options.heading(*column)).collect()];
        let mut messages = String::new();
        if files.is_empty() && options.lists_type() {
            lines.push(room.cells(&options, &columns, [SOURCE, TYPE, "-", "/"]));
        }
        for file in &files {
            if ctx.fs.stat(&resolve_path(ctx.cwd, file)).await.is_err() {
                messages += &format!("df: {file}: No such file or directory\n");
            } else if options.lists_type() {
                lines.push(room.cells(&options, &columns, [SOURCE, TYPE, file, "/"]));
            }
        }
        if lines.len() == 1 {
            if messages.is_empty() {
                messages += "df: no file systems processed\n";
            }
            return Ok(ExecResult::err(messages, 1));
        }
        if options.total {
            // There is one file system, however often it is listed.
            lines.push(room.cells(&options, &columns, ["total", "-", "-", "-"]));
        }
        let status = i32::from(!messages.is_empty());
        Ok(ExecResult { stderr: messages.into(), ..ExecResult::with_code(layout(&columns, &lines), status) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::path::PathBuf;
    use std::sync::Arc;

    use bashkit::fs::{FileSystem as _, FsLimits, InMemoryFs};

    use super::*;

    async fn df(words: &str) -> (String, String, i32) {
        let fs = Arc::new(InMemoryFs::with_limits(FsLimits::new().max_total_bytes(1 << 20).max_file_count(200)));
        let mut cwd = PathBuf::from("/tmp");
        fs.write_file(&cwd.join("f"), &[b'x'; 100_000]).await.expect("a file");
        let args: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let (env, mut variables) = (HashMap::new(), HashMap::new());
        let ctx = Context::new_for_test(&args, &env, &mut variables, &mut cwd, fs, None);
        let result = Df.execute(ctx).await.expect("no error of the shell");
        (result.stdout.to_string(), result.stderr.to_string(), result.exit_code)
    }

    #[tokio::test]
    async fn df_prints_a_heading_and_a_line_in_columns_of_gnu() {
        for (words, output) in [
            (
                "",
                "Filesystem     1K-blocks  Used Available Use% Mounted on\nbashkit-vfs         1024    98       927  10% /\n",
            ),
            (
                "-P /tmp",
                "Filesystem     1024-blocks  Used Available Capacity Mounted on\nbashkit-vfs           1024    98       927      10% /\n",
            ),
            (
                "-hT .",
                "Filesystem     Type  Size  Used Avail Use% Mounted on\nbashkit-vfs    vfs   1.0M   98K  927K  10% /\n",
            ),
            (
                "-B 1M",
                "Filesystem     1M-blocks  Used Available Use% Mounted on\nbashkit-vfs            1     1         1  10% /\n",
            ),
            ("--output=pcent,target", "Use% Mounted on\n 10% /\n"),
            ("--output=file,size -h f", "File  Size\nf     1.0M\n"),
            (
                "-k --total -t vfs",
                "Filesystem     1K-blocks  Used Available Use% Mounted on\nbashkit-vfs         1024    98       927  10% /\ntotal               1024    98       927  10% -\n",
            ),
        ] {
            assert_eq!(df(words).await, (output.to_owned(), String::new(), 0), "{words}");
        }
    }

    #[tokio::test]
    async fn df_refuses_missing_files_and_wrong_options() {
        for (words, message) in [
            ("gone", "df: gone: No such file or directory\n"),
            ("-t ext4", "df: no file systems processed\n"),
            (
                "-T --output",
                "df: options -T and --output are mutually exclusive\nTry 'df --help' for more information.\n",
            ),
            ("--output=x", "df: option --output: field 'x' unknown\nTry 'df --help' for more information.\n"),
        ] {
            assert_eq!(df(words).await, (String::new(), message.to_owned(), 1), "{words}");
        }
    }
}
