//! `tollhouse mcp login` and `logout`: logins at MCP servers at a URL.

use std::fmt;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use clap::Args;
use tollhouse::capability::{McpServer, Policy, ServerUrl};
use tollhouse::tool::nearest;
use tollhouse_mcp::{LoginError, SignIn, SignInError, sign_in};

use super::command::touched;
use crate::confine::{ConfineArgs, Confinement};
use crate::error::USAGE;
use crate::locations::{self, Locations};
use crate::policy_file::PolicyFile;
use crate::{CliError, Exit, Result, show};

/// MCP server at which a user logs in: one of a policy, or an address.
#[derive(Args)]
struct LoginServer {
    /// The server's name in the policy
    #[arg(value_name = "NAME", required_unless_present = "url", conflicts_with = "url")]
    name: Option<String>,
    /// The policy
    #[arg(long, value_name = "FILE", required_unless_present = "url", conflicts_with = "url")]
    policy: Option<PathBuf>,
    /// The address of the server, if no policy has it: a program in Python uses this login by `"login": True`
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

/// Log in at an MCP server that has a URL, by OAuth: you open an address in your browser
///
/// The login is stored for that address, encrypted, and is used whenever `--allow-exec` names a server with the same URL
/// and without an `Authorization` of its own. Its tokens are renewed as long as the server does that. The policy and its
/// lock stay as they are.
#[derive(Args)]
#[command(after_help = "\
Examples:
  tollhouse mcp login hub --policy agent.toml
  tollhouse mcp login hub --policy agent.toml --scope read --client-id 1b3d
  tollhouse mcp login --url https://mcp.example.com/mcp")]
pub(crate) struct LoginCommand {
    #[command(flatten)]
    server: LoginServer,
    /// Ask for this scope; by default for those that the server names
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// The name of this client at the authorization server, if that registers none by itself
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// The host at which you log in has to be this one, and tokens may come from another: say it if you know that both are
    /// of one authorization server
    #[arg(long, value_name = "HOST")]
    authorization_host: Option<String>,
    /// The port of this machine to which the browser is sent; any free one by default
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    #[command(flatten)]
    confine: ConfineArgs,
}

/// Forget the login at an MCP server
///
/// The authorization server is not told: what it has issued ends there, or is revoked there.
#[derive(Args)]
pub(crate) struct LogoutCommand {
    #[command(flatten)]
    server: LoginServer,
    #[command(flatten)]
    confine: ConfineArgs,
}

impl LoginServer {
    /// Returns the files that a command accesses which learns the address.
    fn touched(&self, locations: &Locations) -> Confinement {
        match &self.policy {
            Some(policy) => touched(locations, policy, None),
            None => Confinement::of(locations, false),
        }
    }

    /// Returns the address of the server.
    fn address(&self) -> Result<ServerUrl> {
        match (&self.name, &self.policy, &self.url) {
            (Some(name), Some(policy), _) => address(name, policy),
            (_, _, Some(url)) => ServerUrl::parse(url).map_err(|error| CliError::usage(format!("`--url`: {error}"))),
            _ => Err(CliError::usage("name a server and its `--policy`, or its address by `--url`")),
        }
    }
}

impl fmt::Display for LoginServer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name.as_ref().or(self.url.as_ref()).map_or("", String::as_str))
    }
}

impl LoginCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let place = locations.logins();
        place.create().map_err(|error| unstored(&error))?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).map_err(|error| {
            CliError::because(format!("cannot listen on port {} of this machine", self.port), &error)
        })?;
        let network = locations::network()?;
        self.confine.apply(|| {
            let reads = self.server.touched(locations).reading([&place.key]);
            reads.writing_in(Some(&place.directory)).with_network()
        })?;
        let url = self.server.address()?;
        let wanted = SignIn {
            url: &url,
            scopes: &self.scopes,
            client: self.client_id.as_deref(),
            authorization_host: self.authorization_host.as_deref(),
            network,
            listener,
            place: &place,
        };
        let signed_in = sign_in(wanted, |page| {
            note!("the authorization server is `{}`, and you log in at `{}`", page.issuer, page.host);
            note!("open this address in a browser on this machine:\n{}", page.address);
        });
        signed_in.map_err(|error| self.refused(&error))?;
        show::line(format_args!("logged in at {url}"));
        Ok(Exit::SUCCESS)
    }

    fn refused(&self, error: &SignInError) -> CliError {
        let told = CliError::because(format!("you are not logged in at the MCP server `{}`", self.server), error);
        match error {
            SignInError::NotNeeded => told.status(USAGE).hint("use it without a login"),
            SignInError::NoRegistration => {
                told.hint("register a client there whose redirect is `http://127.0.0.1/callback`, and name it with `--client-id ID`")
            }
            SignInError::SeveralHosts { authorize, .. } => told.hint(format!(
                "if you know that both are of one authorization server, say `--authorization-host {authorize}`"
            )),
            SignInError::NoResource => told.hint("`headers` in the policy, with a secret, may be what the server wants"),
            _ => told,
        }
    }
}

impl LogoutCommand {
    pub(super) fn execute(self, locations: &Locations) -> Result {
        let place = locations.logins();
        let directory = Some(place.directory.as_path()).filter(|directory| directory.is_dir());
        self.confine.seal(|| self.server.touched(locations).writing_in(directory))?;
        let url = self.server.address()?;
        if !place.remove(&url).map_err(|error| unstored(&error))? {
            return Err(CliError::usage(format!("there is no login at {url}"))
                .hint("`tollhouse mcp ls --policy FILE` shows which servers have one"));
        }
        show::line(format_args!("logged out of {url}"));
        Ok(Exit::SUCCESS)
    }
}

/// Returns the address of a server of a policy.
fn address(name: &str, policy: &Path) -> Result<ServerUrl> {
    let policy = PolicyFile::read(policy)?.parse()?;
    let server: &McpServer = policy.mcp.get(name).ok_or_else(|| unknown(name, &policy))?;
    if server.headers.contains_key("authorization") {
        return Err(CliError::usage(format!(
            "the MCP server `{name}` has an `Authorization` of its own in the policy"
        ))
        .hint("take it out of `headers` to use a login"));
    }
    server.url.clone().ok_or_else(|| {
        CliError::usage(format!("the MCP server `{name}` is a program: nobody logs in there"))
            .hint("a server with `url` has logins; a program gets tokens as secrets in `env`")
    })
}

fn unknown(name: &str, policy: &Policy) -> CliError {
    let error = CliError::usage(format!("the policy has no MCP server `{name}`"));
    match nearest(name, policy.mcp.keys().map(String::as_str)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("servers are the tables `[mcp.NAME]` of a policy"),
    }
}

fn unstored(error: &LoginError) -> CliError {
    CliError::because("the login cannot be stored", error)
}
