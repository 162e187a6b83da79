//! Builtins `mapfile` and `readarray`, which read records of standard input into an array.
//!
//! `-u FD` becomes a redirection before the builtin runs, so that it reads descriptor 0 like any other command.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;
use bashkit::builtins::{Builtin, BuiltinSideEffect, Context};
use bashkit::interpreter::is_valid_var_name;
use bashkit::{ExecResult, Result};

const USAGE: &str = "mapfile: usage: mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]";

/// Number of records between two calls of the command of `-C`, without `-c`.
const DEFAULT_QUANTUM: usize = 5_000;

/// Arrays of the interpreter, which are not read into.
const CALL_STACK_ARRAYS: [&str; 3] = ["FUNCNAME", "BASH_SOURCE", "BASH_LINENO"];

/// Builtin `mapfile` of the shell.
pub(crate) struct Mapfile;

/// Arguments of a call.
struct Request {
    /// `-d`: the character that ends a record.
    delimiter: char,
    /// `-n`; 0 without a limit.
    count: usize,
    /// `-O`: the index of the first record. Elements of the array remain then.
    origin: Option<usize>,
    /// `-s`: number of records that are not taken.
    skipped: usize,
    /// `-t`: records end before their delimiters.
    trims: bool,
    array: String,
    /// `-C`: the command that is run with the index and the text of a record, now and then.
    callback: Option<String>,
    /// `-c`: number of records between two calls of the command.
    quantum: usize,
}

/// Message about a wrong call, and its status.
type Refusal = (String, i32);

fn parse_count(option: char, text: &str) -> std::result::Result<usize, Refusal> {
    let what = match option {
        'O' => "array origin",
        'c' => "callback quantum",
        _ => "line count",
    };
    let count = text.trim().parse::<usize>().ok().filter(|count| option != 'c' || *count > 0);
    count.ok_or_else(|| (format!("{text}: invalid {what}"), 1))
}

impl Request {
    fn parse(words: &[String]) -> std::result::Result<Self, Refusal> {
        let mut request = Self {
            delimiter: '\n',
            count: 0,
            origin: None,
            skipped: 0,
            trims: false,
            array: "MAPFILE".to_string(),
            callback: None,
            quantum: DEFAULT_QUANTUM,
        };
        let mut words = words.iter();
        let mut array = None;
        while let Some(word) = words.next() {
            if word == "--" {
                array = words.next();
                break;
            }
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                array = Some(word);
                break;
            };
            request.set_options(letters, &mut words)?;
        }
        match array {
            Some(name) if name.is_empty() => return Err(("empty array variable name".to_string(), 1)),
            Some(name) if !is_valid_var_name(name) => {
                return Err((format!("`{name}': not a valid identifier"), 1));
            }
            Some(name) => request.array.clone_from(name),
            None => {}
        }
        Ok(request)
    }

    /// Sets the options of a word, the last of which may take its argument from the words behind it.
    fn set_options<'a>(
        &mut self,
        letters: &str,
        behind: &mut impl Iterator<Item = &'a String>,
    ) -> std::result::Result<(), Refusal> {
        let mut characters = letters.chars();
        while let Some(option) = characters.next() {
            match option {
                't' => self.trims = true,
                'd' | 'n' | 'O' | 's' | 'u' | 'C' | 'c' => {
                    let attached = Some(characters.as_str()).filter(|attached| !attached.is_empty());
                    let value = attached.or_else(|| behind.next().map(String::as_str));
                    let missing = || (format!("-{option}: option requires an argument\n{USAGE}"), 2);
                    return self.set(option, value.ok_or_else(missing)?);
                }
                _ => return Err((format!("-{option}: invalid option\n{USAGE}"), 2)),
            }
        }
        Ok(())
    }

    fn set(&mut self, option: char, value: &str) -> std::result::Result<(), Refusal> {
        match option {
            'd' => self.delimiter = value.chars().next().unwrap_or('\0'),
            'n' => self.count = parse_count(option, value)?,
            'O' => self.origin = Some(parse_count(option, value)?),
            's' => self.skipped = parse_count(option, value)?,
            'c' => self.quantum = parse_count(option, value)?,
            'C' => self.callback = Some(value.to_string()),
            // Another descriptor is a redirection by now.
            _ if value.trim() == "0" => {}
            _ => return Err((format!("{value}: invalid file descriptor specification"), 1)),
        }
        Ok(())
    }

    /// Returns the elements for the records of an input.
    fn elements(&self, input: &str) -> Vec<String> {
        let records = input.split_inclusive(self.delimiter).skip(self.skipped);
        let taken = records.take(if self.count == 0 { usize::MAX } else { self.count });
        let elements = taken.map(|record| {
            let value = if self.trims { record.strip_suffix(self.delimiter).unwrap_or(record) } else { record };
            // An element is a text of C: a null byte ends it.
            value.split('\0').next().unwrap_or_default().to_string()
        });
        elements.collect()
    }
}

