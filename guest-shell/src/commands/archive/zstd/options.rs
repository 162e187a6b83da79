//! Options of the command line.

use bashkit::ExecResult;

/// Work of one call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ZstdTask {
    Compress,
    Decompress,
    Test,
}

/// Options of one call.
pub(super) struct ZstdOptions {
    pub(super) task: ZstdTask,
    pub(super) to_stdout: bool,
    /// Name of the only output (`-o`).
    pub(super) output: Option<String>,
    pub(super) forces: bool,
    pub(super) removes: bool,
    pub(super) is_quiet: bool,
    /// True if data in another format is copied (`zstdcat`, `-dcf`).
    pub(super) passes_through: bool,
    pub(super) files: Vec<String>,
}

impl ZstdOptions {
    /// Returns the options of a command without arguments.
    pub(super) fn new(task: ZstdTask, to_stdout: bool) -> Self {
        Self {
            task,
            to_stdout,
            output: None,
            forces: false,
            removes: false,
            is_quiet: to_stdout,
            passes_through: to_stdout,
            files: Vec::new(),
        }
    }

    /// Reads a command line. The error is the result of a call that compresses nothing.
    pub(super) fn parse(&mut self, words: &[String]) -> Result<(), ExecResult> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if word == "--" {
                self.files.extend(words.by_ref().cloned());
            } else if word == "-" || !word.starts_with('-') {
                self.files.push(word.clone());
            } else if let Some(long) = word.strip_prefix("--") {
                self.take_long(word, long)?;
            } else {
                self.take_letters(&word[1..], &mut words)?;
            }
        }
        self.to_stdout |= self.output.is_none() && (self.files.is_empty() || self.files == ["-"]);
        self.passes_through |= self.forces && self.to_stdout;
        Ok(())
    }

    fn take_long(&mut self, word: &str, long: &str) -> Result<(), ExecResult> {
        let name = long.split('=').next().unwrap_or_default();
        match name {
            "compress" => self.task = ZstdTask::Compress,
            "decompress" | "uncompress" => self.task = ZstdTask::Decompress,
            "test" => self.task = ZstdTask::Test,
            "stdout" => self.to_stdout = true,
            "force" => self.forces = true,
            "keep" => self.removes = false,
            "rm" => self.removes = true,
            "quiet" => self.is_quiet = true,
            "pass-through" => self.passes_through = true,
            "no-pass-through" => self.passes_through = false,
            "help" => return Err(ExecResult::ok(super::HELP)),
            "version" => return Err(ExecResult::ok(super::VERSION)),
            "format" if long != "format=zstd" => {
                return Err(refusal(&format!("{word}: only zstd is written; use `gzip` or `xz`")));
            }
            // Levels, windows and threads change speed and size, and not what the data are.
            "format"
            | "verbose"
            | "fast"
            | "ultra"
            | "long"
            | "threads"
            | "single-thread"
            | "auto-threads"
            | "adaptive"
            | "adapt"
            | "rsyncable"
            | "check"
            | "no-check"
            | "sparse"
            | "no-sparse"
            | "progress"
            | "no-progress"
            | "content-size"
            | "no-content-size"
            | "compress-literals"
            | "no-compress-literals"
            | "row-match-finder"
            | "no-row-match-finder"
            | "memory"
            | "memlimit"
            | "memlimit-decompress"
            | "block-size"
            | "stream-size"
            | "size-hint"
            | "no-asyncio"
            | "asyncio"
            | "exclude-compressed" => {}
            "train" | "train-cover" | "train-fastcover" | "train-legacy" | "patch-from" | "list" | "filelist"
            | "output-dir-flat" | "output-dir-mirror" | "recursive" => {
                return Err(refusal(&format!("{word}: this option is not supported here")));
            }
            _ => return Err(incorrect_parameters()),
        }
        Ok(())
    }

    fn take_letters<'w>(
        &mut self,
        letters: &str,
        words: &mut impl Iterator<Item = &'w String>,
    ) -> Result<(), ExecResult> {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            match letter {
                'z' => self.task = ZstdTask::Compress,
                'd' => self.task = ZstdTask::Decompress,
                't' => self.task = ZstdTask::Test,
                'c' => self.to_stdout = true,
                'f' => self.forces = true,
                'k' => self.removes = false,
                'q' => self.is_quiet = true,
                'v' | 'C' | 'p' => {}
                'h' | 'H' => return Err(ExecResult::ok(super::HELP)),
                'V' => return Err(ExecResult::ok(super::VERSION)),
                'o' => {
                    let name = if rest.is_empty() { words.next().cloned() } else { Some(rest.to_owned()) };
                    self.output = Some(name.ok_or_else(|| refusal("missing argument of -o"))?);
                    return Ok(());
                }
                'T' | 'M' | 'B' | '0'..='9' => {
                    rest = rest.trim_start_matches(|digit: char| digit.is_ascii_alphanumeric())
                }
                'D' | 'l' | 'r' | 'b' | 'e' | 'i' => {
                    return Err(refusal(&format!("-{letter}: this option is not supported here")));
                }
                _ => return Err(incorrect_parameters()),
            }
        }
        Ok(())
    }
}

fn refusal(message: &str) -> ExecResult {
    ExecResult::err(format!("zstd: {message}\n"), 1)
}

fn incorrect_parameters() -> ExecResult {
    ExecResult::err(format!("Incorrect parameters \n{}", super::HELP), 1)
}
