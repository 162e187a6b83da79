//! Which scripts read their own standard input.
//!
//! This looks at the script's text, as far as it is literal, and errs towards not reading: a command that is made at
//! run time is not seen. Which command reads follows from its name and arguments: without a file to read, a filter
//! reads its input.

use std::collections::{BTreeMap, BTreeSet};

use bashkit::parser::{
    AssignmentValue, Command, CompoundCommand, FunctionDef, Parser, Redirect, RedirectKind, SimpleCommand, Word,
    WordPart,
};

/// How much of its standard input a script may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Demand {
    /// Nothing.
    Nothing,
    /// Records, with `read`.
    Records,
    /// All of it.
    All,
}

/// The names of the script's own standard input.
const OWN_INPUT: &[&str] = &["/dev/stdin", "/dev/fd/0"];

/// How deep `bash -c` and `eval` are followed.
const NESTING: usize = 4;

/// How much of its standard input a script with these commands may read. Those that are named like a tool do not
/// count, whatever bashkit has under that name.
pub(crate) fn demand(commands: &[Command], tools: &BTreeSet<&str>) -> Demand {
    demand_within(commands, tools, NESTING)
}

/// Whether one of these names is called where its standard input would be the script's.
pub(crate) fn calls_any(commands: &[Command], names: &BTreeSet<&str>) -> bool {
    let survey = survey(commands, names, NESTING);
    // Or behind a command that runs another, or in a text that is a script itself: rarely, and then nothing is lost but
    // that the program finds its input empty.
    !survey.called.is_disjoint(names)
}

fn demand_within(commands: &[Command], tools: &BTreeSet<&str>, nesting: usize) -> Demand {
    survey(commands, tools, nesting).demand
}

fn survey<'a>(commands: &'a [Command], tools: &'a BTreeSet<&'a str>, nesting: usize) -> Survey<'a> {
    let mut survey =
        Survey { demand: Demand::Nothing, functions: BTreeMap::new(), called: BTreeSet::new(), tools, nesting };
    survey.commands(commands);
    // A function reads what its caller could read, so it counts when it is called from such a place.
    let mut entered = BTreeSet::new();
    while let Some(name) = survey.called.iter().find(|name| !entered.contains(*name)).copied() {
        entered.insert(name);
        if let Some(function) = survey.functions.get(name) {
            survey.command(&function.body);
        }
    }
    survey
}

/// A walk over the commands whose standard input is the script's.
struct Survey<'a> {
    demand: Demand,
    functions: BTreeMap<&'a str, &'a FunctionDef>,
    called: BTreeSet<&'a str>,
    tools: &'a BTreeSet<&'a str>,
    nesting: usize,
}

impl<'a> Survey<'a> {
    fn commands(&mut self, commands: &'a [Command]) {
        commands.iter().for_each(|command| self.command(command));
    }

