//! The command `wget` of the shell.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bashkit::time::UNIX_EPOCH;
use bashkit::{Command, CommandContext, CommandStatus, Result, async_trait, vfs_join};

use super::options::{self, Asked, Body, Options, Verbosity};
use super::retrieval::{Problem, Retrieval, Retrieved, refusal};
use crate::catalog::Methods;
use crate::commands::calendar;
use crate::commands::web::address::{Mistake, Target};
use crate::commands::web::cookies::Jar;
use crate::commands::web::files::{self, Files};
use crate::commands::web::{date, reason};
use crate::{clock, operations};

const VERSION: &str = "GNU Wget 1.21.3 (tollhouse) over the tool `http`\n";

const HELP: &str = "\
Usage: wget [OPTION]... [URL]...
Requests go through the tool `http`: the policy says which hosts may be reached.

  -q,  --quiet                     quiet (no output)
  -nv, --no-verbose                a line for each file (this is the default here)
  -O,  --output-document=FILE      write documents to FILE (- for standard output)
  -P,  --directory-prefix=PREFIX   save files to PREFIX/..
  -nc, --no-clobber                skip downloads that would overwrite existing files
  -i,  --input-file=FILE           download URLs found in FILE
  -o,  --output-file=FILE          log messages to FILE
  -S,  --server-response           print server response
       --spider                    don't download anything
  -t,  --tries=NUMBER              set number of tries to NUMBER (0 unlimits)
  -T,  --timeout=SECONDS           set the timeout to SECONDS
  -U,  --user-agent=AGENT          identify as AGENT instead of Wget/VERSION
       --header=STRING             insert STRING among the headers
       --post-data=STRING          use the POST method; send STRING as the data
       --post-file=FILE            use the POST method; send contents of FILE
       --method=HTTPMethod         use method \"HTTPMethod\" in the request
       --body-data=STRING          send STRING as data. --method MUST be set
       --body-file=FILE            send contents of FILE. --method MUST be set
       --user=USER, --password=PASS
       --content-disposition       take the name of the file from the answer
";

/// Warning about the option `--no-check-certificate`.
const INSECURE: &str = "WARNING: --no-check-certificate is ignored: the host checks certificates always\n";

/// Exit status if a file cannot be written or read.
const FILE: i32 = 3;

/// Command that retrieves files by HTTP, as `wget`.
pub(crate) struct Wget {
    methods: Arc<Methods>,
}

impl Wget {
    pub(crate) fn new(methods: Arc<Methods>) -> Self {
        Self { methods }
    }
}

#[async_trait]
impl Command for Wget {
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
            Asked::Wrong(text, status) => {
                context.stderr.write_text(&text).await?;
                return Ok(CommandStatus::with_code(status));
            }
        };
        let mut run = Run {
            methods: &self.methods,
            context: &context,
            files: Files::new(&context),
            options: &options,
            jar: Jar::default(),
            messages: String::new(),
        };
        let status = run.run().await?;
        run.tell().await?;
        Ok(CommandStatus::with_code(status))
    }
}

/// State of one execution.
struct Run<'a, 'c> {
    methods: &'a Methods,
    context: &'a CommandContext<'c>,
    files: Files<'a, 'c>,
    options: &'a Options,
    jar: Jar,
    /// Messages that are not printed yet.
    messages: String,
}

