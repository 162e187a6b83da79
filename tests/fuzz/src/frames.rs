//! Frames on the socket of a store that several processes share.

use std::io::ErrorKind;

use tollhouse::store::{rewrite_answer, rewrite_request};

/// Kind of a frame that reports a failure.
const FAILED: u8 = 4;

/// Position of a frame's kind, after its length and the id of the request.
const KIND: usize = 12;

/// Reads frames up to the first broken one. An even first byte makes them requests of a follower, an odd one answers of
/// the leader. Each frame that can be read must be written as the same bytes, except for frames with the text of an
/// error.
///
/// # Panics
///
/// Panics if that does not hold.
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
