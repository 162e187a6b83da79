//! Command-line options of curl.

use super::table::{self, Known, Takes};

/// Settings of one execution.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// Transfers in order, with their destinations.
    pub(super) transfers: Vec<Transfer>,
    pub(super) output: Output,
    pub(super) fail: Fail,
    pub(super) redirects: Redirects,
    pub(super) retry: Retry,
    pub(super) cookies: Cookies,
    /// Method that overrides the derived one.
    pub(super) method: Option<String>,
    pub(super) headers: Vec<String>,
    pub(super) data: Vec<Data>,
    /// Fields of a form, each with true for a plain string.
    pub(super) form: Vec<(String, bool)>,
    /// True if the data belongs to the query.
    pub(super) get: bool,
    pub(super) head: bool,
    pub(super) json: bool,
    pub(super) queries: Vec<String>,
    pub(super) user: Option<String>,
    pub(super) bearer: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) referer: Option<String>,
    pub(super) range: Option<String>,
    pub(super) compressed: bool,
    pub(super) insecure: bool,
    pub(super) globbing: bool,
    /// Protocol of addresses without one.
    pub(super) protocol: Option<String>,
    /// Maximum duration of one transfer, in seconds.
    pub(super) max_time: Option<f64>,
    pub(super) max_size: Option<u64>,
}

/// Transfer of one address, and the destination of the response.
#[derive(Clone, Debug, Default)]
pub(super) struct Transfer {
    pub(super) url: Option<String>,
    pub(super) target: Option<Target>,
    /// File that is uploaded.
    pub(super) upload: Option<String>,
    /// True if a response without a destination goes to a file named after the address.
    pub(super) remote: bool,
}

/// Destination of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    File(String),
    /// A file named after the address or the response.
    Remote,
}

/// Options for the output of responses and messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Output {
    pub(super) silent: bool,
    pub(super) show_error: bool,
    pub(super) verbose: bool,
    pub(super) include: bool,
    pub(super) dump: Option<String>,
    pub(super) write_out: Option<String>,
    pub(super) directory: Option<String>,
    pub(super) create_directories: bool,
    pub(super) remote_all: bool,
    /// True if the name comes from `content-disposition`.
    pub(super) header_name: bool,
    /// True if existing files are preserved.
    pub(super) keep: bool,
    /// File that receives standard error.
    pub(super) stderr: Option<String>,
}

/// Handling of failure statuses.
#[derive(Clone, Debug, Default)]
pub(super) struct Fail {
    pub(super) on_status: bool,
    pub(super) with_body: bool,
    pub(super) early: bool,
}

/// Handling of redirects.
#[derive(Clone, Debug)]
pub(super) struct Redirects {
    pub(super) follow: bool,
    /// Largest number of redirects; `None` for any number.
    pub(super) limit: Option<u32>,
    /// Statuses after which a POST remains a POST.
    pub(super) keep_post: Vec<u16>,
}

/// Handling of retries.
#[derive(Clone, Debug, Default)]
pub(super) struct Retry {
    pub(super) count: u32,
    /// Delay between tries, in seconds; `None` for 1, 2, 4, …
    pub(super) delay: Option<f64>,
    /// Maximum duration of all tries, in seconds.
    pub(super) max_time: Option<f64>,
    pub(super) all: bool,
    pub(super) refused: bool,
}

/// Cookie options.
#[derive(Clone, Debug, Default)]
pub(super) struct Cookies {
    /// Texts and file names of `-b`.
    pub(super) given: Vec<String>,
    pub(super) jar: Option<String>,
    /// True if session cookies in files are ignored.
    pub(super) junk_session: bool,
}

/// Data of a POST request, by option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Data {
    /// Data of `-d`. `@` names a file, from which line breaks are removed.
    Ascii(String),
    /// Data of `--data-binary` and `--json`. `@` names a file.
    Binary(String),
    /// Data of `--data-raw`, verbatim.
    Raw(String),
    /// Data of `--data-urlencode`, which is encoded.
    Encoded(String),
    /// Data of `--json`, whose parts have no separator.
    Json(String),
}

/// Action that the command line requests.
#[derive(Debug)]
pub(super) enum Asked {
    Run(Box<Options>),
    Help,
    Version,
    /// The command line is invalid; an error message.
    Wrong(String),
}

