//! `--secret`: sources of the values of secrets. Values never come from the command line itself, which others can see.
//!
//! Values are read before anything else runs. From then on this process leaves no core dump and can be read by no
//! debugger of its user, and the variables that held values are gone from its environment, so that no program that it
//! starts has them.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, thread};

use tollhouse::tool::Secrets;
use tollhouse_registry::untrusted_file;
use zeroize::Zeroizing;

use super::{CliError, Result};

/// Most bytes that are read from a file or a program: a longer secret could not be sent.
const LONGEST: u64 = 1 << 20;

/// Most bytes of a program's error output that are kept.
const COMPLAINT: u64 = 4 << 10;

/// Source of a value.
enum SecretSource<'a> {
    Variable(&'a str),
    File(&'a str),
    /// Output of a program, with its arguments.
    Output(Vec<String>),
}

/// Reads the values.
pub(super) fn read(given: &[(String, String)]) -> Result<Secrets> {
    let mut secrets = Secrets::default();
    if given.is_empty() {
        return Ok(secrets);
    }
    let sources = given.iter().map(|(name, text)| SecretSource::parse(name, text)).collect::<Result<Vec<_>>>()?;
    protect().map_err(|error| CliError::because("cannot keep secrets out of core dumps", &error))?;
    let named: Vec<_> = given.iter().map(|(name, _)| name.as_str()).zip(&sources).collect();
    let (programs, others): (Vec<_>, Vec<_>) =
        named.into_iter().partition(|(_, source)| matches!(source, SecretSource::Output(_)));
    let mut values = Vec::new();
    for (name, source) in others {
        values.push((name, source.value(name)?));
    }
    let variables: Vec<&str> = sources.iter().filter_map(SecretSource::variable).collect();
    if !variables.is_empty() && !forget(&variables) {
        note!("{} cannot be taken out of the environment here: programs inherit it", variables.join(", "));
    }
    // Programs see none of the values.
    for (name, source) in programs {
        values.push((name, source.value(name)?));
    }
    for (name, value) in values {
        secrets = secrets.with(name, value.as_str()).map_err(|error| CliError::usage(error.to_string()))?;
    }
    Ok(secrets)
}

impl<'a> SecretSource<'a> {
    fn parse(name: &str, text: &'a str) -> Result<Self> {
        match text.split_once(':') {
            Some(("env", variable)) => Ok(Self::Variable(variable)),
            Some(("file", path)) => Ok(Self::File(path)),
            Some(("cmd", command)) => match shlex::split(command) {
                Some(words) if !words.is_empty() => Ok(Self::Output(words)),
                Some(_) => Err(CliError::usage(format!("secret `{name}`: `cmd:` does not name a program"))),
                None => Err(CliError::usage(format!("secret `{name}`: a quote in `{command}` has no end"))),
            },
            _ => Err(CliError::usage(format!("`--secret {name}=…` has no source")).hint(
                "write `env:VARIABLE`, `file:PATH` or `cmd:PROGRAM ARGS`: every user can see a value on the command line",
            )),
        }
    }

    fn variable(&self) -> Option<&'a str> {
        if let Self::Variable(variable) = self { Some(variable) } else { None }
    }

    fn value(&self, name: &str) -> Result<Zeroizing<String>> {
        match self {
            Self::Variable(variable) => {
                let wrong = |why: &str| {
                    CliError::usage(format!("secret `{name}`: cannot read the variable `{variable}`: {why}"))
                };
                // The error of `env::var` would contain the value.
                let value = env::var_os(variable).ok_or_else(|| wrong("environment variable not found"))?;
                value.into_string().map(Zeroizing::new).map_err(|_| wrong("it is not UTF-8 text"))
            }
            Self::File(path) => {
                let cannot = |error: io::Error| {
                    CliError::because(format!("secret `{name}`: cannot read `{path}`"), &error)
                        .status(super::error::USAGE)
                };
                let file = untrusted_file::open_named(Path::new(path)).map_err(|error| cannot(error.into()))?;
                let mut text = text(file).map_err(cannot)?;
                cut_line_break(&mut text);
                Ok(text)
            }
            Self::Output(words) => output(name, words),
        }
    }
}

/// Removes the line break at the end: editors and programs add it, and it is not part of the value.
fn cut_line_break(text: &mut Zeroizing<String>) {
    let line = text.strip_suffix('\n').map_or(text.as_str(), |line| line.strip_suffix('\r').unwrap_or(line));
    let length = line.len();
    text.truncate(length);
}

