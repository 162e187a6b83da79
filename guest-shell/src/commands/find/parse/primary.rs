//! Tests, options and actions of `find`. Errors are messages that end with a line break.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::argument::{parse_number, parse_permissions, parse_size, time_field};
use super::regex::RegexSyntax;
use super::{ExpressionParser, LinkFollowing};
use crate::commands::find::expression::{
    AgeUnit, CommandAction, Expression, FileAction, FileTest, NewerReference, NumberComparison, ShellPattern, TimeField,
};
use crate::commands::find::format::{unfinished_directive, warnings};

/// Letters of `-type`.
const TYPE_LETTERS: [char; 8] = ['b', 'c', 'd', 'p', 'f', 'l', 's', 'D'];

impl ExpressionParser<'_> {
    /// Reads a test, an option or an action, whose first word is given.
    pub(super) fn primary(&mut self, word: &str) -> Result<Expression, String> {
        if self.option(word)? {
            return Ok(Expression::Constant(true));
        }
        if let Some(test) = self.test_of_name(word)? {
            return Ok(Expression::Test(test));
        }
        if let Some(test) = self.test_of_status(word)? {
            return Ok(Expression::Test(test));
        }
        if let Some(action) = self.action(word)? {
            return Ok(Expression::Action(action));
        }
        match word {
            "-true" => Ok(Expression::Constant(true)),
            // All files belong to the user.
            "-false" | "-nouser" | "-nogroup" => Ok(Expression::Constant(false)),
            _ if word.starts_with('-') => Err(unknown_predicate(word)),
            _ => Err(format!("find: paths must precede expression: `{word}'\n")),
        }
    }

    fn argument(&mut self, primary: &str) -> Result<String, String> {
        self.take().map(str::to_owned).ok_or_else(|| missing_argument(primary))
    }

    /// Applies an option, and returns false if the word is not an option.
    fn option(&mut self, word: &str) -> Result<bool, String> {
        match word {
            "-regextype" => self.regex_syntax = RegexSyntax::of_name(&self.argument(word)?)?,
            "-maxdepth" => self.options.max_depth = Some(self.depth(word)?),
            "-mindepth" => self.options.min_depth = self.depth(word)?,
            "-depth" | "-d" => self.options.depth_first = true,
            "-follow" => self.options.following = LinkFollowing::Always,
            "-daystart" => self.options.day_start = true,
            "-xdev"
            | "-mount"
            | "-noleaf"
            | "-ignore_readdir_race"
            | "-noignore_readdir_race"
            | "-warn"
            | "-nowarn" => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn depth(&mut self, option: &str) -> Result<usize, String> {
        let argument = self.argument(option)?;
        let depth = argument.parse().ok().filter(|_| !argument.starts_with('+'));
        depth.ok_or_else(|| {
            format!("find: Expected a positive decimal integer argument to {option}, but got '{argument}'\n")
        })
    }

    fn test_of_name(&mut self, word: &str) -> Result<Option<FileTest>, String> {
        Ok(Some(match word {
            "-name" => FileTest::Name(self.pattern(word, false)?),
            "-iname" => FileTest::Name(self.pattern(word, true)?),
            "-path" | "-wholename" => FileTest::Path(self.pattern(word, false)?),
            "-ipath" | "-iwholename" => FileTest::Path(self.pattern(word, true)?),
            "-lname" => FileTest::LinkTarget(self.pattern(word, false)?),
            "-ilname" => FileTest::LinkTarget(self.pattern(word, true)?),
            "-regex" | "-iregex" => {
                FileTest::Regex(self.regex_syntax.compile(&self.argument(word)?, word == "-iregex")?)
            }
            "-samefile" => FileTest::SameFile { name: self.argument(word)?, inode: 0 },
            _ => return Ok(None),
        }))
    }

    fn pattern(&mut self, primary: &str, ignore_case: bool) -> Result<ShellPattern, String> {
        Ok(ShellPattern { pattern: self.argument(primary)?, ignore_case })
    }

    fn test_of_status(&mut self, word: &str) -> Result<Option<FileTest>, String> {
        Ok(Some(match word {
            "-type" | "-xtype" => self.type_test(word)?,
            "-size" => parse_size(&self.argument(word)?)?,
            "-empty" => FileTest::Empty,
            "-readable" => FileTest::Access(4),
            "-writable" => FileTest::Access(2),
            "-executable" => FileTest::Access(1),
            "-mtime" | "-atime" | "-ctime" => self.age(word, AgeUnit::Days)?,
            "-mmin" | "-amin" | "-cmin" => self.age(word, AgeUnit::Minutes)?,
            "-newer" | "-anewer" | "-cnewer" => {
                FileTest::Newer { field: TimeField::Modified, reference: NewerReference::File(self.argument(word)?) }
            }
            _ if word.starts_with("-newer") && word.len() == 8 => self.newer(word)?,
            "-perm" => parse_permissions(&self.argument(word)?)?,
            "-user" => {
                let owner = self.owner.uid;
                let id = self.owner_id(word, owner, "the name of a known user")?;
                FileTest::User(NumberComparison::Equal, id)
            }
            "-group" => {
                let owner = self.owner.gid;
                let id = self.owner_id(word, owner, "the name of an existing group")?;
                FileTest::Group(NumberComparison::Equal, id)
            }
            "-uid" => self.number(word, FileTest::User)?,
            "-gid" => self.number(word, FileTest::Group)?,
            "-links" => self.number(word, FileTest::Links)?,
            "-inum" => self.number(word, FileTest::Inode)?,
            _ => return Ok(None),
        }))
    }

    fn number(&mut self, primary: &str, test: fn(NumberComparison, u64) -> FileTest) -> Result<FileTest, String> {
        let (comparison, number) = parse_number(primary, &self.argument(primary)?)?;
        Ok(test(comparison, number))
    }

    fn age(&mut self, primary: &str, unit: AgeUnit) -> Result<FileTest, String> {
        let (comparison, number) = parse_number(primary, &self.argument(primary)?)?;
        Ok(FileTest::Age { unit, comparison, number })
    }

    fn type_test(&mut self, primary: &str) -> Result<FileTest, String> {
        let argument = self.argument(primary)?;
        let letters: Option<Vec<char>> = argument
            .split(',')
            .map(|part| {
                let mut letters = part.chars();
                letters.next().filter(|letter| letters.next().is_none() && TYPE_LETTERS.contains(letter))
            })
            .collect();
        match letters {
            Some(letters) => Ok(FileTest::Type { letters, of_other_end: primary == "-xtype" }),
            None => Err(format!("find: Unknown argument to {primary}: {argument}\n")),
        }
    }

    /// Reads `-newerXY`, where `X` is a time of the file, and `Y` a time of the argument, or `t` if it is a date.
    fn newer(&mut self, primary: &str) -> Result<FileTest, String> {
        let mut letters = primary.chars().skip("-newer".len());
        let field = letters.next().and_then(time_field).ok_or_else(|| unknown_predicate(primary))?;
        let argument = self.argument(primary)?;
        let reference = match letters.next() {
            Some('t') => NewerReference::Date(argument),
            Some(letter) if time_field(letter).is_some() => NewerReference::File(argument),
            _ => return Err(unknown_predicate(primary)),
        };
        Ok(FileTest::Newer { field, reference })
    }

    /// Returns the number of a user or a group.
    fn owner_id(&mut self, primary: &str, owner: u64, meaning: &str) -> Result<u64, String> {
        let name = self.argument(primary)?;
        if name == self.owner.name {
            return Ok(owner);
        }
        if name == "root" {
            return Ok(0);
        }
        name.parse().map_err(|_| format!("find: '{name}' is not {meaning}\n"))
    }

    fn action(&mut self, word: &str) -> Result<Option<FileAction>, String> {
        let action = match word {
            "-print" => FileAction::Print('\n'),
            "-print0" => FileAction::Print('\0'),
            "-printf" => FileAction::Printf(self.format(word)?),
            "-ls" => FileAction::Ls,
            "-fprint" => self.print_to_file(word, |_| Ok(FileAction::Print('\n')))?,
            "-fprint0" => self.print_to_file(word, |_| Ok(FileAction::Print('\0')))?,
            "-fprintf" => self.print_to_file(word, |parser| Ok(FileAction::Printf(parser.format(word)?)))?,
            "-fls" => self.print_to_file(word, |_| Ok(FileAction::Ls))?,
            "-delete" => {
                self.options.depth_first = true;
                FileAction::Delete { id: self.next_id() }
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => self.command(word)?,
            "-prune" => return Ok(Some(FileAction::Prune)),
            "-quit" => return Ok(Some(FileAction::Quit)),
            _ => return Ok(None),
        };
        self.has_action = true;
        Ok(Some(action))
    }

    /// Takes a format, which may not end within a directive.
    fn format(&mut self, word: &str) -> Result<String, String> {
        let format = self.argument(word)?;
        match unfinished_directive(&format) {
            None => {
                self.warnings.extend(warnings(&format));
                Ok(format)
            }
            Some("%") => Err("find: error: % at end of format string\n".to_owned()),
            Some(_) => Err("find: error: the format directive `% ' is reserved for future use\n".to_owned()),
        }
    }

    fn next_id(&mut self) -> usize {
        self.last_id += 1;
        self.last_id
    }

    /// Parses a printing action, and the name of its output file.
    fn print_to_file(
        &mut self,
        primary: &str,
        action: impl FnOnce(&mut Self) -> Result<FileAction, String>,
    ) -> Result<FileAction, String> {
        let name = self.argument(primary)?;
        let action = Box::new(Expression::Action(action(self)?));
        let known = self.output_files.iter().position(|file| *file == name);
        let file = known.unwrap_or_else(|| {
            self.output_files.push(name);
            self.output_files.len() - 1
        });
        Ok(FileAction::ToFile { file, action })
    }

    /// Parses the words of a command until `;`, or until `+` after `{}`.
    fn command(&mut self, primary: &str) -> Result<FileAction, String> {
        let asks = primary.starts_with("-ok");
        let mut words: Vec<String> = Vec::new();
        let is_batch = loop {
            match self.take() {
                None => return Err(missing_argument(primary)),
                Some(";" | "\\;") => break false,
                Some("+") if !asks && words.last().is_some_and(|word| word == "{}") => break true,
                Some(word) => words.push(word.to_owned()),
            }
        };
        if words.is_empty() {
            return Err(missing_argument(primary));
        }
        self.executes = true;
        let in_directory = primary.ends_with("dir");
        Ok(FileAction::Execute(CommandAction { id: self.next_id(), words, is_batch, in_directory, asks }))
    }
}

fn missing_argument(primary: &str) -> String {
    format!("find: missing argument to `{primary}'\n")
}

fn unknown_predicate(word: &str) -> String {
    format!("find: unknown predicate `{word}'\n")
}
