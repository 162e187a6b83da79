//! The contents of one block of a token, as biscuit's Datalog: written, and read back strictly.
//!
//! ```text
//! policy("{…}");
//! expires(2030-01-01T00:00:00Z);                            // this fact and the check only if the block has an end
//! check if time($time), $time < 2030-01-01T00:00:00Z;
//! ```
//!
//! The fact is what this module reads; the check has the same meaning for any other biscuit library. The policy is not
//! interpreted here.

use std::time::{Duration, SystemTime};

use biscuit_auth::BlockBuilder;
use biscuit_auth::builder::{Check, Term, fact, string};
use biscuit_auth::datalog::SymbolTable;
use biscuit_auth::format::schema::{self, op, op_binary, term};

use super::TokenError;

/// Names of the facts.
const POLICY: &str = "policy";
const EXPIRES: &str = "expires";

/// Text of the check, and the name of its variable.
const CHECK: &str = "check if time($now), $now < {end}";
const NOW: &str = "now";

/// The last second of the year 9999: the last that RFC 3339, and so biscuit's Datalog, can represent.
const LAST_SECOND: u64 = 253_402_300_799;

/// The contents of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockContents {
    /// JSON text of a policy.
    pub(super) policy: String,
    /// Time when it ends, in seconds since 1970: from that second on, it has expired.
    pub(super) expires: Option<u64>,
}

impl BlockContents {
    pub(super) fn new(policy: &str, expires: Option<SystemTime>) -> Result<Self, TokenError> {
        let seconds = |end: SystemTime| match end.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) if since.as_secs() <= LAST_SECOND => Ok(since.as_secs()),
            _ => Err(TokenError::End),
        };
        Ok(Self { policy: policy.trim_ascii().to_owned(), expires: expires.map(seconds).transpose()? })
    }

    /// Time when it ends.
    pub(super) fn end(&self) -> Option<SystemTime> {
        self.expires.and_then(|end| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(end)))
    }

    /// Encodes the contents as a block that can be signed.
    pub(super) fn write(&self) -> Result<BlockBuilder, TokenError> {
        let block = BlockBuilder::new().fact(fact(POLICY, &[string(&self.policy)]));
        let block = block.map_err(TokenError::Biscuit)?;
        let Some(end) = self.expires.map(Term::Date) else { return Ok(block) };
        let with_end = || {
            let mut check = Check::try_from(CHECK)?;
            check.set("end", end.clone())?;
            block.fact(fact(EXPIRES, &[end]))?.check(check)
        };
        with_end().map_err(TokenError::Biscuit)
    }

    /// Decodes a block. `symbols` are its own and those of the blocks above it.
    ///
    /// # Errors
    /// A description of contents that [`BlockContents::write`] does not write.
    pub(super) fn read(block: &schema::Block, symbols: &SymbolTable) -> Result<Self, &'static str> {
        let schema::Block { symbols: own, context, version: _, facts, rules, checks, scope, public_keys } = block;
        if context.is_some() {
            return Err("a context");
        }
        if !rules.is_empty() {
            return Err("a rule");
        }
        if !scope.is_empty() || !public_keys.is_empty() {
            return Err("a scope or a public key");
        }
        let (policy, ends) = facts.split_first().ok_or("no policy")?;
        let Some(term::Content::String(text)) = value(policy, POLICY, symbols) else { return Err("a foreign fact") };
        let policy = symbols.get_symbol(*text).ok_or("an unknown symbol")?.to_owned();
        let expires = match ends {
            [] => None,
            [end] => match value(end, EXPIRES, symbols) {
                Some(term::Content::Date(end)) if *end <= LAST_SECOND => Some(*end),
                _ => return Err("a foreign fact"),
            },
            _ => return Err("more than two facts"),
        };
        match (checks.as_slice(), expires) {
            ([], None) => {}
            ([check], Some(end)) if is_check(check, end, symbols) => {}
            _ => return Err("a foreign check, or no check of its end"),
        }
        // An unused text would be passed along unnoticed.
        if own.iter().any(|symbol| ![POLICY, EXPIRES, NOW].contains(&symbol.as_str()) && *symbol != policy) {
            return Err("a foreign symbol");
        }
        Ok(Self { policy, expires })
    }
}

/// Returns the only term of a fact with this name.
fn value<'b>(fact: &'b schema::Fact, name: &str, symbols: &SymbolTable) -> Option<&'b term::Content> {
    let schema::Predicate { name: own, terms } = &fact.predicate;
    match terms.as_slice() {
        [term] if symbols.get_symbol(*own) == Some(name) => term.content.as_ref(),
        _ => None,
    }
}

/// Returns true if it is [`CHECK`] with this end.
fn is_check(check: &schema::Check, end: u64, symbols: &SymbolTable) -> bool {
    use schema::check::Kind;
    let schema::Check { queries, kind } = check;
    let [schema::Rule { head, body, expressions, scope }] = queries.as_slice() else { return false };
    let ([time], [expression]) = (body.as_slice(), expressions.as_slice()) else { return false };
    let ([now], [left, right, less]) = (time.terms.as_slice(), expression.ops.as_slice()) else { return false };
    let is_now = |term: &schema::Term| match &term.content {
        Some(term::Content::Variable(name)) => symbols.get_symbol(u64::from(*name)) == Some(NOW),
        _ => false,
    };
    let is_end = |term: &schema::Term| term.content == Some(term::Content::Date(end));
    let is_less =
        |binary: &schema::OpBinary| binary.kind == op_binary::Kind::LessThan as i32 && binary.ffi_name.is_none();
    kind.is_none_or(|kind| kind == Kind::One as i32)
        && scope.is_empty()
        && symbols.get_symbol(head.name) == Some("query")
        && head.terms.is_empty()
        && symbols.get_symbol(time.name) == Some("time")
        && is_now(now)
        && matches!(&left.content, Some(op::Content::Value(term)) if is_now(term))
        && matches!(&right.content, Some(op::Content::Value(term)) if is_end(term))
        && matches!(&less.content, Some(op::Content::Binary(binary)) if is_less(binary))
}
