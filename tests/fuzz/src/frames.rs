//! What comes over the socket of a store that several processes share.

use std::io::ErrorKind;

use tollhouse::store::{rewrite_answer, rewrite_request};

/// The kind of an answer that says why something failed.
const FAILED: u8 = 4;

/// Position of a frame's kind: behind its length and the request's id.
const KIND: usize = 12;

/// The first byte says who speaks: an even one a follower, an odd one the leader. The rest is read frame by frame, up to the
/// first that is broken. What is read has one spelling, but for the texts of errors.
///
/// # Panics
/// If that does not hold.
pub fn frames(data: &[u8]) {
    let Some((speaker, mut stream)) = data.split_first() else { return };
    let asks = speaker % 2 == 0;
    let rewrite = if asks { rewrite_request } else { rewrite_answer };
    loop {
        let before = stream;
        let written = match rewrite(&mut stream) {
            Ok(written) => written,
            Err(error) => {
                let kind = error.kind();
                assert!(matches!(kind, ErrorKind::InvalidData | ErrorKind::UnexpectedEof), "{error}");
                return;
            }
        };
        let read = &before[..before.len() - stream.len()];
        if asks || read[KIND] != FAILED {
            assert_eq!(written, read, "a frame has one spelling");
        }
        assert_eq!(rewrite(&mut &written[..]).expect("what was written is read"), written);
    }
}