    fn command(&mut self, command: &'a Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            // All stages but the first read a pipe.
            Command::Pipeline(pipeline) => self.commands(&pipeline.commands[..pipeline.commands.len().min(1)]),
            Command::List(list) => {
                self.command(&list.first);
                list.rest.iter().for_each(|(_, command)| self.command(command));
            }
            Command::Compound(_, redirects) if redirects.iter().any(is_input) => {}
            Command::Compound(compound, _) => self.compound(compound),
            Command::Function(function) => {
                self.functions.insert(&function.name, function);
            }
        }
    }

    fn compound(&mut self, compound: &'a CompoundCommand) {
        match compound {
            CompoundCommand::If(command) => {
                self.commands(&command.condition);
                self.commands(&command.then_branch);
                for (condition, branch) in &command.elif_branches {
                    self.commands(condition);
                    self.commands(branch);
                }
                self.commands(command.else_branch.as_deref().unwrap_or_default());
            }
            CompoundCommand::For(command) => {
                self.words(command.words.as_deref().unwrap_or_default());
                self.commands(&command.body);
            }
            CompoundCommand::ArithmeticFor(command) => self.commands(&command.body),
            CompoundCommand::While(command) => {
                self.commands(&command.condition);
                self.commands(&command.body);
            }
            CompoundCommand::Until(command) => {
                self.commands(&command.condition);
                self.commands(&command.body);
            }
            CompoundCommand::Case(command) => {
                self.word(&command.word);
                command.cases.iter().for_each(|case| self.commands(&case.commands));
            }
            // Its menu reads lines by itself, not with `read`.
            CompoundCommand::Select(_) => self.demand = Demand::All,
            CompoundCommand::Subshell(commands) | CompoundCommand::BraceGroup(commands) => self.commands(commands),
            CompoundCommand::Time(command) => {
                if let Some(command) = &command.command {
                    self.command(command);
                }
            }
            CompoundCommand::Conditional(words) => self.words(words),
            CompoundCommand::Arithmetic(_) | CompoundCommand::Coproc(_) => {}
        }
    }

    fn simple(&mut self, simple: &'a SimpleCommand) {
        self.word(&simple.name);
        self.words(&simple.args);
        for assignment in &simple.assignments {
            match &assignment.value {
                AssignmentValue::Scalar(word) => self.word(word),
                AssignmentValue::Array(words) => self.words(words),
            }
        }
        if simple.redirects.iter().any(is_input) {
            return;
        }
        let Some(name) = literal(&simple.name) else { return };
        let arguments: Vec<Option<&str>> = simple.args.iter().map(literal).collect();
        self.called.insert(name);
        self.demand = self.demand.max(self.of_command(name, &arguments));
    }

    /// Commands inside of words: `$(cat)` reads what the command around it would.
    fn words(&mut self, words: &'a [Word]) {
        words.iter().for_each(|word| self.word(word));
    }

    fn word(&mut self, word: &'a Word) {
        for part in &word.parts {
            match part {
                WordPart::CommandSubstitution(commands) => self.commands(commands),
                WordPart::ProcessSubstitution { commands, is_input: true } => self.commands(commands),
                _ => {}
            }
        }
    }

    fn of_command(&self, name: &str, arguments: &[Option<&'a str>]) -> Demand {
        let script = match name {
            "eval" => arguments.iter().copied().collect::<Option<Vec<_>>>().map(|words| words.join(" ")),
            "bash" | "sh" => match arguments.iter().position(|word| *word == Some("-c")) {
                Some(at) => arguments.get(at + 1).copied().flatten().map(str::to_owned),
                None => return of_filter(&Filter { name: "bash", program: 0, valued: "oO" }, arguments),
            },
            _ => return of_command(name, arguments, self.tools),
        };
        match script.filter(|_| self.nesting > 0).map(|script| Parser::new(&script).parse()) {
            Some(Ok(script)) => demand_within(&script.commands, self.tools, self.nesting - 1),
            _ => Demand::Nothing,
        }
    }
}

/// A word's text, if it is known before the script runs.
fn literal(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [WordPart::Literal(text)] => Some(text),
        [] => Some(""),
        _ => None,
    }
}

/// Whether a command reads something else instead. What it reads from `/dev/stdin` is the script's own.
fn is_input(redirect: &Redirect) -> bool {
    use RedirectKind::{DupInput, HereDoc, HereDocStrip, HereString, Input, ReadWrite};
    let own = || literal(&redirect.target).is_some_and(|target| OWN_INPUT.contains(&target));
    redirect.fd.unwrap_or(0) == 0
        && match redirect.kind {
            Input | ReadWrite => !own(),
            kind => matches!(kind, HereDoc | HereDocStrip | HereString | DupInput),
        }
}

/// A command that reads its standard input when it is given no file.
struct Filter {
    name: &'static str,
    /// How many words stand before the files: an expression, a program.
    program: usize,
    /// Its short options that take a value.
    valued: &'static str,
}

const fn filter(name: &'static str, program: usize, valued: &'static str) -> Filter {
    Filter { name, program, valued }
}

