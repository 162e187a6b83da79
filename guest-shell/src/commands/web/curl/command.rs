//! The command `curl` of the shell.

use std::sync::Arc;

use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait};

use super::codes::{MALFORMED, Problem, READ_FILE, USAGE, WRITE};
use super::data;
use super::glob::{self, Expanded};
use super::message::{self, Message};
use super::options::{self, Asked, Options, Target, Transfer};
use super::transfer::{Ended, Sender};
use super::write_out;
use crate::bindings::random;
use crate::catalog::Methods;
use crate::clock;
use crate::commands::web::address::{self, Address};
use crate::commands::web::cookies::Jar;
use crate::commands::web::files::{self, Files};

const VERSION: &str = "\
curl 7.88.1 (tollhouse) over the tool `http`
Protocols: file http https
Features: IPv6 SSL libz
";

const HELP: &str = "\
Usage: curl [options...] <url>
Requests go through the tool `http`: the policy says which hosts may be reached.
 -d, --data <data>        HTTP POST data (--data-raw, --data-binary, --data-urlencode, @file)
 -F, --form <name=content> Specify multipart MIME data (@file)
     --json <data>        HTTP POST JSON
 -G, --get                Put the post data in the URL and use GET
 -X, --request <method>   Specify request method to use
 -H, --header <header/@file> Pass custom header(s) to server
 -u, --user <user:password> Server user and password
 -A, --user-agent <name>  Send User-Agent <name> to server
 -e, --referer <URL>      Referrer URL
 -b, --cookie <data|filename> Send cookies from string/file
 -c, --cookie-jar <filename> Write cookies to <filename> after operation
 -T, --upload-file <file> Transfer local FILE to destination
 -I, --head               Show document info only
 -L, --location           Follow redirects
 -o, --output <file>      Write to file instead of stdout
 -O, --remote-name        Write output to a file named as the remote file
 -J, --remote-header-name Use the header-provided filename
 -f, --fail               Fail fast with no output on HTTP errors
 -i, --include            Include protocol response headers in the output
 -D, --dump-header <filename> Write the received headers to <filename>
 -w, --write-out <format> Use output FORMAT after completion
 -m, --max-time <seconds> Maximum time allowed for transfer
     --retry <num>        Retry request if transient problems occur
     --compressed         Request compressed response
 -s, --silent             Silent mode
 -S, --show-error         Show error even when -s is used
 -v, --verbose            Make the operation more talkative
";

/// Warning about the option `-k`.
const INSECURE: &str = "Warning: -k is ignored: the host checks certificates always\n";

/// Command that transfers files by HTTP, as `curl`.
pub(crate) struct Curl {
    methods: Arc<Methods>,
}

impl Curl {
    pub(crate) fn new(methods: Arc<Methods>) -> Self {
        Self { methods }
    }
}

#[async_trait]
impl Command for Curl {
    async fn execute(&self, context: CommandContext<'_>) -> Result<CommandStatus> {
        let options = match options::read(context.args) {
            Asked::Run(options) => options,
            Asked::Help => {
                context.stdout.write_text(HELP).await?;
                return Ok(CommandStatus::success());
            }
            Asked::Version => {
                context.stdout.write_text(VERSION).await?;
                return Ok(CommandStatus::success());
            }
            Asked::Wrong(text) => {
                context.stderr.write_text(&text).await?;
                return Ok(CommandStatus::with_code(USAGE));
            }
        };
        let mut run = Run {
            methods: &self.methods,
            files: Files::new(&context),
            options: &options,
            jar: None,
            cookies: None,
            errors: String::new(),
            dumped: false,
        };
        let status = run.run().await?;
        let errors = std::mem::take(&mut run.errors);
        run.tell(&errors).await?;
        Ok(CommandStatus::with_code(status))
    }
}

/// State of one execution.
struct Run<'a, 'c> {
    methods: &'a Methods,
    files: Files<'a, 'c>,
    options: &'a Options,
    /// Stored cookies, if any.
    jar: Option<Jar>,
    /// Text of cookies that is sent with all requests.
    cookies: Option<String>,
    /// Text for standard error that is not written yet.
    errors: String,
    /// True if headers were dumped into a file.
    dumped: bool,
}

