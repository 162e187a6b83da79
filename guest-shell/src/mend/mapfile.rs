//! `mapfile` and `readarray`.
//!
//! bashkit reads descriptor 0 only, leaves the array unset when nothing is read, takes an associative array, and ends
//! with status 2 where bash has 1. bash ("Bash Builtin Commands", `mapfile`): `-u FD` reads that descriptor; the array is
//! cleared before reading; an invalid option argument and an associative array are status 1.

use bashkit::{Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, async_trait};

use super::{ORIGINALS, line, original, quoted};

pub(super) struct Mapfile(pub(super) &'static str);

/// What is asked.
struct Request {
    /// All words but `-u FD`.
    words: Vec<String>,
    descriptor: Option<u32>,
    array: String,
}

/// The array that is meant when none is named.
const ARRAY: &str = "MAPFILE";

fn parse(args: &[String]) -> std::result::Result<Request, String> {
    let mut request = Request { words: Vec::new(), descriptor: None, array: ARRAY.to_owned() };
    let mut args = args.iter();
    while let Some(word) = args.next() {
        let option = word.strip_prefix('-').filter(|rest| !rest.is_empty() && *rest != "-");
        // Options without an argument may stand before one with its argument: `-tn1`.
        let Some(at) = option.and_then(|option| option.find(|option: char| option != 't')) else {
            if option.is_none() && word != "--" {
                request.array = word.clone();
            }
            request.words.push(word.clone());
            continue;
        };
        let option = &word[at + 1..];
        let argument = match option.len() {
            1 => args.next().cloned(),
            _ => option.get(1..).map(str::to_owned),
        };
        let Some(argument) = argument else {
            request.words.push(word.clone());
            continue;
        };
        match &option[..option.chars().next().map_or(0, char::len_utf8)] {
            "u" => match argument.parse() {
                Ok(descriptor) => request.descriptor = Some(descriptor),
                Err(_) => return Err(format!("{argument}: invalid file descriptor specification")),
            },
            "O" if argument.parse::<u32>().is_err() => return Err(format!("{argument}: invalid array origin")),
            letter => request.words.extend([format!("-{}{letter}", &word[1..=at]), argument]),
        }
    }
    Ok(request)
}

#[async_trait]
impl Builtin for Mapfile {
    async fn execute(&self, context: BuiltinContext<'_>) -> Result<ExecResult> {
        // Reached only when there is no plan: the words are wrong.
        let message = parse(context.args).err().unwrap_or_default();
        Ok(ExecResult::err(format!("{}: {message}\n", self.0), 1))
    }

    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let Ok(request) = parse(context.args) else { return Ok(None) };
        let name = &request.array;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            return Ok(Some(ExecutionPlan::Batch { commands: vec![original(self.0, request.words)] }));
        }
        let words: String = request.words.iter().map(|word| format!(" {}", quoted(word))).collect();
        let from = request.descriptor.map(|descriptor| format!(" <&{descriptor}")).unwrap_or_default();
        let command = self.0;
        let text = format!(
            r#"if [[ $(declare -p {name} 2>/dev/null) == "declare -A"* ]]; then echo "{command}: {name}: not an indexed array" >&2; false; else {ORIGINALS}/{command}{words}{from} && {{ [[ -v {name}[@] ]] || {name}=(); }}; fi"#
        );
        Ok(Some(ExecutionPlan::Batch { commands: vec![line(text)] }))
    }
}
