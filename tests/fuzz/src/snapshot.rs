//! Blobs that hold the nodes of snapshots.

use std::sync::Arc;

use arbitrary::Unstructured;
use bytes::Bytes;
use tollhouse::store::{BlobError, BlobId, BlobSink, BlobSource, new_place};
use tollhouse::vfs::{Kind, Limits, Tree, references, rewrite};

/// Number of a tree's entries that are read. A few bytes can describe a very large tree.
const ENTRIES: usize = 200;

/// Reads data as a node, which must be refused or be written as the same bytes. Then reads data as several blobs, each
/// after its length in two bytes, of which the last one is the root of a snapshot. The snapshot must open or be
/// refused; reading it must not panic, and an operation that fails must change nothing.
///
/// # Panics
///
/// Panics if that does not hold.
pub fn snapshot(data: &[u8]) {
    node(data);
    let blobs = Arc::new(Blobs::read(data));
    blobs.blobs.iter().for_each(|blob| node(blob));
    let Some((last, first)) = blobs.blobs.split_last() else { return };
    let Ok(index) = u8::try_from(first.len()) else { return };
    let id = BlobId::from([index; 32]);
    let limits = Limits { bytes: u64::MAX, entries: u64::MAX, file_bytes: u64::MAX };
    let Ok(mut tree) = Tree::open(id.into(), Arc::clone(&blobs) as Arc<dyn BlobSource>, limits) else { return };
    look(&tree, "/", &mut 0);
    let name = tree.seal(&mut &*blobs).expect("all is where it came from");
    assert_eq!(name.blob(), BlobId::of(last), "what was not changed has its name");
    let before = tree.usage();
    if tree.place_file("/workspace/fuzz", b"fuzz", 0o644, 1).is_err() {
        assert_eq!(tree.usage(), before);
        assert_eq!(tree.seal(&mut &*blobs).ok(), Some(name), "what failed changed nothing");
    }
}

fn node(blob: &[u8]) {
    match rewrite(blob) {
        Ok(again) => {
            assert_eq!(again, blob, "a node has one spelling");
            references(blob).expect("what can be read can be followed");
        }
        Err(_) => assert!(references(blob).is_err(), "what cannot be read cannot be followed"),
    }
}

/// Reads the entries below a path, up to a limit.
fn look(tree: &Tree, path: &str, seen: &mut usize) {
    let Ok(entries) = tree.read_directory(path) else { return };
    for entry in entries {
        *seen += 1;
        if *seen > ENTRIES {
            return;
        }
        let path = format!("{}/{}", path.trim_end_matches('/'), entry.name);
        let stat = tree.stat(&path, false).expect("it was listed, and no path is too long");
        match entry.kind {
            Kind::Directory => look(tree, &path, seen),
            Kind::File => drop(tree.read(&path, stat.size / 2, 100)),
            _ => assert!(tree.read_link(&path).is_ok(), "a link is all there"),
        }
    }
}

/// Blobs whose names are their positions: blob number n has a name of 32 bytes n. A mutation of a blob therefore does
/// not change its name, and a tree may contain itself, which is impossible with real hashes.
#[derive(Debug)]
struct Blobs {
    blobs: Vec<Bytes>,
    place: u64,
}

impl Blobs {
    fn read(data: &[u8]) -> Blobs {
        let (mut blobs, mut rest) = (Vec::new(), data);
        while let Some(([low, high], behind)) = rest.split_first_chunk() {
            let length = usize::from(u16::from_le_bytes([*low, *high]));
            let (blob, behind) = behind.split_at(behind.len().min(length));
            blobs.push(Bytes::copy_from_slice(blob));
            rest = behind;
        }
        Blobs { blobs, place: new_place() }
    }
}

/// Returns the blobs of a realistic tree in the form that [`snapshot`] reads, some of them with a changed byte.
pub(crate) fn stored(choices: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u8>> {
    let mut tree = Tree::new(Limits::default(), 0);
    for _ in 0..choices.int_in_range(0..=6)? {
        let path = format!("/workspace/{}", choices.choose(&["a", "b/c", "k", "q/r/s", "\u{e9}"])?);
        // An operation that fails is skipped.
        let _ = match choices.int_in_range(0..=2)? {
            0 => tree.create_directory(&path, true, 1),
            1 => tree.create_link("a", &path, 2),
            _ => tree.place_file(&path, &[b'x'; 300][..choices.int_in_range(0..=300)?], 0o600, 3),
        };
    }
    let mut sealed = Sealed { blobs: Vec::new(), place: new_place() };
    tree.seal(&mut sealed).expect("it is all there");
    let mut data = Vec::new();
    for at in 0..sealed.blobs.len() {
        let (id, mut blob) = sealed.blobs[at].clone();
        if choices.ratio(1, 8)? && !blob.is_empty() {
            let place = choices.choose_index(blob.len())?;
            blob[place] = choices.int_in_range(0..=255)?;
        }
        let number = [u8::try_from(at).unwrap_or(u8::MAX); 32];
        for (_, later) in &mut sealed.blobs[at + 1..] {
            let places: Vec<usize> =
                (0..later.len().saturating_sub(31)).filter(|at| later[*at..*at + 32] == id).collect();
            places.into_iter().for_each(|at| later[at..at + 32].copy_from_slice(&number));
        }
        data.extend(u16::try_from(blob.len()).unwrap_or(u16::MAX).to_le_bytes());
        data.extend(blob);
    }
    Ok(data)
}

/// Blobs in the order in which they were stored, so that a blob follows those that it names.
struct Sealed {
    blobs: Vec<([u8; 32], Vec<u8>)>,
    place: u64,
}

impl BlobSink for Sealed {
    fn put(&mut self, bytes: Vec<u8>) -> Result<BlobId, BlobError> {
        let id = BlobId::of(&bytes);
        if self.blobs.iter().all(|(known, _)| known != id.as_bytes()) {
            self.blobs.push((*id.as_bytes(), bytes));
        }
        Ok(id)
    }

    fn place(&self) -> u64 {
        self.place
    }
}

impl BlobSource for Blobs {
    fn get(&self, id: &BlobId) -> Result<Bytes, BlobError> {
        let [number, ..] = *id.as_bytes();
        self.blobs.get(usize::from(number)).cloned().ok_or(BlobError::Missing(*id))
    }

    fn place(&self) -> u64 {
        self.place
    }
}

impl BlobSink for &Blobs {
    fn place(&self) -> u64 {
        self.place
    }

    fn put(&mut self, bytes: Vec<u8>) -> Result<BlobId, BlobError> {
        Ok(BlobId::of(&bytes))
    }
}