impl Run<'_, '_> {
    async fn run(&mut self) -> Result<i32> {
        if self.options.insecure {
            self.errors += INSECURE;
        }
        let format = match self.options.output.write_out.as_deref().map(|format| (format, format.strip_prefix('@'))) {
            None => None,
            Some((format, None)) => Some(format.to_owned()),
            Some((_, Some(name))) => match self.files.read(name).await? {
                Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                Err(_) => return Ok(self.problem(&Problem::told(USAGE, format!("Failed to open {name}")))),
            },
        };
        self.load_cookies().await?;
        let (mut status, mut number) = (0, 0);
        for transfer in &self.options.transfers {
            let Some(url) = &transfer.url else {
                self.warn("Got more output options than URLs");
                continue;
            };
            let all = match self.options.globbing {
                true => glob::expand(url),
                false => Ok(vec![Expanded { url: url.clone(), parts: Vec::new() }]),
            };
            let all = match all {
                Ok(all) => all,
                Err(why) => {
                    status = self.problem(&Problem::told(MALFORMED, why));
                    continue;
                }
            };
            for one in all {
                status = self.one(&one, transfer, number, format.as_deref()).await?;
                number += 1;
                if status != 0 && self.options.fail.early {
                    return Ok(status);
                }
            }
        }
        if let (Some(jar), Some(file)) = (&self.jar, &self.options.cookies.jar)
            && let Err(why) = self.files.write(file, jar.file(clock::now_micros() / 1_000_000, true).as_bytes()).await?
        {
            self.warn(&format!("failed to save cookies in {file}: {why}"));
        }
        Ok(status)
    }

    /// Loads the texts and files of `-b`. A text contains a `=`.
    async fn load_cookies(&mut self) -> Result<()> {
        let cookies = &self.options.cookies;
        let mut jar = cookies.jar.is_some().then(Jar::default);
        let mut texts = Vec::new();
        for given in &cookies.given {
            if given.contains('=') {
                texts.push(given.clone());
                continue;
            }
            let jar = jar.get_or_insert_default();
            // As in curl, a missing file counts as empty.
            if let (false, Ok(bytes)) = (given.is_empty(), self.files.read(given).await?) {
                jar.load(&String::from_utf8_lossy(&bytes), cookies.junk_session);
            }
        }
        self.jar = jar;
        self.cookies = (!texts.is_empty()).then(|| texts.join(";"));
        Ok(())
    }

    /// Transfers one address and returns the status.
    async fn one(
        &mut self,
        expanded: &Expanded,
        transfer: &Transfer,
        number: usize,
        format: Option<&str>,
    ) -> Result<i32> {
        let mut ended = match self.fetch(&expanded.url, transfer).await? {
            Ok(ended) => ended,
            Err(problem) => Ended { problem: Some(problem), ..Ended::default() },
        };
        self.errors += &ended.warnings;
        if self.options.output.verbose {
            self.errors += &ended.trace;
        }
        self.flush().await?;
        ended.report.url.clone_from(&expanded.url);
        ended.report.number = number;
        if let Err(problem) = self.write(&mut ended, transfer, &expanded.parts).await? {
            ended.problem = Some(problem);
        }
        let status = ended.problem.as_ref().map_or(0, |problem| self.problem(problem));
        ended.report.exit = status;
        ended.report.error = ended.problem.map(|problem| problem.text);
        if let Some(format) = format {
            let written = write_out::write(format, &ended.report);
            // Writing to standard output succeeds, or the script ends.
            let _ = self.files.write("-", written.stdout.as_bytes()).await?;
            self.errors += &written.stderr;
        }
        self.flush().await?;
        Ok(status)
    }

