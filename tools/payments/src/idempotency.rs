//! Idempotency keys: a call that is made again has the answer that it had, and happens once.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Kind};
use crate::store::{Store, read, replace};

/// The longest key, in bytes.
pub const MAX_KEY: usize = 200;

/// Record that is kept under a key.
#[derive(Debug, Serialize, Deserialize)]
struct Entry<T> {
    /// The function and its arguments.
    call: String,
    /// Outcome of the call; `None` while the call is under way.
    answer: Option<Result<T, Error>>,
}

/// Makes a call once for a key, or as often as it is made without one. `call` is the function and its arguments.
///
/// # Errors
/// `Idempotency`, `InProgress`, `Parameter`, and what `act` refuses.
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

/// Returns true if a refusal left everything as it was, so that the key may be used again. A declined card left a
/// charge.
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
    // Another function's answer does not read as this one's: then the call differs too.
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
