//! Conversion of values between Python and JSON.
//!
//! Bytes, large integers and special floats keep their types: JSON cannot express them, so a [`Special`] records their
//! position.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Number, Value};
use tollhouse::error::{Payload, Special, SpecialKind};

/// Deepest nesting of values: a value that contains itself is rejected there.
const MAX_DEPTH: usize = 200;

/// Largest integer up to which JavaScript numbers hold every integer exactly.
const MAX_SAFE: i64 = (1 << 53) - 1;

/// Converts a JSON value to Python.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => integer.into_pyobject(py)?.into_any(),
            (None, Some(integer)) => integer.into_pyobject(py)?.into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            items.iter().try_for_each(|item| list.append(to_python(py, item)?))?;
            list.into_any()
        }
        Value::Object(object) => {
            let dict = PyDict::new(py);
            object.iter().try_for_each(|(key, value)| dict.set_item(key, to_python(py, value)?))?;
            dict.into_any()
        }
    })
}

/// Converts the result of a tool, restoring bytes, large integers and special floats.
pub(crate) fn payload_to_python<'py>(py: Python<'py>, payload: &Payload) -> PyResult<Bound<'py, PyAny>> {
    let mut whole = to_python(py, &payload.value)?;
    for Special { pointer, kind } in &payload.specials {
        let Some(text) = payload.value.pointer(pointer).and_then(Value::as_str) else { continue };
        let meant = match kind {
            SpecialKind::Bytes => {
                let bytes = STANDARD.decode(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
                PyBytes::new(py, &bytes).into_any()
            }
            SpecialKind::Integer => py.get_type::<PyInt>().call1((text,))?,
            SpecialKind::Float => py.get_type::<PyFloat>().call1((text,))?,
        };
        let Some((above, last)) = pointer.rsplit_once('/') else {
            whole = meant;
            continue;
        };
        let mut place = whole.clone();
        for segment in above.split('/').skip(1) {
            place = place.get_item(key_in(&place, segment)?)?;
        }
        place.set_item(key_in(&place, last)?, meant)?;
    }
    Ok(whole)
}

/// Converts a segment of a pointer to a list index or a dict key.
fn key_in<'py>(place: &Bound<'py, PyAny>, segment: &str) -> PyResult<Bound<'py, PyAny>> {
    if place.is_instance_of::<PyList>() {
        let at: usize = segment.parse().map_err(|_| PyValueError::new_err("no index of a list"))?;
        return Ok(at.into_pyobject(place.py())?.into_any());
    }
    Ok(PyString::new(place.py(), &segment.replace("~1", "/").replace("~0", "~")).into_any())
}

/// Converts the return value of a Python function, for a script.
pub(crate) fn to_payload(value: &Bound<'_, PyAny>) -> PyResult<Payload> {
    to_counted_payload(value, &|_| Ok(()))
}

/// Converts the return value of a Python function, for a script, and counts each part before it is copied. The counter
/// returns an error if the total is too large, which ends the conversion.
pub(crate) fn to_counted_payload(value: &Bound<'_, PyAny>, count: &dyn Fn(usize) -> PyResult<()>) -> PyResult<Payload> {
    let mut writer = Writer { specials: Vec::new(), place: String::new(), count };
    let value = writer.value(value, 0)?;
    Ok(Payload { value, specials: writer.specials })
}

struct Writer<'a> {
    specials: Vec<Special>,
    /// JSON Pointer of the current position.
    place: String,
    /// Function that is called with the bytes of each part before it is copied.
    count: &'a dyn Fn(usize) -> PyResult<()>,
}

