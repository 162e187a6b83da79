//! How long the journals of runs are kept that have ended.

use std::time::Duration;

use super::policy::PolicyError;
use super::policy_parser::{self, TableReader};
use super::spanned_value::SpannedValue;

/// How long the journals of runs that have ended are kept, in a session on disk: the values that scripts were given, with
/// the results of their calls. The journal of a run that can be resumed is always kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JournalRetention {
    /// Not beyond the end of the run.
    #[default]
    Suspended,
    /// For this time after the end of the run.
    For(Duration),
    /// As long as the session.
    All,
}

impl JournalRetention {
    /// Returns the value of `keep` in a policy; `None` for the default.
    pub(super) fn written(self) -> Option<String> {
        match self {
            Self::Suspended => None,
            Self::For(time) => Some(format!("{}ms", time.as_millis())),
            Self::All => Some("all".to_owned()),
        }
    }
}

/// Reads the table `[journal]`.
pub(super) fn table(node: SpannedValue, what: &str) -> Result<JournalRetention, PolicyError> {
    let what = format!("`{what}`");
    let mut table = TableReader::new(node, &what)?;
    let keep = table.read("keep", keep)?.unwrap_or_default();
    table.end(&what, &["keep"])?;
    Ok(keep)
}

fn keep(node: SpannedValue, what: &str) -> Result<JournalRetention, PolicyError> {
    let span = node.span.clone();
    match policy_parser::string(node, what)?.as_str() {
        "suspended" => Ok(JournalRetention::Suspended),
        "all" => Ok(JournalRetention::All),
        text => super::parse_duration(text).map(JournalRetention::For).map_err(|_| {
            let message = format!("`keep` is neither `all` nor `suspended` nor a time: `{}`", tollhouse_types::excerpt(text));
            PolicyError::new(message, span)
                .hint("write `keep = \"all\"`, `\"suspended\"`, or how long journals stay after the end of their run: `\"30d\"`")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Policy;
    use super::*;

    #[test]
    fn retention_is_read_and_written_in_both_forms() {
        let day = Duration::from_secs(86_400);
        for (text, retention) in [
            ("", JournalRetention::Suspended),
            ("[journal]", JournalRetention::Suspended),
            ("[journal]\nkeep = 'suspended'", JournalRetention::Suspended),
            ("[journal]\nkeep = 'all'", JournalRetention::All),
            ("[journal]\nkeep = '30d'", JournalRetention::For(day * 30)),
        ] {
            let policy = Policy::parse(text).expect(text);
            assert_eq!(policy.journal, retention, "{text}");
            assert_eq!(Policy::parse(&policy.to_toml()).expect("TOML"), policy);
            assert_eq!(Policy::parse_json(&policy.to_json().to_string()).expect("JSON"), policy);
            let narrowed = policy.attenuate(Policy::parse("[journal]\nkeep = '1d'").expect("a policy"));
            assert_eq!(narrowed.expect("it is narrower").journal, retention, "a narrower policy has the same");
        }
    }

    #[test]
    fn journal_retention_with_invalid_value_is_an_error_with_span() {
        for text in ["keep = 'forever'", "keep = 30", "keep = '30'", "keeps = 'all'", "keep = ''"] {
            let error = Policy::parse(&format!("[journal]\n{text}")).expect_err(text);
            assert!(error.span.is_some(), "{error:?}");
        }
    }
}
