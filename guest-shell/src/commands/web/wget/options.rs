//! Command-line options of wget.

/// Settings of one execution.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) urls: Vec<String>,
    /// File with one address per line.
    pub(super) input: Option<String>,
    pub(super) verbosity: Verbosity,
    /// File that receives all documents.
    pub(super) document: Option<String>,
    pub(super) directory: Option<String>,
    /// File that receives the messages.
    pub(super) log: Option<String>,
    pub(super) keep: bool,
    pub(super) server_response: bool,
    pub(super) save_headers: bool,
    pub(super) spider: bool,
    pub(super) content_disposition: bool,
    pub(super) content_on_error: bool,
    pub(super) trust_server_names: bool,
    pub(super) server_timestamps: bool,
    pub(super) insecure: bool,
    pub(super) cookies: bool,
    pub(super) load_cookies: Option<String>,
    pub(super) save_cookies: Option<String>,
    pub(super) keep_session_cookies: bool,
    pub(super) headers: Vec<String>,
    pub(super) body: Option<Body>,
    pub(super) method: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) referer: Option<String>,
    pub(super) no_cache: bool,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// True if the password is sent without a challenge.
    pub(super) unasked: bool,
    pub(super) tries: u32,
    pub(super) retry_refused: bool,
    pub(super) retry_statuses: Vec<u16>,
    /// Timeout in seconds, if any.
    pub(super) timeout: Option<f64>,
    /// Delay between two retrievals, in seconds.
    pub(super) wait: f64,
    pub(super) max_redirects: u32,
}

/// Verbosity of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verbosity {
    Quiet,
    /// Messages about the result of each address.
    Told,
}

/// Body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Text(String),
    File(String),
}

/// Action that the command line requests.
#[derive(Debug)]
pub(super) enum Asked {
    Run(Box<Options>),
    Help,
    Version,
    /// The command line is invalid: a message, and the status.
    Wrong(String, i32),
}

/// Kind of argument of an option, and its support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Flag,
    Value,
    /// Flag without effect.
    IdleFlag,
    IdleValue,
    RefusedFlag,
    RefusedValue,
}

use Takes::{Flag, IdleFlag, IdleValue, RefusedFlag, RefusedValue, Value};

type Known = (&'static str, &'static str, Takes);

const TRY: &str = "Usage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n";

/// Default of the largest number of redirects.
const MAX_REDIRECTS: u32 = 20;

