//! Tokens: a policy's grants, signed.

use std::time::{Duration, SystemTime};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tollhouse::capability::Policy;
use tollhouse::token::{self, PrivateKey, PublicKey, RevocationList, Token, TokenError};

use crate::errors::{PolicyError, told};

fn refused(error: &TokenError) -> PyErr {
    PolicyError::new_err(told(error))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the time in this many seconds.
fn end(expires_in: Option<f64>) -> PyResult<Option<SystemTime>> {
    let after = |seconds| {
        let duration =
            Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let end = SystemTime::now().checked_add(duration);
        end.ok_or_else(|| PyValueError::new_err(format!("in {seconds} seconds no clock goes on")))
    };
    expires_in.map(after).transpose()
}

/// Key pair that signs tokens, generated from the system's random numbers.
#[pyclass(frozen, module = "tollhouse._native")]
pub(crate) struct Keypair(token::Keypair);

#[pymethods]
impl Keypair {
    #[new]
    fn new() -> Self {
        Self(token::Keypair::generate())
    }

    /// Creates the key pair whose private key is these 32 bytes.
    #[staticmethod]
    fn from_seed(seed: &[u8]) -> PyResult<Self> {
        let key = format!("ed25519-private/{}", hex(seed)).parse::<PrivateKey>();
        key.map(|key| Self(key.into())).map_err(|_| PyValueError::new_err("a seed is 32 bytes"))
    }

    /// Returns the public key: 32 bytes.
    #[getter]
    fn public_key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let text = self.0.public().to_string();
        let digits = text.rsplit('/').next().unwrap_or_default();
        let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        Ok(PyBytes::new(py, &bytes.ok_or_else(|| PyValueError::new_err("the key has no digits"))?))
    }

    /// Signs a policy (JSON), and returns the token's text.
    #[pyo3(signature = (policy, expires_in=None))]
    fn seal(&self, policy: &str, expires_in: Option<f64>) -> PyResult<String> {
        let sealed = Token::seal(policy, end(expires_in)?, &self.0);
        sealed.map(|token| token.to_string()).map_err(|error| refused(&error))
    }
}

/// Narrows a token.
#[pyfunction]
#[pyo3(signature = (token, policy, expires_in=None))]
pub(crate) fn attenuate_token(token: &str, policy: &str, expires_in: Option<f64>) -> PyResult<String> {
    let end = end(expires_in)?;
    let narrowed = Token::parse(token).and_then(|token| token.attenuate(policy, end));
    narrowed.map(|token| token.to_string()).map_err(|error| refused(&error))
}

/// Returns the contents of a token, as JSON. Nothing of it is verified.
#[pyfunction]
pub(crate) fn inspect_token(token: &str) -> PyResult<String> {
    let token = Token::parse(token).map_err(|error| refused(&error))?;
    serde_json::to_string(&token.inspect()).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Returns the policy of a token, if one of the authorities has signed it.
pub(crate) fn open(token: &str, authorities: &[Vec<u8>]) -> PyResult<Policy> {
    let token = Token::parse(token).map_err(|error| refused(&error))?;
    for authority in authorities {
        let key = format!("ed25519/{}", hex(authority)).parse::<PublicKey>();
        let key = key.map_err(|_| PyValueError::new_err("an authority is a public key of Ed25519: 32 bytes"))?;
        match token.open(&key, &RevocationList::default(), SystemTime::now()) {
            Err(TokenError::Signature(_)) => {}
            opened => return opened.map_err(|error| refused(&error)),
        }
    }
    Err(PolicyError::new_err("none of the trusted authorities has signed the token, or it was changed since"))
}