    /// Fetches an address.
    async fn fetch(&mut self, url: &str, transfer: &Transfer) -> Result<std::result::Result<Ended, Problem>> {
        self.files.begin_address();
        if let Some(path) = url.strip_prefix("file://") {
            let path = path.strip_prefix("localhost").unwrap_or(path);
            return match &transfer.upload {
                Some(name) => self.send_file(name, path).await,
                None => self.read_file(path).await,
            };
        }
        let word = match &self.options.protocol {
            Some(protocol) if !url.contains("://") => format!("{protocol}://{url}"),
            _ => url.to_owned(),
        };
        let target = match address::Target::parse(&word) {
            Ok(target) => target,
            Err(mistake) => return Ok(Err(mistake.into())),
        };
        let address = match self.with_query(target.address, transfer).await? {
            Ok(address) => address,
            Err(problem) => return Ok(Err(problem)),
        };
        let boundary = boundary();
        let (upload, credentials) = (transfer.upload.as_deref(), target.credentials.as_deref());
        let message = Message::build(self.options, upload, credentials, &boundary, &self.files).await?;
        let message = match message {
            Ok(message) => message,
            Err(problem) => return Ok(Err(problem)),
        };
        let mut sender = Sender {
            methods: self.methods,
            options: self.options,
            jar: self.jar.as_mut(),
            cookies: self.cookies.clone(),
        };
        Ok(Ok(sender.send(&message, &address).await))
    }

    /// Returns the address with additions to its query, and with the name of the file that is sent.
    async fn with_query(&self, address: Address, transfer: &Transfer) -> Result<std::result::Result<Address, Problem>> {
        let query = match message::query(self.options, &self.files).await? {
            Ok(query) => query,
            Err(problem) => return Ok(Err(problem)),
        };
        // Unencoded text is not a valid address, and curl cannot know which characters were meant.
        if query.as_ref().is_some_and(|query| query.bytes().any(|byte| byte <= b' ' || byte == 0x7f)) {
            return Ok(Err(address::Mistake::Malformed.into()));
        }
        let address = query.map_or_else(|| address.clone(), |query| address.with_query(&query));
        let name = transfer.upload.as_deref().filter(|name| *name != "-");
        let name = name.map(|name| name.rsplit('/').next().unwrap_or_default());
        Ok(Ok(name.map_or_else(|| address.clone(), |name| address.with_file_name(name))))
    }

    /// Reads a file of the session (`file://…`).
    async fn read_file(&self, path: &str) -> Result<std::result::Result<Ended, Problem>> {
        let read = self.files.read(path).await?;
        Ok(match read {
            Ok(body) => {
                let mut ended = Ended { body, ..Ended::default() };
                ended.report.effective = format!("file://{path}");
                "file".clone_into(&mut ended.report.scheme);
                ended.report.size_download = u64::try_from(ended.body.len()).unwrap_or(u64::MAX);
                Ok(ended)
            }
            Err(_) => Err(Problem::new(READ_FILE, format!("Couldn't open file {path}"))),
        })
    }

    /// Writes into a file of the session (`-T FILE file://…`).
    async fn send_file(&self, name: &str, path: &str) -> Result<std::result::Result<Ended, Problem>> {
        let bytes = match data::opened(name, self.files.read(name).await?) {
            Ok(bytes) => bytes,
            Err(problem) => return Ok(Err(problem)),
        };
        let base = name.rsplit('/').next().unwrap_or_default();
        let path = if path.ends_with('/') && name != "-" { format!("{path}{base}") } else { path.to_owned() };
        if self.files.write(&path, &bytes).await?.is_err() {
            return Ok(Err(Problem::new(WRITE, format!("Can't open {path} for writing"))));
        }
        let mut ended = Ended::default();
        ended.report.effective = format!("file://{path}");
        "file".clone_into(&mut ended.report.scheme);
        ended.report.size_upload = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Ok(Ok(ended))
    }

    /// Writes the response to its destination.
    async fn write(
        &mut self,
        ended: &mut Ended,
        transfer: &Transfer,
        parts: &[String],
    ) -> Result<std::result::Result<(), Problem>> {
        let output = &self.options.output;
        if let Some(file) = &output.dump
            && !ended.heads.is_empty()
        {
            let heads = ended.heads.as_bytes();
            let appends = self.dumped && file != "-";
            let written = match appends {
                true => self.files.append(file, heads).await?,
                false => self.files.write(file, heads).await?,
            };
            if let Err(why) = written {
                return Ok(Err(Problem::new(WRITE, format!("Failed to open {file}: {why}"))));
            }
            self.dumped = true;
        }
        let with_heads = output.include || self.options.head;
        let mut bytes = if with_heads { std::mem::take(&mut ended.heads).into_bytes() } else { Vec::new() };
        bytes.append(&mut ended.body);
        // A failed transfer without output creates no file.
        if ended.problem.is_some() && bytes.is_empty() {
            return Ok(Ok(()));
        }
        let name = match self.file_name(ended, transfer, parts) {
            Ok(name) => name,
            Err(problem) => return Ok(Err(problem)),
        };
        let Some(name) = name else {
            return Ok(self.files.write("-", &bytes).await?.map_err(|why| Problem::new(WRITE, why)));
        };
        self.write_file(name, &bytes, ended).await
    }

