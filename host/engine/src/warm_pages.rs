//! Pages of a guest's memory that every script writes to, measured when the guest is built, by running a script.
//!
//! An instance's memory is an image whose pages are copied when they are first written to. wasmtime leaves the pages
//! that one instance wrote to for the next one, as long as they lie in few contiguous runs ([`MAX_RUNS`]); it returns the
//! rest to the system, which then copies them again. So a guest touches ([`wit/guest.wit`], `touch`) the pages that its
//! scripts will write to, and those between, which join the runs.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use anyhow::{Context, Result, ensure};
use wasmtime::Store;
use wasmtime::component::{Component, Linker, Val};

/// Size of the system's memory pages, in bytes.
const PAGE: u64 = 4_096;

/// Number of contiguous runs into which the pages are joined. wasmtime leaves 32; the others are for what a script does
/// besides.
const MAX_RUNS: usize = 22;

/// Sample script in a guest's language, with what every script does: it ends at once, or makes one call as its first
/// operation.
fn sample_script(name: &str) -> &'static str {
    if name == "js" {
        "const answer = await give({ n: 1 });\nconsole.log(answer);\nreturn { answer };"
    } else {
        "for name in a b; do echo \"$name\" | tr a-z A-Z; done; test \"$(echo a)\" = a && echo done"
    }
}

/// Returns the numbers of those pages, in ascending order. `code` is what [`precompile`](crate::guest::precompile) made
/// of the guest `name`. The list is empty where the system does not report pages: scripts then wait for their pages,
/// and nothing else changes.
///
/// # Errors
/// If the guest does not run the sample.
pub fn pages(name: &str, code: &[u8]) -> Result<Vec<u32>> {
    let engine = crate::guest()?;
    #[expect(unsafe_code, reason = "wasmtime cannot check machine code; the caller got it from the compiler itself")]
    // SAFETY: the caller guarantees it, as the reason above says.
    let component = unsafe { Component::deserialize(&engine, code) }?;
    let mut store = Store::new(&engine, ());
    store.set_epoch_deadline(u64::MAX / 2);
    let guest = linker(&component)?.instantiate(&mut store, &component)?;
    let function = |store: &mut Store<()>, name| guest.get_func(store, name).context("it is no guest");
    let start = function(&mut store, "start")?;
    let mut step = [Val::Bool(false)];
    start.call(&mut store, &[script(sample_script(name))], &mut step)?;
    if is_blocked(&step[0]) {
        let resume = function(&mut store, "resume")?;
        resume.call(&mut store, &[completion()], &mut step)?;
    }
    ensure!(!is_blocked(&step[0]), "the sample waits for a second operation");
    Ok(fill_gaps(written_pages().unwrap_or_default()))
}

/// Links the imports of a guest that the sample uses.
fn linker(component: &Component) -> Result<Linker<()>> {
    let mut linker = Linker::new(component.engine());
    linker.define_unknown_imports_as_traps(component)?;
    linker.allow_shadowing(true);
    let mut import = |interface: &str, function: &str, result: fn(&[Val]) -> Option<Val>| {
        let mut instance = linker.instance(&format!("tollhouse:guest/{interface}@0.1.0"))?;
        instance.func_new(function, move |_, _, arguments, results| {
            result(arguments).into_iter().zip(results).for_each(|(value, slot)| *slot = value);
            Ok(())
        })
    };
    import("output", "write", |_| None)?;
    import("clock", "now", |_| Some(Val::U64(0)))?;
    import("fuel", "spent", |_| Some(Val::U64(u64::MAX)))?;
    import("random", "bytes", |arguments| match arguments {
        [Val::U32(count)] => Some(Val::List(vec![Val::U8(7); *count as usize])),
        _ => None,
    })?;
    Ok(linker)
}

fn record<const N: usize>(fields: [(&str, Val); N]) -> Val {
    Val::Record(fields.map(|(name, value)| (name.to_owned(), value)).into())
}

fn text(text: &str) -> Val {
    Val::String(text.to_owned())
}

