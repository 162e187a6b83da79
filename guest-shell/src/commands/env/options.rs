//! Command line of `env`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::option_parser::getopt_long;
use std::collections::HashMap;

use bashkit::builtins::arg_parser::OptArg;

use super::split_string::split_strings;
use crate::commands::character_locale::character_locale;

/// Options, assignments and command of a call.
#[derive(Debug, Default, PartialEq)]
pub(super) struct EnvArgs {
    pub(super) clear: bool,
    pub(super) unset: Vec<String>,
    pub(super) set: Vec<(String, String)>,
    pub(super) chdir: Option<String>,
    pub(super) null: bool,
    pub(super) verbose: bool,
    pub(super) command: Vec<String>,
}

/// Long options with the short ones that they stand for.
const ENV_OPTIONS: &[(&str, OptArg, char)] = &[
    ("ignore-environment", OptArg::No, 'i'),
    ("null", OptArg::No, '0'),
    ("unset", OptArg::Required, 'u'),
    ("chdir", OptArg::Required, 'C'),
    ("debug", OptArg::No, 'v'),
];

impl EnvArgs {
    /// Returns a message if the environment cannot be changed as the options ask for.
    pub(super) fn impossible_change(&self) -> Option<String> {
        if let Some(name) = self.unset.iter().find(|name| name.is_empty() || name.contains('=')) {
            return Some(format!("env: cannot unset '{name}': Invalid argument\n"));
        }
        let nowhere = self.chdir.as_ref().is_some_and(String::is_empty);
        nowhere.then(|| "env: cannot change directory to '': No such file or directory\n".to_owned())
    }
}

/// Parses the arguments of `env`. The error is a message for the user.
pub(super) fn parse_env_args(args: &[String], env: &HashMap<String, String>) -> Result<EnvArgs, String> {
    let args = split_strings(args, env)?;
    let (options, words) = getopt_long("env", &args, "iC:u:0v", ENV_OPTIONS, false, 125)
        .map_err(|error| error.stderr.to_string().trim_end().to_string())?;
    let mut parsed = EnvArgs::default();
    for option in options {
        let value = option.value.unwrap_or_default();
        match option.key {
            'i' => parsed.clear = true,
            '0' => parsed.null = true,
            'u' => parsed.unset.push(value),
            'C' => parsed.chdir = Some(value),
            _ => parsed.verbose = true,
        }
    }
    let words = match words.split_first() {
        Some((first, behind)) if first == "-" => {
            parsed.clear = true;
            behind
        }
        _ => words.as_slice(),
    };
    for (index, word) in words.iter().enumerate() {
        match word.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                parsed.set.push((name.to_string(), value.to_string()));
            }
            _ => {
                parsed.command = words[index..].to_vec();
                break;
            }
        }
    }
    if parsed.null && !parsed.command.is_empty() {
        return Err("env: cannot specify --null (-0) with command".to_string());
    }
    if parsed.chdir.is_some() && parsed.command.is_empty() {
        return Err("env: must specify command with --chdir (-C)".to_string());
    }
    Ok(parsed)
}

impl EnvArgs {
    /// Returns what `-v` prints of the changes and of the command.
    pub(super) fn report(&self, env: &HashMap<String, String>) -> String {
        let mut told = String::new();
        if self.clear {
            told.push_str("cleaning environ\n");
        }
        for name in self.unset.iter().filter(|_| !self.clear) {
            told.push_str(&format!("unset:    {name}\n"));
        }
        for (name, value) in &self.set {
            told.push_str(&format!("setenv:   {name}={value}\n"));
        }
        if let Some(folder) = &self.chdir {
            told.push_str(&format!("chdir:    '{folder}'\n"));
        }
        if let Some(name) = self.command.first() {
            told.push_str(&format!("executing: {name}\n"));
        }
        let (open, close) = quotes(env);
        for (index, word) in self.command.iter().enumerate() {
            told.push_str(&format!("   arg[{index}]= {open}{word}{close}\n"));
        }
        told
    }

    /// Returns the arguments of the same call without `-v`.
    pub(super) fn quiet_arguments(&self) -> Vec<String> {
        let mut args = Vec::new();
        if self.clear {
            args.push("-i".to_string());
        }
        args.extend(self.unset.iter().map(|name| format!("--unset={name}")));
        args.extend(self.chdir.iter().map(|folder| format!("--chdir={folder}")));
        args.push("--".to_string());
        args.extend(self.set.iter().map(|(name, value)| format!("{name}={value}")));
        args.extend(self.command.iter().cloned());
        args
    }
}

/// Returns the quotation marks of the locale.
fn quotes(env: &HashMap<String, String>) -> (char, char) {
    let locale = character_locale(env).map(str::to_ascii_lowercase).unwrap_or_default();
    match locale.ends_with("utf-8") || locale.ends_with("utf8") {
        true => ('‘', '’'),
        false => ('\'', '\''),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::parse_env_args;

    fn args(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn env_arguments_become_options_assignments_and_command() {
        let p = parse_env_args(&args(&["-i", "-u", "X", "-uY", "A=1", "sh", "-c", "B=2"]), &HashMap::new()).unwrap();
        assert!(p.clear);
        assert_eq!(p.unset, vec!["X", "Y"]);
        assert_eq!(p.set, vec![("A".to_string(), "1".to_string())]);
        assert_eq!(p.command, args(&["sh", "-c", "B=2"]));
        let p = parse_env_args(&args(&["--", "-x"]), &HashMap::new()).unwrap();
        assert_eq!(p.command, args(&["-x"]));
        let p = parse_env_args(&args(&["-", "env"]), &HashMap::new()).unwrap();
        assert!(p.clear);
    }

    #[test]
    fn env_split_string_with_quotes_escapes_and_variables_becomes_words() {
        let env = HashMap::from([("A".to_string(), "x y".to_string())]);
        for (text, words) in [
            ("perl -w  -T", &["perl", "-w", "-T"][..]),
            (r#"a 'b c' "d\te""#, &["a", "b c", "d\te"]),
            (r"a\_b\nc # d", &["a", "b\nc"]),
            (r#"p${A}q "${A}" '' ${NONE}"#, &["px yq", "x y", ""]),
            (r"a\c b", &["a"]),
        ] {
            let call = parse_env_args(&args(&["-S", text]), &env).unwrap();
            assert_eq!(call.command, args(words), "{text}");
        }
        for text in ["a 'b", "a\\", "a\\q", "$A", "${1}"] {
            assert!(parse_env_args(&args(&["-S", text]), &env).is_err(), "{text}");
        }
        let p = parse_env_args(&args(&["-iS", "A=1 sh -c", "B=2"]), &env).unwrap();
        assert!(p.clear);
        assert_eq!(p.command, args(&["sh", "-c", "B=2"]));
    }

    #[test]
    fn env_wrong_options_are_errors() {
        assert!(parse_env_args(&args(&["-z"]), &HashMap::new()).is_err());
        assert!(parse_env_args(&args(&["-0", "true"]), &HashMap::new()).is_err());
        assert!(parse_env_args(&args(&["-C", "/"]), &HashMap::new()).is_err());
        assert!(parse_env_args(&args(&["-u"]), &HashMap::new()).is_err());
    }
}
