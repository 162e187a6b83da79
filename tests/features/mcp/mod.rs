//! The MCP server, as its clients meet it: the real binary, on standard input and output, and by HTTP.

mod approvals;
mod catalogue;
mod client;
mod configurations;
mod files;
mod gateway;
mod gateway_messages;
mod hostile;
mod http;
mod oauth;
mod runs;
mod versions;