/// Default of the largest number of redirects.
const MAX_REDIRECTS: u32 = 50;

const TRY: &str = "curl: try 'curl --help' or 'curl --manual' for more information\n";

impl Default for Options {
    fn default() -> Self {
        Self {
            transfers: Vec::new(),
            output: Output::default(),
            fail: Fail::default(),
            redirects: Redirects { follow: false, limit: Some(MAX_REDIRECTS), keep_post: Vec::new() },
            retry: Retry::default(),
            cookies: Cookies::default(),
            method: None,
            headers: Vec::new(),
            data: Vec::new(),
            form: Vec::new(),
            get: false,
            head: false,
            json: false,
            queries: Vec::new(),
            user: None,
            bearer: None,
            agent: None,
            referer: None,
            range: None,
            compressed: false,
            insecure: false,
            globbing: true,
            protocol: None,
            max_time: None,
            max_size: None,
        }
    }
}

/// Parses the words of the command.
pub(super) fn read(words: &[String]) -> Asked {
    let mut options = Options::default();
    match options.take_all(words) {
        Ok(None) => {}
        Ok(Some(asked)) => return asked,
        Err(why) => return Asked::Wrong(format!("curl: {why}\n{TRY}")),
    }
    if options.transfers.iter().all(|transfer| transfer.url.is_none()) {
        return Asked::Wrong(format!("curl: no URL specified!\n{TRY}"));
    }
    match options.two_methods() {
        Some((one, other)) => Asked::Wrong(format!(
            "Warning: You can only select one HTTP request method! You asked for both {one} and {other}.\n"
        )),
        None => Asked::Run(Box::new(options)),
    }
}

/// End of parsing an option: an error message, or another action.
type Taken = Result<Option<Asked>, String>;

impl Options {
    fn take_all(&mut self, words: &[String]) -> Taken {
        let mut words = words.iter();
        let mut options = true;
        while let Some(word) = words.next() {
            let asked = match word.strip_prefix("--").filter(|_| options) {
                Some("") => {
                    options = false;
                    None
                }
                Some(name) => self.take_long(word, name, &mut words)?,
                None if options && word.len() > 1 && word.starts_with('-') => self.take_letters(word, &mut words)?,
                None => {
                    self.add_url(word);
                    None
                }
            };
            if asked.is_some() {
                return Ok(asked);
            }
        }
        Ok(None)
    }

    fn take_long(&mut self, word: &str, name: &str, words: &mut std::slice::Iter<'_, String>) -> Taken {
        let positive = name.strip_prefix("no-");
        let (known, on) = match (table::by_name(name), positive.map(table::by_name)) {
            (Ok(known), _) => (known, true),
            (Err(_), Some(Ok(known))) if !known.2.value() => (known, false),
            (Err(why), _) => return Err(format!("option {word}: {why}")),
        };
        let value = match known.2.value() {
            true => words.next().ok_or_else(|| format!("option {word}: requires parameter"))?,
            false => "",
        };
        self.take(word, known, on, value)
    }

    fn take_letters(&mut self, word: &str, words: &mut std::slice::Iter<'_, String>) -> Taken {
        for (at, letter) in word[1..].char_indices() {
            let option = format!("-{letter}");
            let known = table::by_letter(&option[1..]).ok_or_else(|| format!("option {option}: is unknown"))?;
            if !known.2.value() {
                // `-N` is the short form of `--no-buffer`, which the table lists without `no-`.
                if let Some(asked) = self.take(&option, known, true, "")? {
                    return Ok(Some(asked));
                }
                continue;
            }
            let rest = &word[1 + at + letter.len_utf8()..];
            let value = match rest {
                "" => words.next().ok_or_else(|| format!("option {option}: requires parameter"))?,
                rest => rest,
            };
            return self.take(&option, known, true, value);
        }
        Ok(None)
    }

