//! Names of mounted tools as tools of the protocol.
//!
//! A tool has the name of its method, with `_` between the segments: `stats_describe`. Behind a gateway, a tool of an MCP
//! server keeps the name that the server gave it (`git_status`), as clients know it, unless something else has that name
//! too: then each of them has the name of its method (`git_git_status`). So no server can take the name of another
//! server's tool.

use std::collections::{BTreeMap, BTreeSet};

use crate::definitions;

/// Longest name of a tool that every client accepts.
const MAX_NAME: usize = 64;

/// Reason why a method cannot be a tool of the protocol.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExposeError {
    /// No mounted tool matches.
    #[error("no mounted tool is named `{name}`")]
    Unknown {
        /// The name or pattern.
        name: String,
        /// Existing name that is similar.
        nearest: Option<String>,
    },
    /// Two tools would have the same name.
    #[error("`{method}` would be the tool `{name}`, which is {other}")]
    Taken {
        /// Method that is to be exposed.
        method: String,
        /// Name of the tool.
        name: String,
        /// The other tool, in words.
        other: String,
    },
    /// The name would be too long.
    #[error("`{0}` has a name of more than {MAX_NAME} characters, which clients do not accept")]
    TooLong(String),
}

/// Names these methods. `served` has the names that MCP servers gave to some of them, by method; `reserved` are the names
/// of other tools. Returns the methods by name.
///
/// # Errors
/// If a name is too long, or two tools would have it.
pub(crate) fn name_all(
    methods: &BTreeSet<String>,
    served: &BTreeMap<String, String>,
    reserved: &[&str],
) -> Result<BTreeMap<String, String>, ExposeError> {
    // A name that several could have is nobody's.
    let mut wanted = BTreeMap::<&str, u32>::new();
    let whole: BTreeSet<String> = methods.iter().map(|method| whole_name(method)).collect();
    let of_servers = methods.iter().filter_map(|method| served.get(method)).map(String::as_str);
    for name in of_servers.chain(whole.iter().map(String::as_str)).chain(reserved.iter().copied()) {
        *wanted.entry(name).or_default() += 1;
    }
    let mut named = BTreeMap::<String, String>::new();
    for method in methods {
        let short = served.get(method).filter(|name| wanted.get(name.as_str()) == Some(&1));
        let name = match short {
            Some(name) => name.clone(),
            None => whole_name(method),
        };
        let taken = |name: String, other: String| ExposeError::Taken { method: method.clone(), name, other };
        if short.is_none() && name.len() > MAX_NAME {
            return Err(ExposeError::TooLong(method.clone()));
        }
        if reserved.contains(&name.as_str()) {
            return Err(taken(name, "a tool of this server".to_owned()));
        }
        if let Some(other) = named.insert(name.clone(), method.clone()) {
            return Err(taken(name, format!("`{other}`")));
        }
    }
    Ok(named)
}

/// Names that methods cannot have: those of the server's own tools.
pub(crate) fn reserved(is_gateway: bool) -> &'static [&'static str] {
    if is_gateway { &definitions::GATEWAY_NAMES } else { &definitions::NAMES }
}

/// Returns the name of a method as a tool.
fn whole_name(method: &str) -> String {
    method.replace('/', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names methods, of which those of the servers `git`, `hub` and `lab` have names of their servers.
    fn named(methods: &[&str]) -> Result<Vec<(String, String)>, ExposeError> {
        let methods: BTreeSet<String> = methods.iter().map(|method| (*method).to_owned()).collect();
        let own = |method: &String| {
            let (server, name) = method.split_once('/')?;
            ["git", "hub", "lab"].contains(&server).then(|| (method.clone(), name.replace('/', ".")))
        };
        let served = methods.iter().filter_map(own).collect();
        Ok(name_all(&methods, &served, &["resume"])?.into_iter().collect())
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, method)| ((*name).to_owned(), (*method).to_owned())).collect()
    }

    #[test]
    fn name_of_a_server_is_kept_where_it_is_unambiguous() {
        let kept = named(&["git/git_status", "hub/repos/list", "stats/describe"]).expect("no name is taken");
        let expected =
            [("git_status", "git/git_status"), ("repos.list", "hub/repos/list"), ("stats_describe", "stats/describe")];
        assert_eq!(kept, pairs(&expected));
    }

    #[test]
    fn tool_name_wanted_by_several_servers_is_qualified_for_each() {
        let both = named(&["hub/search", "lab/search", "git/resume"]).expect("no name is taken");
        let expected = [("git_resume", "git/resume"), ("hub_search", "hub/search"), ("lab_search", "lab/search")];
        assert_eq!(both, pairs(&expected));
        // A server that names its tool as another one's would be called.
        let shadowing = named(&["hub/search", "lab/search", "git/hub_search"]).expect("no name is taken");
        let expected =
            [("git_hub_search", "git/hub_search"), ("hub_search", "hub/search"), ("lab_search", "lab/search")];
        assert_eq!(shadowing, pairs(&expected));
    }

    #[test]
    fn method_without_a_free_name_is_an_error() {
        let taken = named(&["a/b_c", "a/b/c"]).expect_err("both would be `a_b_c`");
        assert!(matches!(taken, ExposeError::Taken { ref name, .. } if name == "a_b_c"), "{taken}");
        let long = named(&[&format!("stats/{}", "x".repeat(60))]).expect_err("it is too long");
        assert!(matches!(long, ExposeError::TooLong(_)), "{long}");
    }
}