/// Arguments of `start`: a script with the limits and the directory that nearly every script has, for which the shell
/// has prepared an interpreter.
fn script(source: &str) -> Val {
    let tool = record([
        ("method", text("give")),
        ("path", text("give")),
        ("granted", Val::Bool(true)),
        ("program", Val::Bool(false)),
        ("open", Val::Bool(false)),
        ("command", Val::Bool(true)),
    ]);
    record([
        ("source", text(source)),
        ("name", text("script")),
        ("from-file", Val::Bool(false)),
        ("arguments", Val::List(Vec::new())),
        ("environment", Val::List(Vec::new())),
        ("directory", text("/workspace")),
        ("tools", Val::List(vec![tool])),
        ("limits", record([("fuel", Val::U64(u64::MAX)), ("memory", Val::U64(256 << 20))])),
        ("state", Val::Option(None)),
        ("typed", Val::Option(None)),
    ])
}

/// Completion of the sample's call.
fn completion() -> Val {
    let json = record([("text", text("1")), ("specials", Val::List(Vec::new()))]);
    let value = Val::Variant("json".to_owned(), Some(Box::new(json)));
    record([("id", Val::U64(1)), ("result", Val::Result(Ok(Some(Box::new(value)))))])
}

fn is_blocked(step: &Val) -> bool {
    matches!(step, Val::Variant(name, _) if name == "blocked")
}

/// Returns the image pages that the only instance in this process has written to, counted from the start of its memory.
/// Sources: proc_pid_maps(5), proc_pid_pagemap(5).
fn written_pages() -> Result<Vec<u32>> {
    let maps = std::fs::read_to_string("/proc/self/maps").context("this is no Linux")?;
    let (mut memory, mut last, mut image) = (0, 0, None);
    for line in maps.lines() {
        let (range, rest) = line.split_once(' ').context("a line of maps")?;
        let (from, to) = range.split_once('-').context("a range of addresses")?;
        let (from, to) = (u64::from_str_radix(from, 16)?, u64::from_str_radix(to, 16)?);
        if !rest.starts_with("rw") {
            continue;
        }
        if from != last {
            memory = from;
        }
        last = to;
        if rest.contains("wasm-memory-image") {
            image = Some((memory, from, to));
        }
    }
    let (memory, from, to) = image.context("no instance has an image in memory")?;
    let mut pagemap = File::open("/proc/self/pagemap")?;
    pagemap.seek(SeekFrom::Start(from / PAGE * 8))?;
    let mut entries = vec![0; usize::try_from((to - from) / PAGE * 8)?];
    pagemap.read_exact(&mut entries)?;
    let (entries, _) = entries.as_chunks::<8>();
    // Present, and no longer the image's own page.
    let own = |entry: &[u8; 8]| u64::from_le_bytes(*entry) >> 61 & 0b101 == 0b100;
    let first = (from - memory) / PAGE;
    let numbers = entries.iter().zip(first..).filter(|(entry, _)| own(entry));
    numbers.map(|(_, number)| Ok(u32::try_from(number)?)).collect()
}

/// Fills the smallest gaps between pages, so that the pages lie in few contiguous runs.
fn fill_gaps(pages: Vec<u32>) -> Vec<u32> {
    let mut gaps: Vec<(u32, u32)> = pages.windows(2).map(|pair| (pair[1] - pair[0] - 1, pair[0])).collect();
    gaps.retain(|(length, _)| *length > 0);
    gaps.sort_unstable();
    gaps.truncate(gaps.len().saturating_sub(MAX_RUNS - 1));
    let mut all = pages;
    all.extend(gaps.into_iter().flat_map(|(length, before)| before + 1..=before + length));
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warm_pages_beyond_run_limit_have_smallest_gaps_filled() {
        let pages = (0..MAX_RUNS as u32 + 2).map(|number| number * number + 10);
        let all = fill_gaps(pages.collect());
        assert_eq!(all[..6], [10, 11, 12, 13, 14, 19], "one gap too many, and that the smallest");
        assert_eq!(fill_gaps(vec![3, 9]), [3, 9]);
        assert!(fill_gaps(Vec::new()).is_empty());
    }
}
