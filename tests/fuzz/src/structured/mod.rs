//! Generated inputs with the structure that a target expects, which mutations of a corpus rarely produce. The same
//! number gives the same input.

mod archive;
mod arguments;
mod frames;
mod grammar;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};

use self::grammar::Grammar;
use crate::mutate::Numbers;

/// Number of random bytes from which an input is generated.
const CHANCE: usize = 1024;

static GRAMMARS: LazyLock<BTreeMap<&str, Grammar>> = LazyLock::new(|| {
    let texts = [
        ("component", include_str!("../../grammars/component.txt")),
        ("hosted", include_str!("../../grammars/hosted.txt")),
        ("index", include_str!("../../grammars/index.txt")),
        ("journal", include_str!("../../grammars/journal.txt")),
        ("manifest", include_str!("../../grammars/manifest.txt")),
        ("names", include_str!("../../grammars/names.txt")),
        ("pattern", include_str!("../../grammars/pattern.txt")),
        ("policy", include_str!("../../grammars/policy.txt")),
        ("wit", include_str!("../../grammars/wit.txt")),
    ];
    texts.map(|(target, text)| (target, Grammar::read(text))).into()
});

/// Generates the input of a target for a number.
#[must_use]
pub fn input(target: &str, number: u64) -> Vec<u8> {
    let mut numbers = Numbers::from(number);
    let chance: Vec<u8> = (0..CHANCE / 8).flat_map(|_| numbers.next().to_le_bytes()).collect();
    // `Unstructured` gives zeros after its end. The only other error is an empty range, and no range here is empty.
    let made = make(target, number, &mut Unstructured::new(&chance));
    made.unwrap_or_default()
}

fn make(target: &str, number: u64, choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    match target {
        "archive" => archive::archive(choices),
        "canonical" => arguments::json(choices),
        "frames" => frames::frames(choices),
        "snapshot" => crate::snapshot::stored(choices),
        "token" => token(choices),
        "words" => arguments::words(choices),
        // Every second input is a list of changes to a session, which random bytes already are.
        "journal" if number % 2 == 1 => Ok(changes(choices)),
        "engine" | "pack" | "step" | "vfs" => Ok(rest(choices)),
        text => Ok(GRAMMARS[text].text(choices)?.into_bytes()),
    }
}

fn rest(choices: &mut Unstructured<'_>) -> Vec<u8> {
    choices.bytes(choices.len()).unwrap_or_default().to_vec()
}

/// Generates data for `journal` that it does not take for a log.
fn changes(choices: &mut Unstructured<'_>) -> Vec<u8> {
    let few = usize::from(choices.int_in_range(0..=40_u8).unwrap_or_default());
    let mut data = choices.bytes(few).unwrap_or_default().to_vec();
    if let Some(first) = data.first_mut() {
        *first |= 0x80;
    }
    data
}

/// Generates a few changes of a genuine token.
fn token(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut data = vec![choices.int_in_range(0..=3)?];
    let changes = choices.int_in_range(0..=3)?;
    data.extend_from_slice(choices.bytes(3 * changes)?);
    Ok(data)
}