impl Writer<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
        if depth > MAX_DEPTH {
            return Err(PyValueError::new_err(format!("a value that nests more than {MAX_DEPTH} deep is no JSON")));
        }
        (self.count)(size_of::<Value>())?;
        if value.is_none() {
            return Ok(Value::Null);
        }
        if let Ok(text) = value.cast_exact::<PyString>() {
            let text = text.to_str()?;
            (self.count)(text.len())?;
            return Ok(Value::String(text.to_owned()));
        }
        if let Ok(truth) = value.cast_exact::<PyBool>() {
            return Ok(Value::Bool(truth.is_true()));
        }
        if let Ok(integer) = value.cast_exact::<PyInt>() {
            return self.integer(integer);
        }
        if let Ok(float) = value.cast_exact::<PyFloat>() {
            return self.float(float.value());
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            return self.object(dict, depth);
        }
        if let Ok(list) = value.cast::<PyList>() {
            return self.array(list.iter(), depth);
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            return self.array(tuple.iter(), depth);
        }
        if let Ok(bytes) = value.cast::<PyBytes>() {
            let bytes = bytes.as_bytes();
            (self.count)(bytes.len().div_ceil(3) * 4)?;
            return self.special(SpecialKind::Bytes, STANDARD.encode(bytes));
        }
        // A dataclass, a model, a date: the package converts them. It does so one step at a time, so that bytes and
        // large integers in them keep their types.
        let simpler = value_function(value.py())?.call1((value,)).map_err(|error| self.placed(value.py(), error))?;
        self.value(&simpler, depth + 1)
    }

    fn integer(&mut self, integer: &Bound<'_, PyInt>) -> PyResult<Value> {
        match integer.extract::<i64>() {
            Ok(small) if (-MAX_SAFE..=MAX_SAFE).contains(&small) => Ok(Value::from(small)),
            // For very long integers, Python reports why it does not convert them.
            _ => self.special(SpecialKind::Integer, integer.str()?.to_str()?.to_owned()),
        }
    }

    fn float(&mut self, float: f64) -> PyResult<Value> {
        match Number::from_f64(float) {
            Some(number) => Ok(Value::Number(number)),
            None if float.is_nan() => self.special(SpecialKind::Float, "NaN".to_owned()),
            None if float > 0.0 => self.special(SpecialKind::Float, "Infinity".to_owned()),
            None => self.special(SpecialKind::Float, "-Infinity".to_owned()),
        }
    }

    /// Adds the position to the error of a value that has no JSON form.
    fn placed(&self, py: Python<'_>, error: PyErr) -> PyErr {
        if self.place.is_empty() || !error.is_instance_of::<PyTypeError>(py) {
            return error;
        }
        PyTypeError::new_err(format!("{} (at `{}`)", error.value(py), self.place))
    }

    fn special(&mut self, kind: SpecialKind, text: String) -> PyResult<Value> {
        // Each stores the full path to its position.
        (self.count)(size_of::<Special>() + self.place.len() + text.len())?;
        self.specials.push(Special { pointer: self.place.clone(), kind });
        Ok(Value::String(text))
    }

    fn array<'py>(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<Value> {
        let end = self.place.len();
        let items = items.enumerate().map(|(at, item)| {
            self.place.truncate(end);
            self.place.push_str(&format!("/{at}"));
            self.value(&item, depth + 1)
        });
        let items = items.collect::<PyResult<Vec<_>>>();
        self.place.truncate(end);
        items.map(Value::Array)
    }

    fn object(&mut self, dict: &Bound<'_, PyDict>, depth: usize) -> PyResult<Value> {
        let end = self.place.len();
        let mut object = Map::with_capacity(dict.len());
        for (key, value) in dict {
            let key = key_of(&key)?;
            (self.count)(key.len())?;
            self.place.truncate(end);
            self.place.push('/');
            self.place.push_str(&key.replace('~', "~0").replace('/', "~1"));
            let value = self.value(&value, depth + 1)?;
            if object.contains_key(&key) {
                return Err(PyValueError::new_err(format!(
                    "a dict has two keys that are {} in JSON",
                    Value::from(key)
                )));
            }
            object.insert(key, value);
        }
        self.place.truncate(end);
        Ok(Value::Object(object))
    }
}

/// Converts a dict key as `json.dumps` does.
fn key_of(key: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = key.cast_exact::<PyString>() {
        return Ok(text.to_str()?.to_owned());
    }
    if key.is_none() {
        return Ok("null".to_owned());
    }
    if let Ok(truth) = key.cast::<PyBool>() {
        return Ok(truth.is_true().to_string());
    }
    if key.is_exact_instance_of::<PyInt>() || key.is_exact_instance_of::<PyFloat>() {
        return Ok(key.str()?.to_str()?.to_owned());
    }
    key_function(key.py())?.call1((key,))?.extract()
}

/// Returns the package's function that converts a value one step towards JSON.
fn value_function(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    plain(py, &FUNCTION, "simpler_value")
}

/// Returns the package's function that converts a key to a text.
fn key_function(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    plain(py, &FUNCTION, "json_key")
}

fn plain<'py>(py: Python<'py>, cell: &'static PyOnceLock<Py<PyAny>>, name: &str) -> PyResult<&'py Bound<'py, PyAny>> {
    let import = || Ok::<_, PyErr>(py.import("tollhouse._internal.types.json_values")?.getattr(name)?.unbind());
    Ok(cell.get_or_try_init(py, import)?.bind(py))
}
