//! Functions of arrays, objects, and of the environment.

use std::cmp::Ordering;

use super::failure::Failure;
use super::operators::flatten;
use super::paths::{delete_paths, has, set_path};
use super::term::NativeFn;
use super::value::{MAX_DEPTH, Val, sort_by_key};
use super::writer::compact;

type Given = Result<Val, Failure>;

/// Name, number of arguments, and implementation of each function.
pub(crate) const TABLE: &[(&str, usize, NativeFn)] = &[
    ("not", 0, |_, input, _| Ok(Val::Bool(!input.is_true()))),
    ("type", 0, |_, input, _| Ok(Val::from(input.kind()))),
    ("length", 0, |_, input, _| length(&input)),
    ("keys", 0, |_, input, _| keys(&input, true)),
    ("keys_unsorted", 0, |_, input, _| keys(&input, false)),
    ("has", 1, |_, input, arguments| has(&input, &arguments[0])),
    ("contains", 1, |_, input, arguments| contains(&input, &arguments[0])),
    ("setpath", 2, |_, input, arguments| set_path(input, &arguments[0], arguments[1].clone())),
    ("delpaths", 1, |_, input, arguments| match &arguments[0] {
        Val::Arr(paths) => delete_paths(input, paths.0.clone()),
        _ => Err(Failure::new("Paths must be specified as an array")),
    }),
    ("sort", 0, |_, input, _| {
        let mut elements = elements(input, "cannot be sorted, as it is not an array")?;
        sort_by_key(&mut elements, |it| it)?;
        Ok(Val::array(elements))
    }),
    ("unique", 0, |_, input, _| {
        let mut elements = elements(input, "cannot be sorted, as it is not an array")?;
        sort_by_key(&mut elements, |it| it)?;
        let mut unique: Vec<Val> = Vec::new();
        for element in elements {
            match unique.last() {
                Some(last) if last.compare(&element)?.is_eq() => {}
                _ => unique.push(element),
            }
        }
        Ok(Val::array(unique))
    }),
    ("_sort_by", 1, |_, input, arguments| {
        let keyed = keyed(input, &arguments[0])?;
        Ok(keyed.into_iter().map(|(_, value)| value).collect())
    }),
    ("_group_by", 1, |_, input, arguments| group(keyed(input, &arguments[0])?)),
    ("min", 0, |_, input, _| extreme(input.clone(), &input, Ordering::Less)),
    ("max", 0, |_, input, _| extreme(input.clone(), &input, Ordering::Greater)),
    ("_min_by", 1, |_, input, arguments| extreme(input, &arguments[0], Ordering::Less)),
    ("_max_by", 1, |_, input, arguments| extreme(input, &arguments[0], Ordering::Greater)),
    ("_flatten", 1, |_, input, arguments| {
        let depth = arguments[0].as_f64().unwrap_or(f64::INFINITY);
        match input.children() {
            Some(children) => Ok(Val::array(flatten(children, depth))),
            None => {
                let text = super::failure::excerpt(&input, super::failure::SHORT);
                Err(Failure::new(format!("Cannot iterate over {} ({text})", input.kind())))
            }
        }
    }),
    ("bsearch", 1, |_, input, arguments| search(&input, &arguments[0])),
    ("input", 0, |host, _, _| match host.input() {
        Some(Ok(value)) => Ok(value),
        Some(Err(message)) => Err(Failure::new(message)),
        None => Err(Failure::new("break")),
    }),
    ("input_filename", 0, |host, _, _| Ok(host.input_filename().map_or(Val::Null, Val::string))),
    ("input_line_number", 0, |host, _, _| Ok(Val::from(host.input_line()))),
    ("get_search_list", 0, |host, _, _| Ok(host.search_list())),
    ("modulemeta", 0, |host, input, _| {
        let name = input.as_str().ok_or_else(|| Failure::new("modulemeta input module name must be a string"))?;
        let unread = || Err(Failure::Fatal(format!("the module {name} was not read")));
        host.module(name).map_or_else(unread, |module| module.map_err(Failure::new))
    }),
    ("now", 0, |host, _, _| Ok(Val::from(host.now() as f64 / 1e6))),
    ("debug", 0, |host, input, _| {
        host.message(&format!("[\"DEBUG:\",{}]\n", compact(&input)));
        Ok(input)
    }),
    ("stderr", 0, |host, input, _| {
        host.message(&super::formats::text(&input));
        Ok(input)
    }),
    ("halt", 0, |_, _, _| Err(Failure::Halt(0, None))),
    ("halt_error", 1, |_, input, arguments| match &arguments[0] {
        // Statuses are bytes; a number beyond C's int gives 0.
        Val::Num(status) if status.value().abs() < 2_147_483_648.0 => {
            Err(Failure::Halt(status.value() as i32 & 0xFF, Some(input)))
        }
        Val::Num(_) => Err(Failure::Halt(0, Some(input))),
        _ => Err(Failure::about(&input, "halt_error/1: number required")),
    }),
    ("have_literal_numbers", 0, |_, _, _| Ok(Val::Bool(true))),
    ("have_decnum", 0, |_, _, _| Ok(Val::Bool(true))),
];

