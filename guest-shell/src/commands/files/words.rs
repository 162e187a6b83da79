//! Options and operands of a command line, in the manner of the C library's `getopt_long`.

use crate::commands::getopt::{Found, Known, Order, Takes, scan};

/// Options of a command.
pub(super) struct Spec {
    /// Usage of the command, without its name.
    pub(super) usage: &'static str,
    /// Short options in the form of `getopt`: `ab:c::`.
    pub(super) short: &'static str,
    /// Names of the long options, each with the equivalent short option, and whether it takes an argument.
    pub(super) long: &'static [(&'static str, char, Takes)],
    /// True if octal and symbolic modes that begin with `-` are operands.
    pub(super) modes: bool,
}

/// Placeholder for long options without an equivalent short option.
pub(super) const NONE: char = '\0';

/// Message for a second `-t`, without the hint about `--help`.
pub(super) const MULTIPLE_TARGETS: &str = "multiple target directories specified";

/// Option on the command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Given {
    /// Long name of the option, or its letter if it has none.
    pub(super) name: String,
    /// Argument of the option.
    pub(super) value: Option<String>,
}

/// Options in order, and operands.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) options: Vec<Given>,
    pub(super) operands: Vec<String>,
}

impl Words {
    /// Parses a command line. The error is the message of `getopt_long` for the first mistake.
    pub(super) fn read(spec: &Spec, words: &[String]) -> Result<Self, String> {
        let own = [("help", NONE, Takes::Nothing), ("version", NONE, Takes::Nothing)];
        let long: Vec<_> = spec.long.iter().chain(&own).collect();
        let known = Known {
            short: spec.short.to_owned(),
            long: long.iter().map(|(name, _, takes)| ((*name).to_owned(), *takes)).collect(),
            single_dash: false,
        };
        let (mut modes, words): (Vec<_>, Vec<_>) = match spec.modes {
            true => split_modes(words),
            false => (Vec::new(), words.to_vec()),
        };
        let (found, mut operands) = scan(&known, Order::Permute, &words);
        modes.append(&mut operands);
        let mut options = Vec::new();
        for found in found {
            let (name, value) = match found {
                Found::Short(letter, value) => {
                    let same = long.iter().find(|(_, short, _)| *short == letter);
                    (same.map_or_else(|| letter.to_string(), |(name, ..)| (*name).to_owned()), value)
                }
                Found::Long(name, value) => (name, value),
                Found::Mistake(what) => return Err(what),
                Found::Word(_) => continue,
            };
            if name == "target-directory" && options.iter().any(|option: &Given| option.name == name) {
                return Err(MULTIPLE_TARGETS.to_owned());
            }
            options.push(Given { name, value });
        }
        Ok(Self { options, operands: modes })
    }

    /// Returns true if an option was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|option| option.name == name)
    }

    /// Returns the argument of the last option with this name.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|option| option.name == name).and_then(|option| option.value.as_deref())
    }

    /// Returns the one of these options that was given last.
    pub(super) fn last<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        let given = |option: &Given| names.iter().find(|name| option.name == **name).copied();
        self.options.iter().rev().find_map(given)
    }
}

/// Takes the first mode that looks like an option (`-w`, `-rwx`) out of the words.
fn split_modes(words: &[String]) -> (Vec<String>, Vec<String>) {
    let looks_like_mode = |word: &&String| {
        let rest = word.strip_prefix('-').unwrap_or_default();
        !rest.is_empty() && rest.starts_with(|first| "rwxXstugo".contains(first))
    };
    let options = words.iter().take_while(|word| *word != "--").count();
    match words[..options].iter().position(|word| looks_like_mode(&word)) {
        Some(at) => {
            let rest = words[..at].iter().chain(&words[at + 1..]).cloned().collect();
            (vec![words[at].clone()], rest)
        }
        None => (Vec::new(), words.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::{NONE, Spec, Takes, Words};

    const SPEC: Spec = Spec {
        usage: "",
        short: "Rv",
        long: &[("recursive", 'R', Takes::Nothing), ("reference", NONE, Takes::Required)],
        modes: true,
    };

    fn read(words: &[&str]) -> Result<Words, String> {
        Words::read(&SPEC, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_have_one_name_for_short_and_long_options() {
        let words = read(&["a", "-Rv", "--recurs", "b"]).expect("they make sense");
        assert!(words.has("recursive") && words.has("v"));
        assert_eq!(words.operands, ["a", "b"]);
        assert_eq!(
            read(&["--re"]).unwrap_err(),
            "option '--re' is ambiguous; possibilities: '--recursive' '--reference'"
        );
        assert_eq!(read(&["-q"]).unwrap_err(), "invalid option -- 'q'");
    }

    #[test]
    fn words_that_are_modes_are_operands() {
        assert_eq!(read(&["-v", "-w", "f"]).expect("they make sense").operands, ["-w", "f"]);
    }
}