#[rustfmt::skip]
const OPTIONS: &[Known] = &[
    ("accept", "A", RefusedValue), ("accept-regex", "", RefusedValue), ("adjust-extension", "E", RefusedFlag),
    ("append-output", "a", RefusedValue), ("ask-password", "", RefusedFlag), ("auth-no-challenge", "", Flag),
    ("background", "b", RefusedFlag), ("backup-converted", "K", RefusedFlag), ("backups", "", RefusedValue),
    ("base", "B", RefusedValue), ("bind-address", "", RefusedValue), ("body-data", "", Value),
    ("body-file", "", Value), ("ca-certificate", "", RefusedValue), ("ca-directory", "", RefusedValue),
    ("certificate", "", RefusedValue), ("certificate-type", "", RefusedValue), ("ciphers", "", RefusedValue),
    ("compression", "", IdleValue), ("config", "", RefusedValue), ("connect-timeout", "", IdleValue),
    ("content-disposition", "", Flag), ("content-on-error", "", Flag), ("continue", "c", RefusedFlag),
    ("convert-file-only", "", RefusedFlag), ("convert-links", "k", RefusedFlag), ("crl-file", "", RefusedValue),
    ("cut-dirs", "", IdleValue), ("debug", "d", IdleFlag), ("default-page", "", RefusedValue),
    ("delete-after", "", RefusedFlag), ("directory-prefix", "P", Value), ("dns-timeout", "", IdleValue),
    ("domains", "D", RefusedValue), ("exclude-directories", "X", RefusedValue),
    ("exclude-domains", "", RefusedValue), ("execute", "e", RefusedValue), ("follow-ftp", "", RefusedFlag),
    ("follow-tags", "", RefusedValue), ("force-directories", "x", RefusedFlag), ("force-html", "F", RefusedFlag),
    ("header", "", Value), ("help", "h", Flag), ("hsts-file", "", IdleValue), ("http-password", "", Value),
    ("http-user", "", Value), ("https-only", "", RefusedFlag), ("ignore-case", "", IdleFlag),
    ("ignore-length", "", IdleFlag), ("ignore-tags", "", RefusedValue), ("include-directories", "I", RefusedValue),
    ("inet4-only", "4", IdleFlag), ("inet6-only", "6", IdleFlag), ("input-file", "i", Value),
    ("keep-session-cookies", "", Flag), ("level", "l", RefusedValue), ("limit-rate", "", IdleValue),
    ("load-cookies", "", Value), ("local-encoding", "", RefusedValue), ("max-redirect", "", Value),
    ("method", "", Value), ("mirror", "m", RefusedFlag), ("no-cache", "", Flag),
    ("no-check-certificate", "", Flag), ("no-clobber", "", Flag), ("no-config", "", IdleFlag),
    ("no-cookies", "", Flag), ("no-directories", "", IdleFlag), ("no-dns-cache", "", IdleFlag),
    ("no-glob", "", IdleFlag), ("no-host-directories", "", IdleFlag), ("no-hsts", "", IdleFlag),
    ("no-http-keep-alive", "", IdleFlag), ("no-if-modified-since", "", IdleFlag), ("no-iri", "", IdleFlag),
    ("no-netrc", "", IdleFlag), ("no-parent", "", IdleFlag), ("no-passive-ftp", "", IdleFlag),
    ("no-proxy", "", IdleFlag), ("no-use-server-timestamps", "", Flag), ("no-verbose", "", Flag),
    ("output-document", "O", Value), ("output-file", "o", Value), ("page-requisites", "p", RefusedFlag),
    ("password", "", Value), ("pinnedpubkey", "", RefusedValue), ("post-data", "", Value), ("post-file", "", Value),
    ("prefer-family", "", IdleValue), ("private-key", "", RefusedValue), ("private-key-type", "", RefusedValue),
    ("progress", "", IdleValue), ("protocol-directories", "", RefusedFlag), ("proxy-password", "", RefusedValue),
    ("proxy-user", "", RefusedValue), ("quiet", "q", Flag), ("quota", "Q", RefusedValue),
    ("random-wait", "", IdleFlag), ("read-timeout", "", Value), ("recursive", "r", RefusedFlag),
    ("referer", "", Value), ("regex-type", "", RefusedValue), ("reject", "R", RefusedValue),
    ("reject-regex", "", RefusedValue), ("rejected-log", "", RefusedValue), ("relative", "L", RefusedFlag),
    ("remote-encoding", "", RefusedValue), ("report-speed", "", IdleValue),
    ("restrict-file-names", "", RefusedValue), ("retry-connrefused", "", Flag), ("retry-on-http-error", "", Value),
    ("save-cookies", "", Value), ("save-headers", "", Flag), ("secure-protocol", "", IdleValue),
    ("server-response", "S", Flag), ("show-progress", "", IdleFlag), ("span-hosts", "H", RefusedFlag),
    ("spider", "", Flag), ("start-pos", "", RefusedValue), ("strict-comments", "", RefusedFlag),
    ("timeout", "T", Value), ("timestamping", "N", RefusedFlag), ("tries", "t", Value),
    ("trust-server-names", "", Flag), ("unlink", "", IdleFlag), ("use-askpass", "", RefusedValue),
    ("user", "", Value), ("user-agent", "U", Value), ("verbose", "v", Flag), ("version", "V", Flag),
    ("wait", "w", Value), ("waitretry", "", IdleValue), ("warc-file", "", RefusedValue), ("xattr", "", RefusedFlag),
];

/// Options that a letter after `-n` turns off.
const TURNED_OFF: [(char, &str); 5] = [
    ('v', "no-verbose"),
    ('c', "no-clobber"),
    ('d', "no-directories"),
    ('H', "no-host-directories"),
    ('p', "no-parent"),
];

impl Default for Options {
    fn default() -> Self {
        Self {
            urls: Vec::new(),
            input: None,
            verbosity: Verbosity::Told,
            document: None,
            directory: None,
            log: None,
            keep: false,
            server_response: false,
            save_headers: false,
            spider: false,
            content_disposition: false,
            content_on_error: false,
            trust_server_names: false,
            server_timestamps: true,
            insecure: false,
            cookies: true,
            load_cookies: None,
            save_cookies: None,
            keep_session_cookies: false,
            headers: Vec::new(),
            body: None,
            method: None,
            agent: None,
            referer: None,
            no_cache: false,
            user: None,
            password: None,
            unasked: false,
            tries: 1,
            retry_refused: false,
            retry_statuses: Vec::new(),
            timeout: None,
            wait: 0.0,
            max_redirects: MAX_REDIRECTS,
        }
    }
}

/// Parses the words of the command.
pub(super) fn read(words: &[String]) -> Asked {
    let mut options = Options::default();
    match options.take_all(words) {
        Ok(None) => {}
        Ok(Some(asked)) => return asked,
        Err(why) => return Asked::Wrong(format!("wget: {why}\n{TRY}"), 2),
    }
    if options.urls.is_empty() && options.input.is_none() {
        return Asked::Wrong(format!("wget: missing URL\n{TRY}"), 1);
    }
    if options.body.is_some() && options.method.is_none() {
        return Asked::Wrong(format!("You need to specify a method through --method=HTTPMethod.\n{TRY}"), 1);
    }
    Asked::Run(Box::new(options))
}

