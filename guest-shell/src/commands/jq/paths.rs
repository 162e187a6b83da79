//! Access to values by key, index, slice and path.

use std::collections::HashSet;
use std::ops::Range;
use std::rc::Rc;

use super::failure::Failure;
use super::value::{Array, MAX_DEPTH, Members, Object, Val, sort_by_key};

/// Largest index that can be assigned to.
const MAX_INDEX: f64 = 536_870_911.0;

fn cannot_index(value: &Val, key: &Val) -> Failure {
    match key {
        Val::Str(name) => Failure::new(format!("Cannot index {} with string \"{name}\"", value.kind())),
        _ => Failure::new(format!("Cannot index {} with {}", value.kind(), key.kind())),
    }
}

/// Returns the position of an element in an array of this length; `None` for one before its beginning.
fn place(index: f64, length: usize) -> Option<usize> {
    let index = index.floor();
    let index = if index < 0.0 { index + length as f64 } else { index };
    // The cast saturates: there is no element at that index either.
    (index >= 0.0).then_some(index as usize)
}

/// Returns the range that `{"start": …, "end": …}` selects in a value of this length.
fn range(slice: &Object, length: usize) -> Result<Range<usize>, Failure> {
    let bound = |name: &str, default: f64| match slice.0.get(name) {
        Some(Val::Null) => Ok(default),
        Some(Val::Num(number)) => Ok(number.value()),
        _ => Err(Failure::new("Array/string slice indices must be integers")),
    };
    let length_number = length as f64;
    let absolute = |at: f64| if at < 0.0 { at + length_number } else { at };
    let start = bound("start", 0.0)?;
    let end = bound("end", length_number)?;
    let start = absolute(if start.is_nan() { 0.0 } else { start }).clamp(0.0, length_number).floor();
    let end = absolute(if end.is_nan() { length_number } else { end }).clamp(0.0, length_number).ceil();
    // Both are within the length.
    let (start, end) = (start as usize, end as usize);
    Ok(start..end.max(start))
}

/// Returns a slice of a text, in characters.
fn slice_text(text: &str, slice: &Object) -> Result<Val, Failure> {
    let range = range(slice, text.chars().count())?;
    Ok(Val::string(text.chars().skip(range.start).take(range.len()).collect::<String>()))
}

/// Returns the positions at which a sequence of elements occurs.
pub(crate) fn occurrences(elements: &[Val], row: &[Val]) -> Result<Val, Failure> {
    if row.is_empty() {
        return Ok(Val::array(Vec::new()));
    }
    let mut found = Vec::new();
    for (at, window) in elements.windows(row.len()).enumerate() {
        let mut same = true;
        for (element, wanted) in window.iter().zip(row) {
            same = same && element.equals(wanted)?;
        }
        if same {
            found.push(Val::from(at));
        }
    }
    Ok(Val::array(found))
}

/// Returns the value at a key, an index or a slice.
pub(crate) fn index(value: &Val, key: &Val) -> Result<Val, Failure> {
    Ok(match (value, key) {
        (Val::Obj(object), Val::Str(name)) => object.0.get(name.as_str()).cloned().unwrap_or_default(),
        (Val::Arr(array), Val::Num(at)) => place(at.value(), array.0.len())
            .filter(|_| !at.value().is_nan())
            .and_then(|at| array.0.get(at))
            .cloned()
            .unwrap_or_default(),
        (Val::Arr(array), Val::Obj(slice)) => Val::array(array.0[range(slice, array.0.len())?].to_vec()),
        (Val::Str(text), Val::Obj(slice)) => slice_text(text, slice)?,
        (Val::Arr(array), Val::Arr(row)) => occurrences(&array.0, &row.0)?,
        (Val::Null, Val::Str(_) | Val::Num(_) | Val::Obj(_)) => Val::Null,
        _ => return Err(cannot_index(value, key)),
    })
}

