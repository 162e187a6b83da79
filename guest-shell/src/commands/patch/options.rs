//! Command-line options of `patch`.

use crate::commands::getopt::{Found, Known, Order, Takes, scan};

/// Number of context lines that may differ at each end.
const FUZZ: usize = 2;

const HELP: &str = "\
Usage: patch [OPTION]... [ORIGFILE [PATCHFILE]]

  -p NUM  --strip=NUM  Strip NUM leading components from file names.
  -F LINES  --fuzz LINES  Set the fuzz factor to LINES for inexact matching.
  -l  --ignore-whitespace  Ignore white space changes between patch and input.
  -N  --forward  Ignore patches that appear to be reversed or already applied.
  -R  --reverse  Assume patches were created with old and new files swapped.
  -i PATCHFILE  --input=PATCHFILE  Read patch from PATCHFILE instead of stdin.
  -o FILE  --output=FILE  Output patched files to FILE.
  -r FILE  --reject-file=FILE  Output rejects to FILE.
  -E  --remove-empty-files  Remove output files that are empty after patching.
  -b  --backup  Back up the original contents of each file.
  -z SUFFIX  --suffix=SUFFIX  Append SUFFIX to backup file names.
  -d DIR  --directory=DIR  Change the working directory to DIR first.
  -s  --quiet  --silent  Work silently unless an error occurs.
  -f  --force  -t  --batch  Ask no questions.
      --dry-run  Do not actually change any files; just print what would happen.
      --no-backup-if-mismatch  Back up mismatches only if otherwise requested.
";

/// Long options, their short equivalents, and whether they take an argument.
const LONG: [(&str, char, bool); 25] = [
    ("backup", 'b', false),
    ("backup-if-mismatch", '\0', false),
    ("batch", 't', false),
    ("directory", 'd', true),
    ("dry-run", '\0', false),
    ("force", 'f', false),
    ("forward", 'N', false),
    ("fuzz", 'F', true),
    ("help", '\0', false),
    ("ignore-whitespace", 'l', false),
    ("input", 'i', true),
    ("no-backup-if-mismatch", '\0', false),
    ("normal", 'n', false),
    ("output", 'o', true),
    ("posix", '\0', false),
    ("quiet", 's', false),
    ("reject-file", 'r', true),
    ("remove-empty-files", 'E', false),
    ("reverse", 'R', false),
    ("silent", 's', false),
    ("strip", 'p', true),
    ("suffix", 'z', true),
    ("unified", 'u', false),
    ("verbose", '\0', false),
    ("version", 'v', false),
];

/// Settings of one execution.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) strip: Option<usize>,
    pub(super) fuzz: usize,
    pub(super) loose: bool,
    pub(super) forward: bool,
    pub(super) reverse: bool,
    pub(super) force: bool,
    pub(super) batch: bool,
    pub(super) input: Option<String>,
    pub(super) output: Option<String>,
    pub(super) rejects: Option<String>,
    pub(super) remove_empty: bool,
    pub(super) backup: bool,
    pub(super) backup_mismatch: bool,
    pub(super) suffix: String,
    pub(super) directory: Option<String>,
    pub(super) silent: bool,
    pub(super) posix: bool,
    pub(super) dry_run: bool,
    pub(super) operands: Vec<String>,
}

/// Action that the command line requests.
pub(super) enum Asked {
    Run(Box<Options>),
    Print(&'static str),
    Wrong(String),
}

impl Options {
    pub(super) fn read(words: &[String]) -> Asked {
        let takes = |argument: bool| if argument { Takes::Required } else { Takes::Nothing };
        let known = Known {
            short: "bd:EfF:i:lnNo:p:r:RstuvV:z:".to_owned(),
            long: LONG.iter().map(|(name, _, argument)| ((*name).to_owned(), takes(*argument))).collect(),
            single_dash: false,
        };
        let (found, operands) = scan(&known, Order::Permute, words);
        let mut options = Self {
            strip: None,
            fuzz: FUZZ,
            loose: false,
            forward: false,
            reverse: false,
            force: false,
            batch: false,
            input: None,
            output: None,
            rejects: None,
            remove_empty: false,
            backup: false,
            backup_mismatch: true,
            suffix: ".orig".to_owned(),
            directory: None,
            silent: false,
            posix: false,
            dry_run: false,
            operands,
        };
        for found in found {
            let (name, value) = match found {
                Found::Short(letter, value) => (letter.to_string(), value),
                Found::Long(name, value) => {
                    let short = LONG.iter().find(|(known, short, _)| *known == name && *short != '\0');
                    (short.map_or(name, |(_, short, _)| short.to_string()), value)
                }
                Found::Word(word) => {
                    options.operands.push(word);
                    continue;
                }
                Found::Mistake(why) => return Asked::Wrong(why),
            };
            match name.as_str() {
                "help" => return Asked::Print(HELP),
                "v" => return Asked::Print("GNU patch 2.7.6 (tollhouse)\n"),
                name => {
                    if let Err(why) = options.set(name, value.unwrap_or_default()) {
                        return Asked::Wrong(why);
                    }
                }
            }
        }
        if options.operands.len() > 2 {
            return Asked::Wrong(format!("{}: extra operand", options.operands[2]));
        }
        Asked::Run(Box::new(options))
    }

    fn set(&mut self, name: &str, value: String) -> std::result::Result<(), String> {
        let number = |what: &str| value.parse().map_err(|_| format!("**** {what} {value} is not a number"));
        match name {
            "b" => self.backup = true,
            "d" => self.directory = Some(value),
            "E" => self.remove_empty = true,
            "f" => self.force = true,
            "F" => self.fuzz = number("fuzz factor")?,
            "i" => self.input = Some(value),
            "l" => self.loose = true,
            "N" => self.forward = true,
            "o" => self.output = Some(value),
            "p" => self.strip = Some(number("strip count")?),
            "r" => self.rejects = Some(value),
            "R" => self.reverse = true,
            "s" => self.silent = true,
            "t" => self.batch = true,
            "z" => self.suffix = value,
            "dry-run" => self.dry_run = true,
            "backup-if-mismatch" => self.backup_mismatch = true,
            "no-backup-if-mismatch" => self.backup_mismatch = false,
            "posix" => (self.posix, self.backup_mismatch) = (true, false),
            // The form of a diff is detected, backups have one form, and there are no additional messages.
            "u" | "n" | "verbose" => {}
            other => return Err(format!("option '-{other}' is not supported here")),
        }
        Ok(())
    }
}