/// By name: every command of every script is looked up.
#[rustfmt::skip]
const FILTERS: &[Filter] = &[
    filter("awk", 1, "Fv"), filter("b2sum", 0, "l"), filter("base32", 0, "w"), filter("base64", 0, "w"),
    filter("basenc", 0, "w"), filter("bc", 0, ""), filter("bunzip2", 0, ""), filter("bzcat", 0, ""),
    filter("bzip2", 0, ""), filter("cat", 0, ""), filter("cksum", 0, "a"), filter("column", 0, "sotcNRHCE"),
    filter("csv", 1, ""), filter("cut", 0, "bcdf"), filter("egrep", 1, "mABC"), filter("envsubst", 9, ""),
    filter("expand", 0, "t"), filter("factor", 0, ""), filter("fgrep", 1, "mABC"), filter("fmt", 0, "wgp"),
    filter("fold", 0, "w"), filter("grep", 1, "mABCdD"), filter("gunzip", 0, "S"), filter("gzip", 0, "S"),
    filter("head", 0, "nc"), filter("hexdump", 0, "ensf"), filter("iconv", 0, "fto"), filter("jq", 1, "LC"),
    filter("json", 1, ""), filter("less", 0, ""), filter("md5sum", 0, ""), filter("more", 0, ""),
    filter("nl", 0, "bdfhilnsvw"), filter("numfmt", 0, "d"), filter("od", 0, "AjNtSw"), filter("parallel", 9, ""),
    filter("paste", 0, "d"), filter("patch", 0, "pidoFr"), filter("pr", 0, "ehilNnosSwW"), filter("rev", 0, ""),
    filter("sed", 1, "lE"), filter("sha1sum", 0, ""), filter("sha224sum", 0, ""), filter("sha256sum", 0, ""),
    filter("sha384sum", 0, ""), filter("sha512sum", 0, ""), filter("shuf", 0, "nior"), filter("sort", 0, "kSTot"),
    filter("split", 0, "abClnt"), filter("strings", 0, "nte"), filter("tac", 0, "s"), filter("tail", 0, "nc"),
    filter("tee", 9, ""), filter("tomlq", 1, ""), filter("tr", 9, ""), filter("tsort", 0, ""),
    filter("unexpand", 0, "t"), filter("uniq", 0, "fsw"), filter("wc", 0, ""), filter("xargs", 9, ""),
    filter("xxd", 0, "clgos"), filter("yq", 1, ""), filter("zcat", 0, ""),
];

fn filter_named(name: &str) -> Option<&'static Filter> {
    FILTERS.binary_search_by_key(&name, |filter| filter.name).ok().map(|at| &FILTERS[at])
}

/// Long options that take the next word as their value, of any filter.
#[rustfmt::skip]
const VALUED: &[&str] = &[
    "--after-context", "--before-context", "--bytes", "--context", "--delimiter", "--field-separator", "--fields",
    "--indent", "--key", "--lines", "--max-count", "--output-delimiter", "--separator", "--tab", "--table-columns",
    "--width", "--wrap",
];

/// Options of `jq` that take a name and a value.
const NAMED: &[&str] = &["--arg", "--argjson", "--rawfile", "--slurpfile"];

fn of_command(name: &str, arguments: &[Option<&str>], tools: &BTreeSet<&str>) -> Demand {
    match name {
        tool if tools.contains(tool) => Demand::Nothing,
        "read" | "mapfile" | "readarray" => of_reader(name, arguments),
        "builtin" | "command" | "env" | "exec" | "nice" | "nohup" | "stdbuf" | "timeout" => {
            of_wrapped(arguments, tools)
        }
        // These read it where they are told to: `diff - file`.
        "cmp" | "comm" | "diff" | "join" | "tar" if names_input(arguments) => Demand::All,
        _ => filter_named(name).map_or(Demand::Nothing, |filter| of_filter(filter, arguments)),
    }
}

/// A command that runs the command in its arguments: the first word that is known to read, or to be a tool.
fn of_wrapped(arguments: &[Option<&str>], tools: &BTreeSet<&str>) -> Demand {
    (0..arguments.len())
        .find_map(|at| {
            let name = arguments[at]?;
            let known = tools.contains(name) || filter_named(name).is_some() || matches!(name, "read" | "mapfile");
            known.then(|| of_command(name, &arguments[at + 1..], tools))
        })
        .unwrap_or(Demand::Nothing)
}

/// `read` and `mapfile`: unless they are told of another descriptor.
fn of_reader(name: &str, arguments: &[Option<&str>]) -> Demand {
    let elsewhere = arguments.iter().flatten().any(|word| {
        word.strip_prefix('-').and_then(|flags| flags.split_once('u')).is_some_and(|(before, _)| !before.contains('-'))
    });
    match name {
        _ if elsewhere => Demand::Nothing,
        "read" => Demand::Records,
        _ => Demand::All,
    }
}

fn names_input(arguments: &[Option<&str>]) -> bool {
    arguments.iter().flatten().any(|word| *word == "-" || OWN_INPUT.contains(word))
}

