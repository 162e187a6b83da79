//! Arguments of `env -S`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::collections::{HashMap, VecDeque};
use std::iter::Peekable;
use std::str::Chars;

/// Returns the arguments, with the words of `-S` and `--split-string` in place of these options. The error is the message.
pub(super) fn split_strings(args: &[String], env: &HashMap<String, String>) -> Result<Vec<String>, String> {
    let mut words: VecDeque<String> = args.iter().cloned().collect();
    let mut split = Vec::new();
    while let Some(word) = words.pop_front() {
        let (before, text) = if let Some(text) = word.strip_prefix("--split-string=") {
            (String::new(), text.to_string())
        } else if word == "--split-string" {
            (String::new(), words.pop_front().unwrap_or_default())
        } else if let Some(at) = short_split_string(&word) {
            let text = match &word[at + 1..] {
                "" => words.pop_front().ok_or("env: option requires an argument -- 'S'")?,
                text => text.to_string(),
            };
            (word[..at].to_string(), text)
        } else {
            // Behind the first operand there are no options.
            let ends = word == "--" || word == "-" || !word.starts_with('-');
            let takes_next = matches!(&*word, "-u" | "-C" | "--unset" | "--chdir");
            split.push(word);
            if takes_next {
                split.extend(words.pop_front());
            } else if ends {
                split.extend(words);
                return Ok(split);
            }
            continue;
        };
        if before.len() > 1 {
            split.push(before);
        }
        for word in StringSplitter::new(&text, env).words()?.into_iter().rev() {
            words.push_front(word);
        }
    }
    Ok(split)
}

/// Returns the position of `S` in a word of short options.
fn short_split_string(word: &str) -> Option<usize> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let options = letters.bytes().take_while(|letter| b"i0v".contains(letter)).count();
    (letters.as_bytes().get(options) == Some(&b'S')).then_some(options + 1)
}

/// Reader of the words in the argument of `-S`.
struct StringSplitter<'a> {
    text: Peekable<Chars<'a>>,
    env: &'a HashMap<String, String>,
    words: Vec<String>,
    word: Option<String>,
}

impl<'a> StringSplitter<'a> {
    fn new(text: &'a str, env: &'a HashMap<String, String>) -> Self {
        Self { text: text.chars().peekable(), env, words: Vec::new(), word: None }
    }

    /// Returns the words of the text of `-S`. The error is a message for the user.
    fn words(mut self) -> Result<Vec<String>, String> {
        let mut quote = None;
        while let Some(letter) = self.text.next() {
            match (letter, quote) {
                ('\'' | '"', None) => {
                    quote = Some(letter);
                    self.word.get_or_insert_default();
                }
                (_, Some(open)) if letter == open => quote = None,
                (' ' | '\t' | '\n' | '\x0b' | '\x0c' | '\r', None) => self.words.extend(self.word.take()),
                ('#', None) if self.word.is_none() => break,
                ('$', None | Some('"')) => self.variable()?,
                ('\\', _) => {
                    if self.escape(quote)? {
                        break;
                    }
                }
                _ => self.word.get_or_insert_default().push(letter),
            }
        }
        if quote.is_some() {
            return Err("env: no terminating quote in -S string".to_string());
        }
        self.words.extend(self.word.take());
        Ok(self.words)
    }

    /// Reads an escape behind its backslash, and returns true if it ends the string.
    fn escape(&mut self, quote: Option<char>) -> Result<bool, String> {
        let letter = self.text.next().ok_or("env: invalid backslash at end of string in -S")?;
        if quote == Some('\'') && !matches!(letter, '\\' | '\'') {
            self.word.get_or_insert_default().extend(['\\', letter]);
            return Ok(false);
        }
        let letter = match letter {
            '_' if quote.is_none() => {
                self.words.extend(self.word.take());
                return Ok(false);
            }
            'c' if quote == Some('"') => {
                return Err("env: '\\c' must not appear in double-quoted -S string".to_string());
            }
            'c' => return Ok(true),
            '_' => ' ',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '"' | '#' | '$' | '\'' | '\\' => letter,
            _ => return Err(format!("env: invalid sequence '\\{letter}' in -S")),
        };
        self.word.get_or_insert_default().push(letter);
        Ok(false)
    }

    /// Reads `${NAME}` behind its dollar sign.
    fn variable(&mut self) -> Result<(), String> {
        const WRONG: &str = "env: only ${VARNAME} expansion is supported, error at: ";
        let rest: String = std::iter::once('$').chain(self.text.clone()).collect();
        let name = rest.strip_prefix("${").and_then(|rest| rest.split_once('}'));
        let valid = |name: &str| {
            !name.starts_with(|first: char| first.is_ascii_digit())
                && !name.is_empty()
                && name.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
        };
        let Some((name, _)) = name.filter(|(name, _)| valid(name)) else {
            return Err(format!("{WRONG}{rest}"));
        };
        if let Some(value) = self.env.get(name) {
            self.word.get_or_insert_default().push_str(value);
        }
        for _ in 0..name.len() + 2 {
            self.text.next();
        }
        Ok(())
    }
}