/// Returns true if a value exists at a key or an index.
pub(crate) fn has(value: &Val, key: &Val) -> Result<Val, Failure> {
    match (value, key) {
        (Val::Null, _) => Ok(Val::Bool(false)),
        (Val::Obj(object), Val::Str(name)) => Ok(Val::Bool(object.0.contains_key(name.as_str()))),
        (Val::Arr(array), Val::Num(at)) => {
            Ok(Val::Bool(at.value() >= 0.0 && at.value().floor() < array.0.len() as f64))
        }
        _ => Err(Failure::new(format!("Cannot check whether {} has a {} key", value.kind(), key.kind()))),
    }
}

/// Returns the keys of a path.
fn keys<'a>(path: &'a Val, message: &str) -> Result<&'a [Val], Failure> {
    match path {
        Val::Arr(keys) if keys.0.len() > MAX_DEPTH => Err(Failure::new("Path too deep")),
        Val::Arr(keys) => Ok(&keys.0),
        _ => Err(Failure::new(message)),
    }
}

/// Returns the value at a path.
pub(crate) fn get_path(value: &Val, path: &Val) -> Result<Val, Failure> {
    let mut found = value.clone();
    for key in keys(path, "Path must be specified as an array")? {
        found = index(&found, key)?;
    }
    Ok(found)
}

/// Sets the value at a path.
pub(crate) fn set_path(value: Val, path: &Val, new: Val) -> Result<Val, Failure> {
    change(value, keys(path, "Path must be specified as an array")?, new)
}

fn change(mut value: Val, keys: &[Val], new: Val) -> Result<Val, Failure> {
    let Some((key, rest)) = keys.split_first() else { return Ok(new) };
    if rest.is_empty() {
        return set(value, key, new);
    }
    // The inner value is taken out meanwhile, so that it can be changed in place if it is not shared.
    let inner = take(&mut value, key)?;
    let inner = change(inner, rest, new)?;
    set(value, key, inner)
}

/// Takes out the value at a key, leaving null.
fn take(value: &mut Val, key: &Val) -> Result<Val, Failure> {
    match (&mut *value, key) {
        (Val::Obj(object), Val::Str(name)) => {
            Ok(Rc::make_mut(object).0.get_mut(name.as_str()).map(std::mem::take).unwrap_or_default())
        }
        (Val::Arr(array), Val::Num(at)) => {
            let at = place(at.value(), array.0.len());
            let element = at.and_then(|at| Rc::make_mut(array).0.get_mut(at));
            Ok(element.map(std::mem::take).unwrap_or_default())
        }
        _ => index(value, key),
    }
}

/// Sets the value at a key, an index or a slice.
fn set(value: Val, key: &Val, new: Val) -> Result<Val, Failure> {
    match (value, key) {
        (Val::Obj(mut object), Val::Str(name)) => {
            let members = &mut Rc::make_mut(&mut object).0;
            match members.get_mut(name.as_str()) {
                Some(place) => *place = new,
                None => drop(members.insert(Rc::from(name.as_str()), new)),
            }
            Ok(Val::Obj(object))
        }
        (Val::Null, Val::Str(name)) => {
            let mut members = Members::default();
            members.insert(Rc::from(name.as_str()), new);
            Ok(Val::object(members))
        }
        (Val::Arr(array), Val::Num(at)) => set_element(array, at.value(), new),
        (Val::Null, Val::Num(at)) => set_element(Rc::default(), at.value(), new),
        (Val::Arr(array), Val::Obj(slice)) => set_slice(array, slice, new),
        (Val::Null, Val::Obj(slice)) => set_slice(Rc::default(), slice, new),
        (Val::Str(_), Val::Obj(_)) => Err(Failure::new("Cannot update string slices")),
        (Val::Arr(_), Val::Arr(_)) => Err(Failure::new("Cannot update field at array index of array")),
        (value, key) => Err(cannot_index(&value, key)),
    }
}

