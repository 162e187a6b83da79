//! Effects that calls of a method may have, as far as a policy says.

/// Effects that calls of a method may have. What is not known counts as an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodEffects {
    /// True if something outside the session may change.
    pub outside: bool,
    /// True if the network may be reached, be it to read.
    pub network: bool,
    /// True if files of the session may change.
    pub files: bool,
}

impl MethodEffects {
    /// Effects of a method of which nothing is known: a function of the host, or a tool of an MCP server, whatever that
    /// says of itself.
    pub const UNKNOWN: Self = Self { outside: true, network: true, files: true };

    /// Returns true if a call changes nothing.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        !self.outside && !self.files
    }
}