impl Run<'_, '_> {
    async fn run(&mut self) -> Result<i32> {
        if let Some(log) = &self.options.log
            && let Err(why) = self.files.write(log, b"").await?
        {
            self.context.stderr.write_text(&format!("wget: {log}: {why}\n")).await?;
            return Ok(1);
        }
        if self.options.insecure {
            self.messages += INSECURE;
        }
        let mut urls = self.options.urls.clone();
        if let Some(input) = &self.options.input {
            match self.files.read(input).await? {
                Ok(bytes) => {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    urls.extend(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned));
                }
                Err(why) => return Ok(self.fail(FILE, &format!("{input}: {why}"))),
            }
        }
        if let Some(file) = &self.options.load_cookies {
            match self.files.read(file).await? {
                Ok(bytes) => self.jar.load(&String::from_utf8_lossy(&bytes), false),
                Err(why) => self.say(&format!("Cannot open cookies file {}: {why}\n", file)),
            }
        }
        // As in wget, the file is created before anything is fetched.
        if let Some(file) = self.options.document.as_deref().filter(|file| *file != "-")
            && let Err(why) = self.files.write(file, b"").await?
        {
            self.messages += &format!("{file}: {why}\n");
            return Ok(1);
        }
        let mut status = 0;
        for (at, url) in urls.iter().enumerate() {
            if at > 0 && self.options.wait > 0.0 {
                let _ = operations::sleep(Duration::from_secs_f64(self.options.wait.min(86_400.0))).await;
            }
            let one = self.one(url).await?;
            status = worse(status, one);
            self.flush().await?;
        }
        if let Some(file) = &self.options.save_cookies {
            let now = clock::now_micros() / 1_000_000;
            let kept = self.jar.file(now, self.options.keep_session_cookies);
            if let Err(why) = self.files.write(file, kept.as_bytes()).await? {
                status = worse(status, self.fail(FILE, &format!("Cannot write to {file}: {why}")));
            }
        }
        Ok(status)
    }

    /// Retrieves one address and returns the status.
    async fn one(&mut self, url: &str) -> Result<i32> {
        // As in wget, which interprets addresses leniently.
        let target = match Target::parse(&url.replace(' ', "%20")) {
            Ok(target) => target,
            Err(Mistake::Malformed) => return Ok(self.fail(1, &format!("{url}: Invalid host name."))),
            Err(Mistake::Protocol(_)) => return Ok(self.fail(1, &format!("{url}: Unsupported scheme."))),
        };
        let name = self.name(&file_name(&target));
        let to_file = self.options.document.is_none() && !self.options.spider;
        if to_file && self.options.keep && self.files.exists(&name).await {
            self.say(&format!("File '{name}' already there; not retrieving.\n"));
            return Ok(0);
        }
        let body = match &self.options.body {
            None => None,
            Some(Body::Text(text)) => Some(bashkit::bytes_of(text).into_owned()),
            Some(Body::File(file)) => match self.files.read(file).await? {
                Ok(bytes) => Some(bytes),
                Err(why) => return Ok(self.fail(FILE, &format!("BODY data file {file} missing: {why}"))),
            },
        };
        let given = self.options.user.as_ref();
        let given = given.map(|user| format!("{user}:{}", self.options.password.as_deref().unwrap_or_default()));
        let credentials = target.credentials.clone().or(given);
        let mut retrieval =
            Retrieval { methods: self.methods, options: self.options, jar: &mut self.jar, credentials, body };
        match retrieval.retrieve(&target.address).await {
            Ok(retrieved) => self.take(retrieved, name).await,
            Err(Problem { status, text, always }) => {
                if always || self.options.verbosity != Verbosity::Quiet {
                    self.messages += &text;
                }
                Ok(status)
            }
        }
    }

    /// Writes a response to its destination, and reports it.
    async fn take(&mut self, retrieved: Retrieved, name: String) -> Result<i32> {
        let Retrieved { reply, address, head, shown } = &retrieved;
        if self.options.server_response {
            self.messages += shown;
        }
        let refused = refusal(reply);
        if let Some(status) = refused {
            let phrase = reason::phrase(reply.status);
            self.say(&format!("{address}:\n{} ERROR {}: {phrase}.\n", stamp(), reply.status));
            if self.options.spider || !self.options.content_on_error {
                return Ok(status);
            }
        }
        if self.options.spider {
            self.say(&format!("{} URL: {address} {} {}\n", stamp(), reply.status, reason::phrase(reply.status)));
            return Ok(0);
        }
        let mut bytes = if self.options.save_headers { head.clone().into_bytes() } else { Vec::new() };
        bytes.extend(&reply.body);
        let (name, written) = match &self.options.document {
            // The file exists, and was empty at first.
            Some(file) => (file.clone(), self.files.append(file, &bytes).await?),
            None => {
                let name = self.free_name(&retrieved, name).await;
                let written = self.save(&name, &bytes, reply.header("last-modified")).await?;
                (name, written)
            }
        };
        if let Err(why) = written {
            return Ok(self.fail(FILE, &format!("{name}: {why}")));
        }
        let length = reply.body.len();
        self.say(&format!("{} URL:{address} [{length}/{length}] -> \"{name}\" [1]\n", stamp()));
        Ok(refused.unwrap_or_default())
    }

    /// Returns the name of a file that does not exist, with a number appended if necessary.
    async fn free_name(&self, retrieved: &Retrieved, name: String) -> String {
        let disposition = retrieved.reply.header("content-disposition").filter(|_| self.options.content_disposition);
        let given = disposition.and_then(files::name_of);
        let last = self.options.trust_server_names.then(|| index_or(retrieved.address.file_name()));
        let name = given.or(last).map_or(name, |given| self.name(&given));
        let mut free = name.clone();
        let mut number = 1;
        while self.files.exists(&free).await {
            free = format!("{name}.{number}");
            number += 1;
        }
        free
    }

    async fn save(&self, name: &str, bytes: &[u8], modified: Option<&str>) -> Result<std::result::Result<(), String>> {
        if let Some((directory, _)) = name.rsplit_once('/')
            && !directory.is_empty()
            && let Err(why) = self.files.make_directory(directory).await
        {
            return Ok(Err(why));
        }
        let written = self.files.write(name, bytes).await?;
        let time = modified.and_then(date::seconds).filter(|_| self.options.server_timestamps);
        if let (Ok(()), Some(time)) = (&written, time) {
            let path = vfs_join(self.context.cwd, Path::new(name));
            // A file system without times ignores this.
            let _ = self.context.fs.set_modified_time(&path, UNIX_EPOCH + Duration::from_secs(time)).await;
        }
        Ok(written)
    }

    fn name(&self, name: &str) -> String {
        match &self.options.directory {
            Some(directory) => format!("{}/{name}", directory.trim_end_matches('/')),
            None => name.to_owned(),
        }
    }

    fn say(&mut self, text: &str) {
        if self.options.verbosity != Verbosity::Quiet {
            self.messages += text;
        }
    }

    fn fail(&mut self, status: i32, text: &str) -> i32 {
        self.say(&format!("wget: {text}\n"));
        status
    }

    /// Prints pending messages, unless they go to a file, which is written at the end.
    async fn flush(&mut self) -> Result<()> {
        if self.options.log.is_some() {
            return Ok(());
        }
        self.tell().await
    }

    async fn tell(&mut self) -> Result<()> {
        let messages = std::mem::take(&mut self.messages);
        let file = self.options.log.as_deref();
        if messages.is_empty() && file.is_none() {
            return Ok(());
        }
        // If the file cannot be written, there is no place for a message either.
        let _ = self.files.write(file.unwrap_or("/dev/stderr"), messages.as_bytes()).await?;
        Ok(())
    }
}

/// Returns the name of the output file for an address: its last segment and its query.
fn file_name(target: &Target) -> String {
    let whole = target.address.path_and_query();
    let (path, query) = whole.split_once('?').map_or((whole, None), |(path, query)| (path, Some(query)));
    let name = index_or(path.rsplit('/').next().unwrap_or_default());
    query.map_or_else(|| name.clone(), |query| format!("{name}?{}", query.replace('/', "%2F")))
}

fn index_or(name: &str) -> String {
    if name.is_empty() { "index.html".to_owned() } else { name.to_owned() }
}

/// Returns the more severe of two statuses: the lower one, except that 0 is success.
fn worse(one: i32, other: i32) -> i32 {
    match (one, other) {
        (0, status) | (status, 0) => status,
        (one, other) => one.min(other),
    }
}

/// Returns the current time in the format of wget.
fn stamp() -> String {
    let seconds = clock::now_micros() / 1_000_000;
    let ([year, month, day], [hour, minute, second]) = calendar::civil(seconds);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}
