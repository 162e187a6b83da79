//! Decompression of Brotli streams, for `zlib` and for the texts of `Intl`.

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};

/// Decompressor with its state.
pub(super) struct Brotli(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>);

impl Brotli {
    pub(super) fn new() -> Self {
        let [bytes, words, codes] = [(); 3].map(|()| StandardAlloc::default());
        Self(Box::new(BrotliState::new_strict(bytes, words, codes)))
    }

    /// Decompresses further input. Returns the result, the number of consumed bytes, and the number of written bytes.
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

    /// Returns the number of the error after a failure.
    pub(super) fn error_code(&self) -> i32 {
        self.0.error_code as i32
    }
}