fn length(input: &Val) -> Given {
    Ok(match input {
        Val::Null => Val::from(0.0),
        Val::Bool(_) => return Err(Failure::about(input, "has no length")),
        Val::Num(number) if number.value() < 0.0 => Val::Num(number.negated()),
        Val::Num(_) => input.clone(),
        Val::Str(text) => Val::from(text.chars().count()),
        Val::Arr(array) => Val::from(array.0.len()),
        Val::Obj(object) => Val::from(object.0.len()),
    })
}

fn keys(input: &Val, sorted: bool) -> Given {
    match input {
        Val::Arr(array) => Ok((0..array.0.len()).map(Val::from).collect()),
        Val::Obj(object) if sorted => Ok(object.sorted().into_iter().map(|(name, _)| Val::from(&**name)).collect()),
        Val::Obj(object) => Ok(object.0.keys().map(|name| Val::from(&**name)).collect()),
        _ => Err(Failure::about(input, "has no keys")),
    }
}

fn contains(whole: &Val, part: &Val) -> Given {
    if whole.kind() != part.kind() {
        return Err(Failure::between(whole, part, "cannot have their containment checked"));
    }
    Ok(Val::Bool(is_inside(whole, part, 0)?))
}

fn is_inside(whole: &Val, part: &Val, depth: usize) -> Result<bool, Failure> {
    if depth > MAX_DEPTH {
        return Err(Failure::new("Containment check too deep"));
    }
    match (whole, part) {
        (Val::Obj(whole), Val::Obj(part)) => {
            for (name, part) in &part.0 {
                let Some(whole) = whole.0.get(name) else { return Ok(false) };
                if !is_inside(whole, part, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Val::Arr(whole), Val::Arr(part)) => {
            for part in &part.0 {
                if !is_in_any(&whole.0, part, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Val::Str(whole), Val::Str(part)) => Ok(whole.contains(part.as_str())),
        _ => whole.equals(part),
    }
}

fn is_in_any(elements: &[Val], part: &Val, depth: usize) -> Result<bool, Failure> {
    for element in elements {
        if is_inside(element, part, depth)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn elements(input: Val, complaint: &str) -> Result<Vec<Val>, Failure> {
    input.into_elements().map_err(|other| Failure::about(&other, complaint))
}

/// Returns pairs of keys and elements, sorted by key.
fn keyed(input: Val, keys: &Val) -> Result<Vec<(Val, Val)>, Failure> {
    let (Val::Arr(_), Val::Arr(keys)) = (&input, keys) else {
        return Err(Failure::between(&input, keys, "cannot be sorted, as they are not both arrays"));
    };
    let keys = keys.0.clone();
    let mut keyed: Vec<(Val, Val)> = keys.into_iter().zip(input.children().unwrap_or_default()).collect();
    sort_by_key(&mut keyed, |(key, _)| key)?;
    Ok(keyed)
}

fn group(keyed: Vec<(Val, Val)>) -> Given {
    let mut groups: Vec<Vec<Val>> = Vec::new();
    let mut last: Option<Val> = None;
    for (key, value) in keyed {
        let same = match &last {
            Some(last) => last.compare(&key)?.is_eq(),
            None => false,
        };
        match groups.last_mut() {
            Some(group) if same => group.push(value),
            _ => groups.push(vec![value]),
        }
        last = Some(key);
    }
    Ok(groups.into_iter().map(Val::array).collect())
}

/// Returns the element with the smallest or largest key: the first of several smallest, and the last of several
/// largest.
fn extreme(input: Val, keys: &Val, wanted: Ordering) -> Given {
    let (Val::Arr(array), Val::Arr(keys)) = (&input, keys) else {
        return Err(Failure::between(&input, keys, "cannot be iterated over"));
    };
    let mut best: Option<usize> = None;
    for (at, key) in keys.0.iter().enumerate().take(array.0.len()) {
        let better = match best {
            None => true,
            Some(best) => match key.compare(&keys.0[best])? {
                Ordering::Equal => wanted == Ordering::Greater,
                order => order == wanted,
            },
        };
        if better {
            best = Some(at);
        }
    }
    Ok(best.map_or(Val::Null, |at| array.0[at].clone()))
}

fn search(input: &Val, target: &Val) -> Given {
    let Val::Arr(array) = input else { return Err(Failure::about(input, "cannot be searched from")) };
    let mut failure = None;
    let found = array.0.binary_search_by(|element| {
        element.compare(target).unwrap_or_else(|error| {
            failure = Some(error);
            Ordering::Equal
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    Ok(match found {
        Ok(at) => Val::from(at),
        Err(at) => Val::from(-1.0 - at as f64),
    })
}
