//! `tollhouse mcp-remote`: the process between this program and an MCP server at a URL.
//!
//! It speaks HTTP with the server, and lines on its input and output. It is confined to the port of the server, and of its
//! authorization server if there is a login, and ends with its input.

use std::path::PathBuf;

use clap::Args;
use tollhouse::capability::ServerUrl;
use tollhouse_mcp::{LoginPlace, LoginSession, SERVER_VARIABLE, relay_stdio};

use crate::confine::{ConfineArgs, ProgramAccess};
use crate::locations;
use crate::{CliError, Exit, Result};

/// Hand messages on between this process and an MCP server at a URL
#[derive(Args)]
pub(crate) struct McpRemoteCommand {
    #[command(flatten)]
    confine: ConfineArgs,
    /// The directory of the logins, one of which is for this address
    #[arg(long, value_name = "DIRECTORY", requires = "login_key")]
    login: Option<PathBuf>,
    /// The file of the key of the logins
    #[arg(long, value_name = "FILE", requires = "login")]
    login_key: Option<PathBuf>,
    /// The address of the server
    #[arg(last = true, required = true, value_name = "URL")]
    url: String,
}

impl McpRemoteCommand {
    /// Hands messages on until the input ends.
    pub(crate) fn execute(self) -> Result {
        let url = ServerUrl::parse(&self.url).map_err(|error| CliError::usage(error.to_string()))?;
        let network = locations::network()?;
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            let header = name.to_str()?.strip_prefix(SERVER_VARIABLE)?;
            Some((header.to_owned(), value.into_string().ok()?))
        });
        let headers: Vec<(String, String)> = variables.collect();
        // Threads that start from here on are confined as this one is.
        let mut access = ProgramAccess { read: Vec::new(), write: Vec::new(), ports: vec![url.port()] };
        let mut session = None;
        if let (Some(directory), Some(key)) = (self.login, self.login_key) {
            let opened = LoginSession::open(&LoginPlace { directory: directory.clone(), key }, &url);
            let opened =
                opened.map_err(|error| CliError::because("the login at the MCP server cannot be used", &error))?;
            // Tokens are renewed there.
            access.ports.push(opened.port());
            access.write.push(directory);
            session = Some(opened);
        }
        self.confine.confine_program(&access)?;
        let ended = relay_stdio(&url, &headers, network, session);
        ended.map_err(|error| CliError::because("the MCP server cannot be used", &error))?;
        Ok(Exit::SUCCESS)
    }
}
