//! Position in a journal: behind a number of its chunks.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Chunks at the beginning of a journal, named by their number and their digest: two journals that have the same mark
/// begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::session) struct JournalMark {
    /// Number of chunks.
    pub(in crate::session) chunks: u64,
    /// 32 zero bytes for no chunk, and then, for each, BLAKE3 of the digest before it and its bytes.
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    pub(in crate::session) digest: blake3::Hash,
}

impl JournalMark {
    /// Returns the mark of a journal without chunks.
    pub(in crate::session) fn start() -> Self {
        Self { chunks: 0, digest: [0; 32].into() }
    }

    /// Returns the mark behind the next chunk.
    pub(in crate::session) fn follow(&self, chunk: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.digest.as_bytes()).update(chunk);
        Self { chunks: self.chunks.saturating_add(1), digest: hasher.finalize() }
    }
}

fn to_hex<S: Serializer>(digest: &blake3::Hash, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&digest.to_hex())
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<blake3::Hash, D::Error> {
    blake3::Hash::from_hex(String::deserialize(deserializer)?).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_marks_differ_wherever_chunks_differ() {
        let of = |chunks: &[&[u8]]| chunks.iter().fold(JournalMark::start(), |mark, chunk| mark.follow(chunk));
        let all =
            [of(&[]), of(&[b"a"]), of(&[b"b"]), of(&[b"a", b"b"]), of(&[b"ab"]), of(&[b"b", b"a"]), of(&[b"a", b""])];
        for (at, mark) in all.iter().enumerate() {
            assert!(!all[..at].contains(mark), "{at}");
            let text = serde_json::to_string(mark).expect("it is plain data");
            assert_eq!(serde_json::from_str::<JournalMark>(&text).expect("it is a mark"), *mark);
        }
    }
}
