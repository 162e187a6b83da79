//! Programs of servers. Each is started by a process of Tollhouse's own, `tollhouse mcp-program`, which confines the
//! program, hands its input and output on, and ends it with everything that it has started. For a server at a URL, the
//! process is `tollhouse mcp-remote`, which speaks with it.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tollhouse::capability::{EnvironmentValue, McpServer, ServerUrl};
use tollhouse::tool::{SecretUse, Secrets};

use super::login::LoginPlace;
use super::{ConnectError, McpClient, ServerConnection, ServerPipes};

/// Prefix of the variables by which `tollhouse mcp-program` is given the environment of its server's program, and
/// `tollhouse mcp-remote` the headers of its requests.
pub const SERVER_VARIABLE: &str = "TOLLHOUSE_MCP_SERVER_";

/// Command that starts programs of servers: `tollhouse mcp-program` and `mcp-remote` of this version.
#[derive(Clone, Debug)]
pub struct ServerLauncher {
    /// Executable file that runs Tollhouse.
    pub executable: PathBuf,
    /// Arguments before `mcp-program`.
    pub before: Vec<OsString>,
    /// Options of `mcp-program` that disable a part of the confinement.
    pub flags: Vec<OsString>,
    /// Environment of this process, which its child has too.
    pub environment: Vec<(OsString, OsString)>,
    /// Place of the operator's logins at servers at a URL; `None` if none are used.
    pub logins: Option<LoginPlace>,
}

/// Header that a login fills.
const AUTHORIZATION: &str = "authorization";

/// Name of a login in the log, among those of secrets.
const LOGIN: &str = "login";

/// Reason why the program of a server cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A variable is to have the value of a secret that was not given.
    #[error("the MCP server `{server}` needs the secret `{secret}`, but no value was given for it")]
    Secret {
        /// Name of the server.
        server: String,
        /// Name of the secret.
        secret: String,
    },
    /// The system starts no process.
    #[error("cannot start the MCP server `{server}`")]
    Process {
        /// Name of the server.
        server: String,
        /// Error of the system.
        #[source]
        source: io::Error,
    },
}

/// Started program of a server.
#[derive(Debug)]
pub struct StartedServer {
    name: String,
    timeout: Option<Duration>,
    /// Secrets whose values the process was given.
    secrets: Vec<SecretUse>,
    child: Child,
}

impl ServerLauncher {
    /// Starts the program of a server with the files, ports and variables of its table, or the process that speaks with
    /// a server at a URL. Whoever calls this has been told
    /// by the operator to start it: a policy may come from a stranger.
    ///
    /// # Errors
    /// If a secret is missing, or the system starts no process.
    pub fn start(&self, name: &str, settings: &McpServer, secrets: &Secrets) -> Result<StartedServer, StartError> {
        let mut command = Command::new(&self.executable);
        command.args(&self.before).arg(if settings.url.is_some() { "mcp-remote" } else { "mcp-program" });
        command.args(&self.flags);
        for (option, paths) in [("--read", &settings.read), ("--write", &settings.write)] {
            command.args(paths.iter().flat_map(|path| [option, path]));
        }
        command.args(settings.ports.iter().flat_map(|port| ["--port".to_owned(), port.to_string()]));
        let login = self.login(settings);
        if let Some(login) = login {
            command.arg("--login").arg(&login.directory).arg("--login-key").arg(&login.key);
        }
        command.arg("--").args(&settings.command).args(settings.url.as_ref().map(ServerUrl::as_str));
        // Variables of this process that are named like those of a server are not the server's.
        let is_other = |name: &OsString| !name.to_string_lossy().starts_with(SERVER_VARIABLE);
        command.env_clear().envs(self.environment.iter().filter(|(name, _)| is_other(name)).cloned());
        let to = settings.url.as_ref().map(ServerUrl::origin);
        let mut used: Vec<SecretUse> =
            login.iter().map(|_| SecretUse { secret: LOGIN.to_owned(), to: to.clone() }).collect();
        let mut value_of = |secret: &str| {
            let missing = || StartError::Secret { server: name.to_owned(), secret: secret.to_owned() };
            let used_here = SecretUse { secret: secret.to_owned(), to: to.clone() };
            if !used.contains(&used_here) {
                used.push(used_here);
            }
            secrets.value(secret).ok_or_else(missing)
        };
        for (variable, value) in &settings.environment {
            let value = match value {
                EnvironmentValue::Literal(value) => value,
                EnvironmentValue::Secret(secret) => value_of(secret)?,
            };
            command.env(format!("{SERVER_VARIABLE}{variable}"), value);
        }
        for (header, text) in &settings.headers {
            let secret = text.secret.as_deref().map(&mut value_of).transpose()?.unwrap_or_default();
            command.env(format!("{SERVER_VARIABLE}{header}"), format!("{}{secret}", text.before));
        }
        // Ctrl-C is for this program, which ends the server in its own way.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().map_err(|source| StartError::Process { server: name.to_owned(), source })?;
        Ok(StartedServer { name: name.to_owned(), timeout: settings.timeout, secrets: used, child })
    }

    /// Returns the place of the login at the address of a server, unless the policy has a header of its own for it.
    fn login(&self, settings: &McpServer) -> Option<&LoginPlace> {
        let place = self.logins.as_ref().filter(|_| !settings.headers.contains_key(AUTHORIZATION))?;
        settings.url.as_ref().filter(|url| place.contains(url)).map(|_| place)
    }
}

impl StartedServer {
    /// Returns the name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the secrets whose values the process was given.
    pub(super) fn secrets(&self) -> &[SecretUse] {
        &self.secrets
    }

    /// Connects with the server, once. Its program starts with the first message, once the use of its secrets is in the
    /// client's log.
    ///
    /// # Errors
    /// If that cannot be written, or the server does not speak the protocol, does not answer in time, or lists no usable tools.
    pub fn connect(&mut self, client: &McpClient) -> Result<ServerConnection, ConnectError> {
        let (input, output, errors) = (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take());
        let pipes = ServerPipes {
            input: input.expect("it is piped, and a server is connected with once").into(),
            output: output.expect("it is piped, and a server is connected with once").into(),
            diagnostics: errors.expect("it is piped, and a server is connected with once").into(),
        };
        client.record_use(&self.name, &self.secrets)?;
        let connection = client.connect(&self.name, pipes)?.with_secrets(self.secrets.clone());
        Ok(match self.timeout {
            Some(timeout) => connection.with_timeout(timeout),
            None => connection,
        })
    }

    /// Waits until the process has ended, so that the system forgets it. It ends when its connection does.
    pub fn wait(mut self) {
        // There is nothing to do about a process that cannot be waited for.
        let _ = self.child.wait();
    }
}