    async fn write_file(
        &mut self,
        name: String,
        bytes: &[u8],
        ended: &mut Ended,
    ) -> Result<std::result::Result<(), Problem>> {
        let output = &self.options.output;
        let stream = name == "-" || name.starts_with("/dev/");
        let mut name = match &output.directory {
            Some(directory) if !stream => format!("{directory}/{name}"),
            _ => name,
        };
        if !stream
            && output.create_directories
            && let Some((directory, _)) = name.rsplit_once('/')
            && !directory.is_empty()
            && let Err(why) = self.files.make_directory(directory).await
        {
            return Ok(Err(Problem::new(WRITE, format!("The directory name {directory} cannot be made: {why}"))));
        }
        let taken = !stream && self.files.exists(&name).await;
        if taken && output.header_name && ended.report.file.is_some() {
            return Ok(Err(Problem::new(WRITE, format!("Failed to open the file {name}: File exists"))));
        }
        if taken && output.keep {
            let mut number = 1;
            while self.files.exists(&format!("{name}.{number}")).await {
                number += 1;
            }
            name = format!("{name}.{number}");
        }
        ended.report.file = Some(name.clone());
        Ok(match self.files.write(&name, bytes).await? {
            Ok(()) => Ok(()),
            Err(why) => {
                self.warn(&format!("Failed to open the file {name}: {why}"));
                Err(Problem::new(WRITE, "Failure writing output to destination"))
            }
        })
    }

    /// Returns the name of the output file of a response; `None` for standard output.
    fn file_name(
        &self,
        ended: &mut Ended,
        transfer: &Transfer,
        parts: &[String],
    ) -> std::result::Result<Option<String>, Problem> {
        let remote = Target::Remote;
        let target = transfer.target.as_ref().or_else(|| transfer.remote.then_some(&remote));
        match target {
            None => Ok(None),
            Some(Target::File(name)) => Ok(Some(glob::name(name, parts))),
            Some(Target::Remote) => {
                let disposition = ended.report.headers.iter().find(|(name, _)| name == "content-disposition");
                let given = disposition.and_then(|(_, value)| files::name_of(value));
                if let (true, Some(given)) = (self.options.output.header_name, given) {
                    ended.report.file = Some(given.clone());
                    return Ok(Some(given));
                }
                let path = ended.report.url.split(['?', '#']).next().unwrap_or_default();
                let path = path.split_once("://").map_or(path, |(_, path)| path);
                match path.rsplit_once('/') {
                    Some((_, name)) if !name.is_empty() => Ok(Some(name.to_owned())),
                    _ => Err(Problem::new(WRITE, "Remote file name has no length!")),
                }
            }
        }
    }

    /// Records a problem, and returns its status.
    fn problem(&mut self, problem: &Problem) -> i32 {
        let output = &self.options.output;
        if !output.silent || output.show_error || problem.always {
            self.errors += &format!("curl: ({}) {}\n", problem.status, problem.text);
        }
        problem.status
    }

    fn warn(&mut self, text: &str) {
        if !self.options.output.silent {
            self.errors += &format!("Warning: {text}\n");
        }
    }

    /// Writes pending text for standard error, unless it goes to a file, which is written at the end.
    async fn flush(&mut self) -> Result<()> {
        if self.options.output.stderr.is_some() {
            return Ok(());
        }
        let errors = std::mem::take(&mut self.errors);
        self.tell(&errors).await
    }

    async fn tell(&self, errors: &str) -> Result<()> {
        let file = self.options.output.stderr.as_deref();
        if errors.is_empty() && file.is_none() {
            return Ok(());
        }
        // If the file cannot be written, there is no place for a message either.
        let _ = self.files.write(file.unwrap_or("/dev/stderr"), errors.as_bytes()).await?;
        Ok(())
    }
}

/// Returns a random boundary between the parts of a form.
fn boundary() -> String {
    let digits: String = random::bytes(8).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("------------------------{digits}")
}
