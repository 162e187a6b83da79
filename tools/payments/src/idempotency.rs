//! Idempotency keys: a repeated call has the result of the first one, and takes effect once.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind};
use crate::store::{Store, read, replace};

/// Longest key, in bytes.
pub const MAX_KEY: usize = 200;

/// Record of a key.
#[derive(Debug, Serialize, Deserialize)]
struct Entry<T> {
    /// Function and arguments of the call.
    call: String,
    /// Outcome of the call; `None` while it is in progress.
    answer: Option<Result<T, Error>>,
}

/// Executes a call once for a key; without a key, every time. `call` is the function and its arguments.
///
/// # Errors
///
/// `Idempotency`, `InProgress`, `Parameter`, and the errors of `act`.
pub fn once<T, S>(
    store: &S,
    key: Option<&str>,
    call: &impl Serialize,
    act: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error>
where
    T: Serialize + DeserializeOwned + Clone,
    S: Store,
{
    let Some(key) = key else { return act() };
    if key.is_empty() || key.len() > MAX_KEY || key.chars().any(char::is_control) {
        let message = format!("an idempotency key has 1 to {MAX_KEY} bytes, and no control characters");
        return Err(Error::of("idempotency-key", Kind::Parameter, message));
    }
    let call = serde_json::to_string(call).map_err(|error| Error::new(Kind::Store, error.to_string()))?;
    let place = format!("idempotency/{key}");
    let pending = Entry::<T> { call: call.clone(), answer: None };
    if !replace(store, &place, None, &pending)? {
        return earlier(store, &place, key, &call);
    }
    let answer = act();
    if answer.as_ref().is_err_and(nothing_happened) {
        store.delete(&place)?;
        return answer;
    }
    let written = read::<Entry<T>>(store, &place)?;
    replace(store, &place, written.as_ref(), &Entry { call, answer: Some(answer.clone()) })?;
    answer
}

/// Returns true if a refused call changed nothing, so that its key may be used again. A declined card leaves a charge.
fn nothing_happened(error: &Error) -> bool {
    !matches!(error.kind, Kind::Declined | Kind::Store)
}

fn earlier<T: DeserializeOwned>(store: &impl Store, place: &str, key: &str, call: &str) -> Result<T, Error> {
    let of_key = |kind, why: String| Error::of("idempotency-key", kind, why);
    let under_way = || {
        of_key(
            Kind::InProgress,
            format!("a call with the idempotency key `{key}` is under way, or was broken off: look with `list`"),
        )
    };
    // The record of another function may fail to parse, which also means that the call differs.
    let bytes = store.get(place)?.ok_or_else(under_way)?;
    let entry: Entry<serde_json::Value> =
        serde_json::from_slice(&bytes).map_err(|error| Error::new(Kind::Store, error.to_string()))?;
    if entry.call != call {
        let message = format!("the idempotency key `{key}` was used for another call: take a new key for a new thing");
        return Err(of_key(Kind::Idempotency, message));
    }
    match entry.answer.ok_or_else(under_way)? {
        Ok(answer) => serde_json::from_value(answer).map_err(|error| Error::new(Kind::Store, error.to_string())),
        Err(error) => Err(error),
    }
}
