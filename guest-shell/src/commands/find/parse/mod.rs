//! Command line of `find`: options, starting points, and GNU's grammar of expressions.
//!
//! | module | contents |
//! | --- | --- |
//! | [`primary`] | tests, options and actions |
//! | [`argument`] | arguments of tests: numbers, sizes, modes |
//! | [`regex`] | patterns of `-regex` |
//!
//! Precedence, from high to low: `( )`, `!`, `-a` or nothing, `-o`, `,`. Error texts follow GNU findutils 4.9 in the C
//! locale.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

pub(super) mod argument;
mod primary;
pub(super) mod regex;

use self::regex::RegexSyntax;
use super::expression::{Expression, FileAction};

/// Links that are followed: none with `-P`, starting points with `-H`, all with `-L` and `-follow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum LinkFollowing {
    #[default]
    Never,
    StartingPoints,
    Always,
}

/// Options of one call, which hold for the whole expression.
#[derive(Debug, Default)]
pub(super) struct FindOptions {
    pub(super) max_depth: Option<usize>,
    pub(super) min_depth: usize,
    /// True if a directory is visited after its contents.
    pub(super) depth_first: bool,
    pub(super) following: LinkFollowing,
    /// Ages are measured from the end of today.
    pub(super) day_start: bool,
}

/// Parsed command line of `find`.
#[derive(Debug)]
pub(super) struct FindCommandLine {
    pub(super) starting_points: Vec<String>,
    pub(super) expression: Expression,
    pub(super) options: FindOptions,
    /// True if the expression runs commands.
    pub(super) executes: bool,
    /// Files of `-fprint` and the like, without duplicates.
    pub(super) output_files: Vec<String>,
    /// Warnings about formats, which precede all output.
    pub(super) warnings: Vec<String>,
}

/// User that owns every file, for `-user` and `-group`.
pub(super) struct FileOwner<'a> {
    pub(super) name: &'a str,
    pub(super) uid: u64,
    pub(super) gid: u64,
}

/// Words of an expression, and facts about it. Errors are messages that end with a line break.
struct ExpressionParser<'a> {
    words: &'a [String],
    at: usize,
    options: FindOptions,
    regex_syntax: RegexSyntax,
    /// True if an action prints, runs or deletes something, so that `-print` is not implied.
    has_action: bool,
    executes: bool,
    last_id: usize,
    owner: &'a FileOwner<'a>,
    output_files: Vec<String>,
    /// Warnings about formats.
    warnings: Vec<String>,
}

/// Reads a command line. The error is a message.
pub(super) fn parse(words: &[String], owner: &FileOwner<'_>) -> Result<FindCommandLine, String> {
    let mut options = FindOptions::default();
    let words = take_link_options(words, &mut options)?;
    let points = words.iter().take_while(|word| !begins_expression(word)).count();
    let (points, words) = words.split_at(points);
    let starting_points = if points.is_empty() { vec![".".to_owned()] } else { points.to_vec() };
    let mut parser = ExpressionParser {
        words,
        at: 0,
        options,
        regex_syntax: RegexSyntax::Emacs,
        has_action: false,
        executes: false,
        last_id: 0,
        owner,
        output_files: Vec::new(),
        warnings: Vec::new(),
    };
    let print = Expression::Action(FileAction::Print('\n'));
    let expression = match parser.expression()? {
        None => print,
        Some(expression) if parser.has_action => expression,
        Some(expression) => Expression::and(expression, print),
    };
    let ExpressionParser { options, executes, output_files, warnings, .. } = parser;
    Ok(FindCommandLine { starting_points, expression, options, executes, output_files, warnings })
}

