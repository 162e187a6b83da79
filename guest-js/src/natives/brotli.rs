//! A stream of Brotli that is read: for `zlib`, and for the texts of `Intl`.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

/// A decompressor, at some place of its stream.
pub(super) struct Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>);

impl Brotli {
    pub(super) fn new() -> Self {
        let [bytes, words, codes] = [(); 3].map(|()| StandardAlloc::default());
        Self(Box::new(BrotliState::new_strict(bytes, words, codes)))
    }

    /// Reads on; gives the result, how many bytes of the input it took, and how many it wrote.
    pub(super) fn run(&mut self, input: &[u8], output: &mut [u8]) -> (BrotliResult, usize, usize) {
        let (mut left, mut taken, mut room, mut given, mut total) = (input.len(), 0, output.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut taken,
            input,
            &mut room,
            &mut given,
            output,
            &mut total,
            &mut self.0,
        );
        (result, taken, given)
    }

    /// The number of what is wrong with the stream, after a failure.
    pub(super) fn error_code(&self) -> i32 {
        self.0.error_code as i32
    }
}