    fn take(&mut self, word: &str, known: &Known, on: bool, value: &str) -> Taken {
        match known.2 {
            Takes::IdleFlag | Takes::IdleValue => Ok(None),
            Takes::RefusedFlag | Takes::RefusedValue => {
                Err(format!("option {word}: is not supported here, where requests go through the tool `http`"))
            }
            Takes::Flag => match known.0 {
                "help" => Ok(Some(Asked::Help)),
                "version" => Ok(Some(Asked::Version)),
                name => {
                    self.set_flag(name, on);
                    Ok(None)
                }
            },
            Takes::Value => {
                let taken = self.set_output(known.0, value) || self.set_request(known.0, value);
                let taken = if taken { Ok(true) } else { self.set_number(known.0, value) };
                match taken {
                    Ok(true) => Ok(None),
                    Ok(false) => Err(format!("option {word}: is unknown")),
                    Err(()) => Err(format!("option {word}: expected a proper numerical parameter")),
                }
            }
        }
    }

    fn set_flag(&mut self, name: &str, on: bool) {
        let redirects = &mut self.redirects.keep_post;
        match name {
            "compressed" => self.compressed = on,
            "create-dirs" => self.output.create_directories = on,
            "fail" => self.fail.on_status = on,
            "fail-early" => self.fail.early = on,
            "fail-with-body" => (self.fail.on_status, self.fail.with_body) = (on, on),
            "get" => self.get = on,
            "globoff" => self.globbing = !on,
            "head" => self.head = on,
            "include" => self.output.include = on,
            "insecure" => self.insecure = on,
            "junk-session-cookies" => self.cookies.junk_session = on,
            "location" => self.redirects.follow = on,
            "post301" => redirects.push(301),
            "post302" => redirects.push(302),
            "post303" => redirects.push(303),
            "remote-header-name" => self.output.header_name = on,
            "remote-name" => self.add_target(Target::Remote),
            "remote-name-all" => self.output.remote_all = on,
            "retry-all-errors" => self.retry.all = on,
            "retry-connrefused" => self.retry.refused = on,
            "show-error" => self.output.show_error = on,
            "silent" => self.output.silent = on,
            "verbose" => self.output.verbose = on,
            // The table lists `--no-clobber` without `no-`.
            "clobber" => self.output.keep = !on,
            // `basic` is the default, and partial output is never written (`remove-on-error`).
            _ => {}
        }
    }

    fn set_output(&mut self, name: &str, value: &str) -> bool {
        let text = value.to_owned();
        match name {
            "output" => self.add_target(Target::File(text)),
            "output-dir" => self.output.directory = Some(text),
            "dump-header" => self.output.dump = Some(text),
            "write-out" => self.output.write_out = Some(text),
            "stderr" => self.output.stderr = Some(text),
            "cookie-jar" => self.cookies.jar = Some(text),
            "url" => self.add_url(value),
            "upload-file" => self.slot(|transfer| transfer.upload.is_none()).upload = Some(text),
            _ => return false,
        }
        true
    }

    fn set_request(&mut self, name: &str, value: &str) -> bool {
        let text = value.to_owned();
        match name {
            "cookie" => self.cookies.given.push(text),
            "data" | "data-ascii" => self.data.push(Data::Ascii(text)),
            "data-binary" => self.data.push(Data::Binary(text)),
            "data-raw" => self.data.push(Data::Raw(text)),
            "data-urlencode" => self.data.push(Data::Encoded(text)),
            "json" => {
                self.json = true;
                self.data.push(Data::Json(text));
            }
            "form" => self.form.push((text, false)),
            "form-string" => self.form.push((text, true)),
            "header" => self.headers.push(text),
            "oauth2-bearer" => self.bearer = Some(text),
            "proto-default" => self.protocol = Some(text),
            "range" => self.range = Some(text),
            "referer" => self.referer = Some(text),
            "request" => self.method = Some(text),
            "url-query" => self.queries.push(text),
            "user" => self.user = Some(text),
            "user-agent" => self.agent = Some(text),
            _ => return false,
        }
        true
    }