/// Reads the records that are skipped and taken, and leaves the others to the next command. Without `-n`, reads all.
async fn read_input(ctx: &Context<'_>, request: &Request) -> Result<String> {
    let delimiter = u8::try_from(request.delimiter).ok().filter(u8::is_ascii);
    let (Some(delimiter), 1..) = (delimiter, request.count) else {
        return Ok(ctx.stdin_to_end().await?.to_string());
    };
    let mut input = Vec::new();
    for _ in 0..request.skipped.saturating_add(request.count) {
        let record = ctx.read_stdin_record(delimiter).await?;
        if record.is_empty() {
            break;
        }
        input.extend(record);
    }
    Ok(bashkit::text_of(&input).into_owned())
}

#[async_trait]
impl Builtin for Mapfile {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        let request = match Request::parse(ctx.args) {
            Ok(request) => request,
            Err((message, status)) => return Ok(ExecResult::err(format!("bash: mapfile: {message}\n"), status)),
        };
        if CALL_STACK_ARRAYS.contains(&request.array.as_str()) {
            return Ok(ExecResult::err(String::new(), 1));
        }
        let input = read_input(&ctx, &request).await?;
        let elements = request.elements(&input);
        let mut result = ExecResult::ok(String::new());
        result.side_effects.push(BuiltinSideEffect::FillArray {
            name: request.array,
            origin: request.origin,
            elements,
            callback: request.callback.map(|command| (command, request.quantum)),
        });
        Ok(result)
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn records_are_read_into_the_array() {
        for (script, stdout) in [
            ("mapfile < <(printf 'a\\nb'); declare -p MAPFILE", "declare -a MAPFILE=([0]=$'a\\n' [1]=\"b\")\n"),
            ("readarray -t x <<< $'a\\nb'; echo \"${x[*]}\"", "a b\n"),
            ("printf 'a,b,c' | { mapfile -td, x; echo \"${x[*]}\"; }", "a b c\n"),
            ("x=(1 2 3); mapfile -t -O 1 x <<< b; echo \"${x[*]}\"", "1 b 3\n"),
            ("printf '1\\n2\\n3\\n4\\n' | { mapfile -ts1 -n 2 x; cat; echo \"${x[*]}\"; }", "4\n2 3\n"),
            ("mapfile -d '' -t x < <(printf 'a\\0b\\0'); echo \"${#x[@]} ${x[1]}\"", "2 b\n"),
            ("f() { echo \"$1:$2\"; }; mapfile -t -c 2 -C f x <<< $'a\\nb\\nc\\nd'", "1:b\n3:d\n"),
            ("exec 3<<< $'a\\nb'; mapfile -tu 3 x; echo \"${x[*]}\"", "a b\n"),
        ] {
            assert_eq!(&*run(script).await.stdout, stdout, "{script}");
        }
    }

    #[tokio::test]
    async fn wrong_calls_of_mapfile_are_refused_in_the_words_of_bash() {
        for (script, message, status) in [
            ("mapfile -n x", "bash: line 1: mapfile: x: invalid line count\n", 1),
            ("mapfile -c 0", "bash: line 1: mapfile: 0: invalid callback quantum\n", 1),
            ("mapfile -O x", "bash: line 1: mapfile: x: invalid array origin\n", 1),
            ("mapfile 1x", "bash: line 1: mapfile: `1x': not a valid identifier\n", 1),
            ("mapfile ''", "bash: line 1: mapfile: empty array variable name\n", 1),
            ("mapfile FUNCNAME", "", 1),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stderr, result.exit_code), (message, status), "{script}");
        }
        for script in ["mapfile -d", "mapfile -y"] {
            let result = run(script).await;
            assert!(result.stderr.contains(super::USAGE), "{}", result.stderr);
            assert_eq!(result.exit_code, 2);
        }
    }
}