/// Reads a text to its end, into memory that is zeroised.
fn text(source: impl Read) -> io::Result<Zeroizing<String>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(4 << 10));
    let mut part = Zeroizing::new([0; 4 << 10]);
    let mut source = source.take(LONGEST + 1);
    loop {
        let read = match source.read(&mut *part) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // A growing vector leaves a copy behind.
        let mut longer = Zeroizing::new(Vec::with_capacity(bytes.len() + read));
        longer.extend_from_slice(&bytes);
        longer.extend_from_slice(&part[..read]);
        bytes = longer;
    }
    if source.limit() == 0 {
        return Err(io::Error::other(format!("it has more than {LONGEST} bytes")));
    }
    let text = str::from_utf8(&bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// Runs a program, without a shell, and returns its output.
fn output(name: &str, words: &[String]) -> Result<Zeroizing<String>> {
    let program = &words[0];
    let cannot = |error: io::Error| {
        CliError::because(format!("secret `{name}`: cannot read what `{program}` prints"), &error)
            .status(super::error::USAGE)
    };
    let mut command = Command::new(program);
    command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        CliError::because(format!("secret `{name}`: cannot run `{program}`"), &error).status(super::error::USAGE)
    })?;
    let (stdout, stderr) = (child.stdout.take().expect("it is piped"), child.stderr.take().expect("it is piped"));
    // Both at once: a program waits for the reader of its output.
    let (printed, complaint) = thread::scope(|scope| {
        let complaint = scope.spawn(move || complaint(stderr));
        // Closes its end: a program that prints on is told so.
        let printed = text(stdout);
        (printed, complaint.join().unwrap_or_default())
    });
    let status = child.wait().map_err(cannot)?;
    let mut printed = printed.map_err(cannot)?;
    if !status.success() {
        let told = if complaint.is_empty() { String::new() } else { format!(": {complaint}") };
        let message = format!("secret `{name}`: `{program}` failed ({status}){told}");
        return Err(CliError::usage(message));
    }
    cut_line_break(&mut printed);
    Ok(printed)
}

/// Reads a program's error output, and returns its first line.
fn complaint(mut stderr: impl Read) -> String {
    let mut kept = Vec::new();
    // Unreadable error output is left out; the status is reported.
    let _ = stderr.by_ref().take(COMPLAINT).read_to_end(&mut kept);
    let _ = io::copy(&mut stderr, &mut io::sink());
    let text = String::from_utf8_lossy(&kept);
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// Makes sure that neither a core dump nor a debugger of the same user can read the values.
#[cfg(unix)]
fn protect() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};

    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Does nothing: this system has no such switch.
#[cfg(not(unix))]
fn protect() -> io::Result<()> {
    Ok(())
}

/// Overwrites variables in the environment that this process was started with, and removes them. Returns false if that
/// cannot be done soundly: other threads may be reading them.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "an environment is shared memory, which only unsafe code may change")]
fn forget(variables: &[&str]) -> bool {
    use std::ffi::CString;

    use zeroize::Zeroize as _;

    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return false };
    if threads.count() != 1 {
        return false;
    }
    for variable in variables {
        let Ok(name) = CString::new(*variable) else { continue };
        // SAFETY: no other thread runs that could read or change the environment, and none is started meanwhile. The standard
        // library hands out copies only, so nothing refers to the text, which is the process's own memory: the kernel wrote it
        // on the stack, or `setenv` made it. Its end is the NUL that `strlen` finds, and that stays.
        unsafe {
            let text = libc::getenv(name.as_ptr());
            if !text.is_null() {
                std::slice::from_raw_parts_mut(text.cast::<u8>(), libc::strlen(text)).zeroize();
                env::remove_var(variable);
            }
        }
    }
    true
}

/// Returns false: the number of threads is not known on this system.
#[cfg(not(target_os = "linux"))]
fn forget(_: &[&str]) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_text_loses_exactly_one_line_break() {
        for (read, expected) in [("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a\n"), ("a\r", "a\r"), ("a", "a"), ("", "")] {
            let mut text = text(read.as_bytes()).expect("it is text");
            cut_line_break(&mut text);
            assert_eq!(text.as_str(), expected, "{read:?}");
        }
    }

    #[test]
    fn secret_that_is_too_long_or_not_text_is_refused() {
        let longest = usize::try_from(LONGEST).expect("it fits");
        assert_eq!(text(&*vec![b'a'; longest]).expect("so much is read").len(), longest);
        assert!(text(io::repeat(b'a')).is_err());
        assert!(text(&b"a\xff"[..]).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn process_with_secrets_protected_leaves_no_core_dump() {
        use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

        protect().expect("the system takes it");
        assert_eq!(dumpable_behavior().expect("it is told"), DumpableBehavior::NotDumpable);
        let limit = getrlimit(Resource::Core);
        assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
    }
}
