//! Parsers of command lines in the manner of the C library's `getopt_long`.

use bashkit::ExecResult;
use bashkit::builtins::arg_parser::{self, OptArg, ParsedOpt};

/// Options that all of GNU's commands have. A command answers them before its line is parsed; here they take part in
/// what an abbreviation may mean.
const COMMON: [(&str, OptArg, char); 2] = [("help", OptArg::No, '\u{1}'), ("version", OptArg::No, '\u{2}')];

/// Parses a command line: the options that `short` (`ab:c::`) and `long` describe, and the operands, which may stand
/// between options if `permute`. The error is the result of the command, with this status.
pub(crate) fn getopt_long(
    command: &str,
    words: &[String],
    short: &str,
    long: &[(&str, OptArg, char)],
    permute: bool,
    status: i32,
) -> Result<(Vec<ParsedOpt>, Vec<String>), ExecResult> {
    let mut all = long.to_vec();
    all.extend(COMMON.iter().filter(|(name, ..)| !long.iter().any(|(known, ..)| known == name)));
    let parsed = arg_parser::gnu_getopt(command, words, short, &all, permute, status)?;
    let given = |key: char| parsed.0.iter().any(|option| option.key == key);
    match COMMON.iter().find(|(_, _, key)| given(*key)) {
        None => Ok(parsed),
        // The command has not answered it, since it was abbreviated.
        Some((name, ..)) => {
            Err(ExecResult::err(format!("{command}: option '--{name}' is not abbreviated here\n"), status))
        }
    }
}

/// [`getopt_long`] with GNU's hint behind a mistake.
pub(crate) fn gnu_getopt(
    command: &str,
    words: &[String],
    short: &str,
    long: &[(&str, OptArg, char)],
    permute: bool,
    status: i32,
) -> Result<(Vec<ParsedOpt>, Vec<String>), ExecResult> {
    getopt_long(command, words, short, long, permute, status).map_err(|refusal| {
        let message = format!("{}Try '{command} --help' for more information.\n", &*refusal.stderr);
        ExecResult::err(message, status)
    })
}

/// Words that an option takes, and their meanings. Those with one meaning stand together.
pub(crate) type OptionWords<T> = [(&'static str, T)];

/// Returns the meaning of the word of an option, which may be abbreviated. The error is GNU's message, without the name
/// of the command and without its hint.
pub(crate) fn option_word<T: Copy + PartialEq>(option: &str, word: &str, words: &OptionWords<T>) -> Result<T, String> {
    if let Some((_, meaning)) = words.iter().find(|(name, _)| *name == word) {
        return Ok(*meaning);
    }
    let mut matching = words.iter().filter(|(name, _)| name.starts_with(word)).map(|(_, meaning)| *meaning);
    let fault = match matching.next() {
        None => "invalid",
        Some(first) if matching.all(|other| other == first) => return Ok(first),
        Some(_) => "ambiguous",
    };
    let mut message = format!("{fault} argument ‘{word}’ for ‘{option}’\nValid arguments are:");
    for synonyms in words.chunk_by(|(_, one), (_, other)| one == other) {
        let names: Vec<String> = synonyms.iter().map(|(name, _)| format!("‘{name}’")).collect();
        message += &format!("\n  - {}", names.join(", "));
    }
    Err(message)
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn abbreviation_of_an_option_and_of_a_common_one_is_ambiguous() {
        for (script, message) in [
            ("head --ver", "head: option '--ver' is ambiguous; possibilities: '--verbose' '--version'\n"),
            ("join --he a b", "join: option '--he' is ambiguous; possibilities: '--header' '--help'\n"),
            ("xargs --ver", "xargs: option '--ver' is ambiguous; possibilities: '--verbose' '--version'\n"),
            ("sort --h", "sort: option '--h' is ambiguous; possibilities: '--human-numeric-sort' '--help'\n"),
        ] {
            let result = run(script).await;
            let first = result.stderr.text_lossy().split_inclusive('\n').next().unwrap_or_default().to_owned();
            assert_eq!((first.as_str(), result.exit_code == 0), (message, false), "{script}");
        }
        assert_eq!(&*run("printf 'a\\n' | head --verb").await.stdout, "==> standard input <==\na\n");
    }

    #[tokio::test]
    async fn word_of_an_option_is_abbreviated_checked_or_absent() {
        for (script, output) in [
            ("printf 'b\\na\\n' | sort --check 2>&1; echo $?", "sort: -:2: disorder: a\n1\n"),
            ("printf 'b\\na\\n' | sort --check=q; echo $?", "1\n"),
            ("sort --check= < /dev/null 2>&1 | head -n 1", "sort: ambiguous argument ‘’ for ‘--check’\n"),
            ("sort --sort=x < /dev/null 2> /dev/null; echo $?", "1\n"),
            ("> f; cp --preserve f g; cp --preserve=mo,time f h; ls", "f\ng\nh\n"),
            ("> f; cp --preserve= f g 2>&1 | head -n 1", "cp: ambiguous argument ‘’ for ‘--preserve’\n"),
            ("> f; > g; cp --backup f g; cp --backup=num f g; ls", "f\ng\ng.~1~\ng~\n"),
            ("> f; rm --interactive=nev f; ls", ""),
            ("> f; rm --no-p f 2>&1; ls", "rm: you may not abbreviate the --no-preserve-root option\nf\n"),
            ("date -u -d @0 --iso-8601; date -u -d @0 --iso-8601=; echo $?", "1970-01-01\n1\n"),
        ] {
            assert_eq!(&*run(&format!("mkdir /o; cd /o; {script}")).await.stdout, output, "{script}");
        }
    }
}