type Taken = Result<Option<Asked>, String>;

impl Options {
    fn take_all(&mut self, words: &[String]) -> Taken {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let asked = match word.strip_prefix("--") {
                Some("") => {
                    self.urls.extend(words.by_ref().cloned());
                    None
                }
                Some(long) => self.take_long(word, long, &mut words)?,
                None if word.len() > 1 && word.starts_with('-') => self.take_letters(word, &mut words)?,
                None => {
                    self.urls.push(word.clone());
                    None
                }
            };
            if asked.is_some() {
                return Ok(asked);
            }
        }
        Ok(None)
    }

    fn take_long(&mut self, word: &str, long: &str, words: &mut std::slice::Iter<'_, String>) -> Taken {
        let (name, given) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let exact = OPTIONS.iter().find(|(known, ..)| *known == name);
        let mut alike = OPTIONS.iter().filter(|(known, ..)| known.starts_with(name));
        let known = match (exact, alike.next(), alike.next()) {
            (Some(known), ..) | (None, Some(known), None) => known,
            (None, Some(_), Some(_)) => return Err(format!("option '--{name}' is ambiguous")),
            (None, None, _) => return Err(format!("unrecognized option '{word}'")),
        };
        let value = match (takes_value(known.2), given) {
            (true, Some(value)) => value,
            (true, None) => words.next().ok_or_else(|| format!("option '--{}' requires an argument", known.0))?,
            (false, None) => "",
            (false, Some(_)) => return Err(format!("option '--{}' doesn't allow an argument", known.0)),
        };
        self.take(&format!("--{}", known.0), known, value)
    }

    fn take_letters(&mut self, word: &str, words: &mut std::slice::Iter<'_, String>) -> Taken {
        for (at, letter) in word[1..].char_indices() {
            let rest = &word[1 + at + letter.len_utf8()..];
            if letter == 'n' {
                return self.turn_off(rest);
            }
            let known = OPTIONS.iter().find(|(_, known, _)| known.chars().eq([letter]));
            let known = known.ok_or_else(|| format!("invalid option -- '{letter}'"))?;
            let value = match (takes_value(known.2), rest) {
                (false, _) => "",
                (true, "") => words.next().ok_or_else(|| format!("option requires an argument -- '{letter}'"))?,
                (true, rest) => rest,
            };
            let asked = self.take(&format!("-{letter}"), known, value)?;
            if asked.is_some() || takes_value(known.2) {
                return Ok(asked);
            }
        }
        Ok(None)
    }

    /// Handles the letters after `-n`.
    fn turn_off(&mut self, letters: &str) -> Taken {
        if letters.is_empty() {
            return Err("option requires an argument -- 'n'".to_owned());
        }
        for letter in letters.chars() {
            let found = TURNED_OFF.iter().find(|(known, _)| *known == letter);
            let (_, name) = found.ok_or_else(|| format!("invalid option -- 'n{letter}'"))?;
            self.set_flag(name);
        }
        Ok(None)
    }

    fn take(&mut self, word: &str, known: &Known, value: &str) -> Taken {
        match known.2 {
            IdleFlag | IdleValue => Ok(None),
            RefusedFlag | RefusedValue => {
                Err(format!("option '{word}' is not supported here, where requests go through the tool `http`"))
            }
            Flag => match known.0 {
                "help" => Ok(Some(Asked::Help)),
                "version" => Ok(Some(Asked::Version)),
                name => {
                    self.set_flag(name);
                    Ok(None)
                }
            },
            Value => match self.set_value(known.0, value) {
                Some(()) => Ok(None),
                None => Err(format!("--{}: Invalid number '{value}'.", known.0)),
            },
        }
    }

    fn set_flag(&mut self, name: &str) {
        match name {
            "auth-no-challenge" => self.unasked = true,
            "content-disposition" => self.content_disposition = true,
            "content-on-error" => self.content_on_error = true,
            "keep-session-cookies" => self.keep_session_cookies = true,
            "no-cache" => self.no_cache = true,
            "no-check-certificate" => self.insecure = true,
            "no-clobber" => self.keep = true,
            "no-cookies" => self.cookies = false,
            "no-use-server-timestamps" => self.server_timestamps = false,
            "quiet" => self.verbosity = Verbosity::Quiet,
            "no-verbose" | "verbose" => self.verbosity = Verbosity::Told,
            "retry-connrefused" => self.retry_refused = true,
            "save-headers" => self.save_headers = true,
            "server-response" => self.server_response = true,
            "spider" => self.spider = true,
            "trust-server-names" => self.trust_server_names = true,
            // The other options concern the retrieval of many files.
            _ => {}
        }
    }

    /// Sets an option to a value. Returns `None` if the option requires a number and the value is not one.
    fn set_value(&mut self, name: &str, value: &str) -> Option<()> {
        let text = value.to_owned();
        match name {
            "body-data" => self.body = Some(Body::Text(text)),
            "body-file" => self.body = Some(Body::File(text)),
            "post-data" => (self.method, self.body) = (Some("POST".to_owned()), Some(Body::Text(text))),
            "post-file" => (self.method, self.body) = (Some("POST".to_owned()), Some(Body::File(text))),
            "method" => self.method = Some(text.to_ascii_uppercase()),
            "directory-prefix" => self.directory = Some(text),
            "output-document" => self.document = Some(text),
            "output-file" => self.log = Some(text),
            "input-file" => self.input = Some(text),
            "header" => self.headers.push(text),
            "http-user" | "user" => self.user = Some(text),
            "http-password" | "password" => self.password = Some(text),
            "load-cookies" => self.load_cookies = Some(text),
            "save-cookies" => self.save_cookies = Some(text),
            "referer" => self.referer = Some(text),
            "user-agent" => self.agent = Some(text),
            "max-redirect" => self.max_redirects = value.parse().ok()?,
            "tries" if matches!(value, "0" | "inf") => self.tries = u32::MAX,
            "tries" => self.tries = value.parse().ok()?,
            "timeout" | "read-timeout" => self.timeout = Some(seconds(value)?).filter(|time| *time > 0.0),
            "wait" => self.wait = seconds(value)?,
            "retry-on-http-error" => {
                self.retry_statuses =
                    value.split(',').map(|status| status.trim().parse().ok()).collect::<Option<_>>()?;
            }
            _ => return None,
        }
        Some(())
    }
}