    fn set_number(&mut self, name: &str, value: &str) -> Result<bool, ()> {
        let seconds = || value.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0).ok_or(());
        match name {
            "max-filesize" => self.max_size = Some(size(value).ok_or(())?),
            "max-redirs" if value == "-1" => self.redirects.limit = None,
            "max-redirs" => self.redirects.limit = Some(value.parse().map_err(|_| ())?),
            "max-time" => self.max_time = Some(seconds()?).filter(|time| *time > 0.0),
            "retry" => self.retry.count = value.parse().map_err(|_| ())?,
            "retry-delay" => self.retry.delay = Some(seconds()?).filter(|time| *time > 0.0),
            "retry-max-time" => self.retry.max_time = Some(seconds()?).filter(|time| *time > 0.0),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn add_url(&mut self, url: &str) {
        self.slot(|transfer| transfer.url.is_none()).url = Some(url.to_owned());
    }

    fn add_target(&mut self, target: Target) {
        self.slot(|transfer| transfer.target.is_none()).target = Some(target);
    }

    /// Returns the first transfer that lacks something, or a new one.
    fn slot(&mut self, lacks: impl Fn(&Transfer) -> bool) -> &mut Transfer {
        let at = self.transfers.iter().position(lacks).unwrap_or_else(|| {
            self.transfers.push(Transfer { remote: self.output.remote_all, ..Transfer::default() });
            self.transfers.len() - 1
        });
        &mut self.transfers[at]
    }

    /// Returns options that request two different methods.
    fn two_methods(&self) -> Option<(&'static str, &'static str)> {
        const HEAD: &str = "HEAD (-I, --head)";
        const PUT: &str = "PUT (-T, --upload-file)";
        const POST: &str = "POST (-d, --data)";
        const FORM: &str = "multipart formpost (-F, --form)";
        let asked = [
            (self.head, HEAD),
            (self.transfers.iter().any(|transfer| transfer.upload.is_some()), PUT),
            (!self.data.is_empty() && !self.get, POST),
            (!self.form.is_empty(), FORM),
        ];
        let mut asked = asked.iter().filter(|(asked, _)| *asked).map(|(_, name)| *name);
        Some((asked.next()?, asked.next()?))
    }
}

/// Parses a number of bytes with an optional unit letter.
fn size(text: &str) -> Option<u64> {
    let (digits, unit) = match text.find(|letter: char| !letter.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
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

    fn wrong(words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        match read(&words) {
            Asked::Wrong(why) => why.lines().next().unwrap_or_default().to_owned(),
            other => panic!("{words:?}: {other:?}"),
        }
    }

    #[test]
    fn letters_stand_together_and_take_what_follows() {
        let options = run(&["-sSLXPOST", "-dx=1", "-o", "f", "u", "--", "-v"]);
        assert!(options.output.silent && options.output.show_error && options.redirects.follow);
        assert_eq!((options.method.as_deref(), &options.data[..]), (Some("POST"), &[Data::Ascii("x=1".into())][..]));
        let urls: Vec<_> = options.transfers.iter().map(|transfer| transfer.url.as_deref()).collect();
        assert_eq!(urls, [Some("u"), Some("-v")]);
        assert_eq!(options.transfers[0].target, Some(Target::File("f".into())));
        assert_eq!(options.transfers[1].target, None);
    }

    #[test]
    fn names_may_be_shortened_and_turned_off() {
        assert_eq!(run(&["--request", "PUT", "u"]).method.as_deref(), Some("PUT"));
        assert!(run(&["--verb", "u"]).output.verbose);
        assert!(!run(&["-s", "--no-silent", "u"]).output.silent);
        assert!(run(&["--no-progress-meter", "-N", "--no-buffer", "--no-clobber", "u"]).output.keep);
        assert_eq!(wrong(&["--re", "u"]), "curl: option --re: is ambiguous");
    }

    #[test]
    fn what_is_wrong_names_the_option() {
        assert_eq!(wrong(&["--foo", "u"]), "curl: option --foo: is unknown");
        assert_eq!(wrong(&["u", "-o"]), "curl: option -o: requires parameter");
        assert_eq!(wrong(&["-m", "x", "u"]), "curl: option -m: expected a proper numerical parameter");
        assert_eq!(wrong(&["-s"]), "curl: no URL specified!");
        assert!(wrong(&["-x", "proxy:1", "u"]).starts_with("curl: option -x: is not supported here"));
        assert!(wrong(&["-I", "-d", "x", "u"]).contains("HEAD (-I, --head) and POST (-d, --data)"));
    }
}