fn of_filter(filter: &Filter, arguments: &[Option<&str>]) -> Demand {
    if names_input(arguments) {
        return Demand::All;
    }
    let (mut operands, mut program) = (0, filter.program);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word {
            // Made at run time: most likely the name of a file.
            None => operands += 1,
            Some("--help" | "--version") => return Demand::Nothing,
            Some("--null-input" | "--recursive" | "--echo") => return Demand::Nothing,
            Some(option) if reads_elsewhere(filter.name, option) => return Demand::Nothing,
            Some(program) if filter.name == "awk" && operands == 0 && only_begins(program) => return Demand::Nothing,
            // An expression in an option, or a file of them, stands for the operand.
            Some("--expression" | "--file" | "--regexp" | "--from-file") if program == 1 => {
                program = 0;
                words.next();
            }
            Some(option) if program == 1 && is_short(option) && option.ends_with(['e', 'f']) => {
                program = 0;
                words.next();
            }
            Some(option) if NAMED.contains(option) => {
                words.nth(1);
            }
            Some(option) if VALUED.contains(option) => {
                words.next();
            }
            Some(option) if option.starts_with("--") => {}
            Some(option) if option.starts_with('-') => {
                // `-d ,` has its value in the next word, `-d,` in the same.
                let value = option[1..].find(|flag| filter.valued.contains(flag));
                if value.is_some_and(|at| at + 2 == option.len()) {
                    words.next();
                }
            }
            Some(_) => operands += 1,
        }
    }
    if operands > program { Demand::Nothing } else { Demand::All }
}

/// Whether these are short options.
fn is_short(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && !word.starts_with("--")
}

/// Whether a short option, or one in a cluster of them, has the filter read something else than its standard input.
fn reads_elsewhere(filter: &str, word: &str) -> bool {
    let flags: &[char] = match filter {
        "jq" | "yq" => &['n'],
        "grep" | "egrep" | "fgrep" => &['r', 'R'],
        "shuf" => &['e', 'i'],
        _ => &[],
    };
    is_short(word) && word.contains(flags)
}

/// Whether an `awk` program is one `BEGIN` block and nothing else: then it reads nothing.
fn only_begins(program: &str) -> bool {
    let Some(block) = program.trim().strip_prefix("BEGIN") else { return false };
    let mut depth = 0_usize;
    for (at, character) in block.trim().char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1 == block.trim().len();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(script: &str) -> Demand {
        demand(&Parser::new(script).parse().expect("the script parses").commands, &BTreeSet::from(["csv"]))
    }

    #[test]
    fn filters_are_in_order() {
        assert!(FILTERS.is_sorted_by_key(|filter| filter.name));
    }

    #[test]
    fn input_of_their_own_is_enough() {
        for script in [
            "echo hi; ls | cat; cat file; cat <<<x; jq . data.json; sort -k 2 \"$f\"",
            "while read -r line; do cat; done < file",
            "for f in *; do wc -l \"$f\"; done | sort -n",
            "f() { cat; }; echo x | f; read -u 3 x; mapfile -t a < f",
            "stats describe --values '[1]' | jq .mean; grep -rn x; jq -nr 1; sed -ne p f; head -n 5 f; grep -m 1 x f",
            "csv parse --text x; timeout 5 csv write; csv parse | jq .",
            "bash -c 'echo hi'; bash script.sh; awk 'BEGIN { if (1) { print 1 } }'; shuf -i 1-3",
        ] {
            assert_eq!(of(script), Demand::Nothing, "{script}");
        }
    }

    #[test]
    fn programs_are_seen_where_the_input_is_the_script_s() {
        let calls = |script: &str| {
            let script = Parser::new(script).parse().expect("the script parses");
            calls_any(&script.commands, &BTreeSet::from(["rg"]))
        };
        assert!(
            calls("rg x") && calls("x=$(rg x | sort)") && calls("f() { rg x; }; f") && calls("if rg x; then :; fi")
        );
        assert!(!calls("ls | rg x; rg x < f; while read l; do rg x; done < f; f() { rg x; }; echo rg"));
    }

    #[test]
    fn what_reads_is_seen() {
        for script in [
            "cat",
            "x=$(cat)",
            "head -n 5",
            "jq .a",
            "jq --arg a 1 .a",
            "grep x | wc",
            "cut -d , -f 1",
            "sed -e s/a/b/",
            "sed -ne p",
            "f() { cat; }; f",
            "timeout 5 cat",
            "bash -c 'tr a b'",
            "mapfile -t lines",
            "diff - file",
            "(sort -t: -k1)",
            "if true; then tee out; fi",
            "select x in a b; do break; done",
            "xargs -n 1 echo",
            "awk -F, '{print $1}'",
            "awk 'BEGIN { x = 1 } { print }'",
            "cat < /dev/stdin",
            "diff /dev/fd/0 file",
        ] {
            assert_eq!(of(script), Demand::All, "{script}");
        }
        for script in [
            "read x",
            "while IFS= read -r line; do echo $line; done",
            "[ -t 0 ] || read -p name -r x",
            "while read x; do :; done < /dev/stdin",
        ] {
            assert_eq!(of(script), Demand::Records, "{script}");
        }
    }
}