fn takes_value(takes: Takes) -> bool {
    matches!(takes, Value | IdleValue | RefusedValue)
}

/// Parses a duration: seconds, or with a letter minutes, hours or days.
fn seconds(text: &str) -> Option<f64> {
    let (digits, unit) = match text.chars().last()? {
        's' => (&text[..text.len() - 1], 1.0),
        'm' => (&text[..text.len() - 1], 60.0),
        'h' => (&text[..text.len() - 1], 3_600.0),
        'd' => (&text[..text.len() - 1], 86_400.0),
        _ => (text, 1.0),
    };
    let number = digits.parse::<f64>().ok()? * unit;
    (number.is_finite() && number >= 0.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(words: &[&str]) -> Box<Options> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match read(&words) {
            Asked::Run(options) => options,
            other => panic!("{words:?}: {other:?}"),
        }
    }

    fn wrong(words: &[&str]) -> (String, i32) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match read(&words) {
            Asked::Wrong(why, status) => (why.lines().next().unwrap_or_default().to_owned(), status),
            other => panic!("{words:?}: {other:?}"),
        }
    }

    #[test]
    fn words_of_every_form_are_read() {
        let options =
            run(&["-qO-", "-nv", "-ncd", "-P", "d", "--header=A: b", "--timeout", "2m", "-t3", "u", "--", "-v"]);
        assert_eq!((options.document.as_deref(), options.directory.as_deref()), (Some("-"), Some("d")));
        assert!(options.keep && options.timeout == Some(120.0) && options.tries == 3);
        assert_eq!(
            (&options.headers[..], &options.urls[..]),
            (&["A: b".to_owned()][..], &["u".into(), "-v".into()][..])
        );
        assert_eq!(run(&["--post-data=x", "u"]).method.as_deref(), Some("POST"));
        assert!(run(&["--spid", "u"]).spider);
    }

    #[test]
    fn what_is_wrong_names_the_option() {
        assert_eq!(wrong(&["--foo", "u"]), ("wget: unrecognized option '--foo'".to_owned(), 2));
        assert_eq!(wrong(&["-O"]), ("wget: option requires an argument -- 'O'".to_owned(), 2));
        assert_eq!(wrong(&[]), ("wget: missing URL".to_owned(), 1));
        assert_eq!(wrong(&["-T", "x", "u"]), ("wget: --timeout: Invalid number 'x'.".to_owned(), 2));
        assert!(wrong(&["-c", "u"]).0.contains("option '-c' is not supported here"));
        assert!(wrong(&["-r", "u"]).0.contains("option '-r' is not supported here"));
        assert_eq!(wrong(&["--body-data=x", "u"]).1, 1);
    }
}