/// Consumes the options before the starting points, and returns the remaining words.
fn take_link_options<'w>(words: &'w [String], options: &mut FindOptions) -> Result<&'w [String], String> {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "-P" => options.following = LinkFollowing::Never,
            "-H" => options.following = LinkFollowing::StartingPoints,
            "-L" => options.following = LinkFollowing::Always,
            // The next word names debugging messages.
            "-D" => at += 1,
            word if word.starts_with("-O") && word[2..].chars().all(|letter| letter.is_ascii_digit()) => {}
            _ => break,
        }
        at += 1;
    }
    words.get(at..).ok_or_else(|| {
        "find: Missing argument after the -D option.\nTry 'find --help' for more information.\n".to_owned()
    })
}

fn begins_expression(word: &str) -> bool {
    (word.starts_with('-') && word.len() > 1) || matches!(word, "(" | ")" | "!" | ",")
}

fn invalid_expression(reason: &str) -> String {
    format!("find: invalid expression; {reason}\n")
}

impl ExpressionParser<'_> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn take(&mut self) -> Option<&str> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    fn ends_operand(&self) -> bool {
        matches!(self.peek(), None | Some(")" | "," | "-o" | "-or"))
    }

    /// Reads all words.
    fn expression(&mut self) -> Result<Option<Expression>, String> {
        if self.words.is_empty() {
            return Ok(None);
        }
        let expression = self.comma_list()?;
        match self.peek() {
            None => Ok(Some(expression)),
            Some(")") => Err(invalid_expression("you have too many ')'")),
            Some(word) => Err(format!("find: paths must precede expression: `{word}'\n")),
        }
    }

    fn comma_list(&mut self) -> Result<Expression, String> {
        let mut left = self.disjunction()?;
        while self.peek() == Some(",") {
            self.at += 1;
            if self.ends_operand() {
                return Err(nothing_behind(","));
            }
            left = Expression::Comma(Box::new(left), Box::new(self.disjunction()?));
        }
        Ok(left)
    }

    fn disjunction(&mut self) -> Result<Expression, String> {
        let mut left = self.conjunction()?;
        while let Some(operator @ ("-o" | "-or")) = self.peek() {
            let operator = operator.to_owned();
            self.take_operator(&operator)?;
            left = Expression::Or(Box::new(left), Box::new(self.conjunction()?));
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression, String> {
        let mut left = self.negation()?;
        loop {
            match self.peek() {
                Some(operator @ ("-a" | "-and")) => {
                    let operator = operator.to_owned();
                    self.take_operator(&operator)?;
                }
                None | Some(")" | "," | "-o" | "-or") => return Ok(left),
                Some(_) => {}
            }
            left = Expression::and(left, self.negation()?);
        }
    }

    /// Consumes an operator, which an operand must follow.
    fn take_operator(&mut self, operator: &str) -> Result<(), String> {
        self.at += 1;
        if self.ends_operand() || matches!(self.peek(), Some("-a" | "-and")) {
            return Err(nothing_behind(operator));
        }
        Ok(())
    }

    fn negation(&mut self) -> Result<Expression, String> {
        let Some(word) = self.take().map(str::to_owned) else {
            return Err("find: invalid expression\n".to_owned());
        };
        match word.as_str() {
            "!" | "-not" if self.ends_operand() => Err(format!("find: expected an expression after '{word}'\n")),
            "!" | "-not" => Ok(Expression::Not(Box::new(self.negation()?))),
            "(" => self.parenthesized(),
            ")" => Err(invalid_expression("you have too many ')'")),
            "-o" | "-or" | "-a" | "-and" | "," => {
                Err(invalid_expression(&format!("you have used a binary operator '{word}' with nothing before it.")))
            }
            _ => self.primary(&word),
        }
    }

    fn parenthesized(&mut self) -> Result<Expression, String> {
        if self.peek() == Some(")") {
            return Err(invalid_expression("empty parentheses are not allowed."));
        }
        let inner = self.comma_list()?;
        match self.take() {
            Some(")") => Ok(inner),
            _ => Err(invalid_expression("I was expecting to find a ')' somewhere but did not see one.")),
        }
    }
}

fn nothing_behind(operator: &str) -> String {
    invalid_expression(&format!("you have used a binary operator '{operator}' with nothing after it."))
}
