//! The fuzz targets (`tests/fuzz`), without a fuzzer: their corpus, mutations of it, and inputs that are made as each of
//! them reads them; the same each time.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use tollhouse_fuzz::{TARGETS, Target, mutate, structured};
use tollhouse_tests::root;

/// Number of mutations that a target is given. They take a second or so; a fuzzer does as many in a hundredth.
const MUTATIONS: usize = 300;

/// Number of inputs that are made for a target: a second's work, for most. A fuzzer makes as many in a hundredth of
/// that.
const STRUCTURED: u64 = 1000;

/// Number of inputs for a target whose inputs take many steps, after each of which everything is checked.
const LONG: u64 = 300;

/// The longest seed, and all of them, in bytes. They are read whenever the tests run, and by whoever wonders what broke.
const LONGEST: usize = 4 << 10;
const ALL: usize = 200 << 10;

fn directory() -> PathBuf {
    root().join("tests/fuzz")
}

/// The files of a target's corpus, by name.
fn corpus(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let directory = directory().join("corpus").join(target);
    let read = |path: PathBuf| {
        let data = std::fs::read(&path).expect("it can be read");
        (path, data)
    };
    entries(&directory).into_iter().map(read).collect()
}

fn entries(directory: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    entries.map(|entry| entry.expect("it can be read").path()).collect()
}

/// The function of a target.
fn target(name: &str) -> Target {
    TARGETS.iter().find(|(other, _)| *other == name).expect("it is a target").1
}

/// Gives a target its corpus, and what is made of it.
fn replay(name: &str) {
    let corpus = corpus(name);
    for (path, data) in &corpus {
        assert!(catch_unwind(|| target(name)(data)).is_ok(), "{}", path.display());
    }
    let files: Vec<Vec<u8>> = corpus.into_iter().map(|(_, data)| data).collect();
    mutate::mutations(&files, MUTATIONS).for_each(|data| give(name, &data, "a mutation of the corpus"));
}

/// Gives a target what is made for it.
fn make(name: &str) {
    let count = if ["engine", "journal", "pack", "step", "vfs"].contains(&name) { LONG } else { STRUCTURED };
    (0..count).for_each(|number| {
        give(name, &structured::input(name, number), &format!("structured input {number}"));
    });
}

/// Gives a target an input. What it stumbles over is kept, to be looked at.
fn give(name: &str, data: &[u8], what: &str) {
    if catch_unwind(|| target(name)(data)).is_err() {
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
        std::fs::write(&kept, data).expect("the target directory can be written");
        panic!("{what}, kept as {}", kept.display());
    }
}

macro_rules! targets {
    ($($name:ident),*) => { $(
        mod $name {
            #[test]
            fn corpus_is_replayed_without_panic() {
                super::replay(stringify!($name));
            }

            #[test]
            fn structured_inputs_run_without_panic() {
                super::make(stringify!($name));
            }
        }
    )*

        #[test]
        fn fuzz_targets_are_all_replayed() {
            assert_eq!([$(stringify!($name)),*], TARGETS.map(|(name, _)| name));
        }
    };
}

targets!(
    archive, canonical, component, engine, frames, hosted, index, journal, manifest, names, pack, pattern, policy,
    snapshot, step, token, vfs, wit, words
);

#[test]
fn structured_inputs_are_the_same_each_time_and_many() {
    for (name, _) in TARGETS {
        let inputs = || (0..100).map(|number| structured::input(name, number));
        let different: BTreeSet<Vec<u8>> = inputs().collect();
        assert!(different.len() >= 50, "`{name}` is made {} different inputs of 100", different.len());
        assert!(inputs().eq(inputs()));
    }
}

#[test]
fn fuzz_targets_have_a_file_and_a_small_corpus() {
    let names: BTreeSet<PathBuf> = TARGETS.iter().map(|(name, _)| PathBuf::from(name)).collect();
    let listed = |below: &str| -> BTreeSet<PathBuf> {
        let paths = entries(&directory().join(below)).into_iter();
        paths.map(|path| path.with_extension("").file_name().expect("it has a name").into()).collect()
    };
    assert_eq!(listed("fuzz_targets"), names);
    assert_eq!(listed("corpus"), names);
    let mut all = 0;
    for (name, _) in TARGETS {
        let corpus = corpus(name);
        assert!(corpus.len() >= 5, "`{name}` has {} seeds", corpus.len());
        for (path, data) in corpus {
            assert!(data.len() < LONGEST, "{} has {} bytes", path.display(), data.len());
            all += data.len();
        }
    }
    assert!(all < ALL, "the corpus has {all} bytes");
}
