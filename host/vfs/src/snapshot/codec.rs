//! Primitive encodings of snapshot records: LEB128 numbers, hashes, texts.

use super::Malformed;
use tollhouse_store::BlobId;

/// Writes a number in LEB128: seven bits in each byte, the lowest first, with the high bit set in all bytes except the
/// last.
pub(super) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            bytes.push(low & 0x7f);
            return;
        }
        bytes.push(low | 0x80);
    }
}

/// Writes a text, preceded by its length.
pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

/// A reader of the remaining bytes.
pub(super) struct ByteReader<'a> {
    rest: &'a [u8],
}

// Inlined where entries are read: a directory of 100,000 entries takes a million calls.
impl<'a> ByteReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> ByteReader<'a> {
        ByteReader { rest: bytes }
    }

    #[inline]
    pub(super) fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(Malformed("unexpected end of data"))?;
        self.rest = rest;
        Ok(bytes)
    }

    /// Returns the longest common prefix of the remaining bytes of both readers.
    pub(super) fn common(&self, other: &ByteReader<'a>) -> &'a [u8] {
        // Compares blocks of many bytes as long as possible.
        let (blocks, others) = (self.rest.as_chunks::<64>().0, other.rest.as_chunks::<64>().0);
        let start = 64 * blocks.iter().zip(others).take_while(|(a, b)| a == b).count();
        let single = self.rest[start..].iter().zip(&other.rest[start..]);
        &self.rest[..start + single.take_while(|(a, b)| a == b).count()]
    }

    /// Number of bytes that have been read of `all`, which this reader began with.
    pub(super) fn read_of(&self, all: &[u8]) -> usize {
        all.len() - self.rest.len()
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(Malformed("unexpected end of data"))?;
        self.rest = rest;
        Ok(*bytes)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Reads a number in its shortest encoding.
    #[inline]
    pub(super) fn number(&mut self) -> Result<u64, Malformed> {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte holds only the highest bit.
            if shift == 63 && byte > 1 {
                return Err(Malformed("a number is too large"));
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return if bits == 0 && shift > 0 {
                    Err(Malformed("a number is not in its shortest encoding"))
                } else {
                    Ok(number)
                };
            }
            shift += 7;
        }
    }

    /// Reads a number of bytes, names or the like: a number beyond the size of memory is an error.
    pub(super) fn count(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.number()?).map_err(|_| Malformed("a number is too large"))
    }

    #[inline]
    pub(super) fn text_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let count = self.count()?;
        self.bytes(count)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.text_bytes()?).map_err(|_| Malformed("a text is not UTF-8"))
    }

    pub(super) fn id(&mut self) -> Result<BlobId, Malformed> {
        Ok(BlobId::from(self.array::<32>()?))
    }

    pub(super) fn fixed(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn number_encoded_with_needless_bytes_is_refused() {
        let read = |bytes: &[u8]| ByteReader::new(bytes).number().ok();
        assert_eq!(read(&[0]), Some(0));
        assert_eq!(read(&[0x80, 0]), None, "a needless byte");
        assert_eq!(read(&[0x80, 1]), Some(128));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), Some(u64::MAX));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]), None, "65 bits");
        assert_eq!(read(&[0x80; 30]), None);
        assert_eq!(read(&[]), None);
    }

    proptest! {
        #[test]
        fn numbers_are_read_back(number: u64, shift in 0..64_u32) {
            let number = number >> shift;
            let mut bytes = Vec::new();
            put_number(&mut bytes, number);
            let mut reader = ByteReader::new(&bytes);
            prop_assert_eq!(reader.number().ok(), Some(number));
            prop_assert!(reader.is_empty());
        }
    }
}
