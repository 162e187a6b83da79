//! `tollhouse mcp-remote`: the process between this program and an MCP server at a URL.
//!
//! It speaks HTTP with the server, and lines on its input and output. It is confined to the port of the server, and ends
//! with its input.

use clap::Args;
use tollhouse::capability::ServerUrl;
use tollhouse_mcp::{SERVER_VARIABLE, relay_stdio};

use crate::confine::{ConfineArgs, ProgramAccess};
use crate::locations;
use crate::{CliError, Exit, Result};

/// Hand messages on between this process and an MCP server at a URL
#[derive(Args)]
pub(crate) struct McpRemoteCommand {
    #[command(flatten)]
    confine: ConfineArgs,
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
        let access = ProgramAccess { read: Vec::new(), write: Vec::new(), ports: vec![url.port()] };
        self.confine.confine_program(&access)?;
        let ended = relay_stdio(&url, &headers, network);
        ended.map_err(|error| CliError::because("the MCP server cannot be used", &error))?;
        Ok(Exit::SUCCESS)
    }
}
