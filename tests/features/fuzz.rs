//! The fuzz targets (`tests/fuzz`), without a fuzzer: their corpus and mutations of it, the same each time.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use tollhouse_fuzz::{TARGETS, mutate};
use tollhouse_tests::root;

/// How many mutations a target is given. They take a second or so; a fuzzer does as many in a hundredth.
const MUTATIONS: usize = 300;

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

/// Gives a target its corpus, and what is made of it. What it stumbles over is kept, to be looked at.
fn replay(name: &str) {
    let (_, target) = TARGETS.iter().find(|(other, _)| *other == name).expect("it is a target");
    let corpus = corpus(name);
    for (path, data) in &corpus {
        assert!(catch_unwind(|| target(data)).is_ok(), "{}", path.display());
    }
    let files: Vec<Vec<u8>> = corpus.into_iter().map(|(_, data)| data).collect();
    for data in mutate::mutations(&files, MUTATIONS) {
        if catch_unwind(|| target(&data)).is_err() {
            let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fuzz-{name}"));
            std::fs::write(&kept, &data).expect("the target directory can be written");
            panic!("a mutation of the corpus, kept as {}", kept.display());
        }
    }
}

macro_rules! replayed {
    ($($name:ident),*) => { $(
        #[test]
        fn $name() {
            replay(stringify!($name));
        }
    )* };
}

replayed!(archive, canonical, component, index, manifest, names, pattern, policy, snapshot, token, wit, words);

#[test]
fn every_target_has_a_file_and_a_small_corpus() {
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