fn set_element(mut array: Rc<Array>, at: f64, new: Val) -> Result<Val, Failure> {
    if at.is_nan() {
        return Err(Failure::new("Cannot set array element at NaN index"));
    }
    if at > MAX_INDEX {
        return Err(Failure::new("Array index too large"));
    }
    let at = place(at, array.0.len()).ok_or_else(|| Failure::new("Out of bounds negative array index"))?;
    let elements = &mut Rc::make_mut(&mut array).0;
    if at >= elements.len() {
        elements.resize(at + 1, Val::Null);
    }
    elements[at] = new;
    Ok(Val::Arr(array))
}

fn set_slice(mut array: Rc<Array>, slice: &Object, new: Val) -> Result<Val, Failure> {
    let range = range(slice, array.0.len())?;
    let Val::Arr(new) = new else {
        return Err(Failure::new("A slice of an array can only be assigned another array"));
    };
    Rc::make_mut(&mut array).0.splice(range, new.0.iter().cloned());
    Ok(Val::Arr(array))
}

/// Deletes the values at these paths. Paths below a deleted path are ignored, and array indices refer to the original
/// array.
pub(crate) fn delete_paths(value: Val, mut paths: Vec<Val>) -> Result<Val, Failure> {
    sort_by_key(&mut paths, |path| path)?;
    let keys_of = paths.iter().map(|path| keys(path, &format!("Path must be specified as array, not {}", path.kind())));
    let paths = keys_of.collect::<Result<Vec<&[Val]>, Failure>>()?;
    match paths.first() {
        None => Ok(value),
        Some([]) => Ok(Val::Null),
        Some(_) => delete_sorted(value, &paths),
    }
}

/// Deletes the values at these paths, which are sorted and not empty.
fn delete_sorted(mut value: Val, mut paths: &[&[Val]]) -> Result<Val, Failure> {
    let mut deleted = Vec::new();
    while let Some([key, rest @ ..]) = paths.first() {
        // The first path is always included: its key may be NaN, which does not equal itself.
        let mut more = 0;
        while let Some([next, ..]) = paths.get(1 + more)
            && next.equals(key)?
        {
            more += 1;
        }
        let (same, others) = paths.split_at(1 + more);
        paths = others;
        if rest.is_empty() {
            deleted.push(key);
        } else if !matches!(index(&value, key)?, Val::Null) {
            let below: Vec<&[Val]> = same.iter().map(|path| &path[1..]).collect();
            let inner = take(&mut value, key)?;
            value = set(value, key, delete_sorted(inner, &below)?)?;
        }
    }
    if deleted.is_empty() { Ok(value) } else { delete(value, &deleted) }
}

/// Deletes the values at these keys, indices or slices.
fn delete(value: Val, keys: &[&Val]) -> Result<Val, Failure> {
    match value {
        Val::Null => Ok(Val::Null),
        Val::Obj(mut object) => {
            let mut names = HashSet::new();
            for key in keys {
                let Val::Str(name) = key else {
                    return Err(Failure::new(format!("Cannot delete {} field of object", key.kind())));
                };
                names.insert(name.as_str());
            }
            Rc::make_mut(&mut object).0.retain(|name, _| !names.contains(&**name));
            Ok(Val::Obj(object))
        }
        Val::Arr(mut array) => {
            let mut kept = vec![true; array.0.len()];
            for key in keys {
                match key {
                    Val::Num(at) if at.value().is_nan() => {}
                    Val::Num(at) => {
                        let at = place(at.value(), kept.len());
                        at.and_then(|at| kept.get_mut(at)).into_iter().for_each(|kept| *kept = false);
                    }
                    Val::Obj(slice) => {
                        let range = range(slice, kept.len())?;
                        kept[range].fill(false);
                    }
                    key => return Err(Failure::new(format!("Cannot delete {} element of array", key.kind()))),
                }
            }
            let mut kept = kept.into_iter();
            Rc::make_mut(&mut array).0.retain(|_| kept.next().unwrap_or(true));
            Ok(Val::Arr(array))
        }
        value => Err(Failure::new(format!("Cannot delete fields from {}", value.kind()))),
    }
}
