//! The MCP server, as its clients meet it: the real binary, on standard input and output, and by HTTP; and servers whose tools
//! are mounted.

mod approvals;
mod approvers;
mod catalogue;
mod client;
mod configurations;
mod endings;
mod exact_integers;
mod exhaustion;
mod files;
mod gateway;
mod gateway_messages;
mod hostile;
pub(crate) mod http;
mod isolated;
mod isolated_hostile;
mod logins;
mod mounted_servers;
pub(crate) mod oauth;
mod remote_servers;
mod resumed_runs;
mod runs;
mod server_secrets;
mod tasks;
mod token_approvers;
mod undeclared_arguments;
mod versions;
