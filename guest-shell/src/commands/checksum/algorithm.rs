//! Algorithms of checksums: digests, and the sums of `cksum` and `sum`.

use blake2::Blake2b;
use blake2::digest::consts::{U8, U16, U20, U24, U28, U32, U40, U48, U56, U64};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

/// Algorithm that makes a digest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::commands) enum DigestAlgorithm {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
    /// BLAKE2b with a digest of so many bytes.
    Blake2b(usize),
}

/// Bytes of the longest digest of BLAKE2b, which is the usual one.
pub(super) const LONGEST_BLAKE2B: usize = 64;

impl DigestAlgorithm {
    /// Algorithms by the names in lines with a tag.
    const TAGS: [(&'static str, Self); 6] = [
        ("MD5", Self::Md5),
        ("SHA1", Self::Sha1),
        ("SHA224", Self::Sha224),
        ("SHA256", Self::Sha256),
        ("SHA384", Self::Sha384),
        ("SHA512", Self::Sha512),
    ];

    /// Returns the algorithm of a name in a line with a tag.
    pub(super) fn of_tag(tag: &str) -> Option<Self> {
        if let Some(bits) = tag.strip_prefix("BLAKE2b") {
            let bits: usize =
                if bits.is_empty() { 8 * LONGEST_BLAKE2B } else { bits.strip_prefix('-')?.parse().ok()? };
            return (bits.is_multiple_of(8) && has_blake2b(bits / 8)).then_some(Self::Blake2b(bits / 8));
        }
        Self::TAGS.iter().find(|(name, _)| *name == tag).map(|(_, algorithm)| *algorithm)
    }

    /// Returns the name in lines with a tag.
    pub(super) fn tag(self) -> String {
        match self {
            Self::Blake2b(LONGEST_BLAKE2B) => "BLAKE2b".to_owned(),
            Self::Blake2b(length) => format!("BLAKE2b-{}", 8 * length),
            _ => {
                Self::TAGS.iter().find(|(_, one)| *one == self).map_or_else(String::new, |(name, _)| (*name).to_owned())
            }
        }
    }

    /// Returns the number of hexadecimal digits of a digest.
    pub(super) fn digits(self) -> usize {
        2 * match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
            Self::Blake2b(length) => length,
        }
    }

    /// Returns the algorithm of a digest of so many digits, if that can be another one: BLAKE2b has many lengths.
    pub(super) fn with_digits(self, digits: usize) -> Option<Self> {
        match self {
            Self::Blake2b(_) if digits.is_multiple_of(2) && has_blake2b(digits / 2) => Some(Self::Blake2b(digits / 2)),
            _ => (self.digits() == digits).then_some(self),
        }
    }

    /// Returns the digest as hexadecimal digits.
    pub(super) fn hex_digest(self, data: &[u8]) -> String {
        hexadecimal(&self.digest(data))
    }

    /// Returns the digest.
    pub(in crate::commands) fn digest(self, data: &[u8]) -> Vec<u8> {
        match self {
            Self::Md5 => Md5::digest(data).to_vec(),
            Self::Sha1 => Sha1::digest(data).to_vec(),
            Self::Sha224 => Sha224::digest(data).to_vec(),
            Self::Sha256 => Sha256::digest(data).to_vec(),
            Self::Sha384 => Sha384::digest(data).to_vec(),
            Self::Sha512 => Sha512::digest(data).to_vec(),
            Self::Blake2b(length) => blake2b(length, data),
        }
    }
}

/// Lengths of digests of BLAKE2b in bytes that can be computed: each is a type of its own.
const BLAKE2B_LENGTHS: [usize; 10] = [8, 16, 20, 24, 28, 32, 40, 48, 56, LONGEST_BLAKE2B];

/// Returns true if digests of so many bytes can be computed.
pub(super) fn has_blake2b(length: usize) -> bool {
    BLAKE2B_LENGTHS.contains(&length)
}

fn blake2b(length: usize, data: &[u8]) -> Vec<u8> {
    match length {
        8 => Blake2b::<U8>::digest(data).to_vec(),
        16 => Blake2b::<U16>::digest(data).to_vec(),
        20 => Blake2b::<U20>::digest(data).to_vec(),
        24 => Blake2b::<U24>::digest(data).to_vec(),
        28 => Blake2b::<U28>::digest(data).to_vec(),
        32 => Blake2b::<U32>::digest(data).to_vec(),
        40 => Blake2b::<U40>::digest(data).to_vec(),
        48 => Blake2b::<U48>::digest(data).to_vec(),
        56 => Blake2b::<U56>::digest(data).to_vec(),
        _ => Blake2b::<U64>::digest(data).to_vec(),
    }
}

/// Returns bytes as hexadecimal digits.
pub(in crate::commands) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Sum that is printed with a size, and not as a digest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::commands) enum PlainSum {
    /// CRC of POSIX.
    Crc,
    /// Rotating sum of BSD, with blocks of 1,024 bytes.
    Bsd,
    /// Sum of System V, with blocks of 512 bytes.
    SystemV,
}

impl PlainSum {
    /// Returns the sum and the size as they are printed.
    pub(in crate::commands) fn text(self, data: &[u8]) -> String {
        match self {
            Self::Crc => format!("{} {}", posix_crc(data), data.len()),
            Self::Bsd => format!("{:05} {:>5}", bsd_sum(data), data.len().div_ceil(1024)),
            Self::SystemV => format!("{} {}", system_v_sum(data), data.len().div_ceil(512)),
        }
    }
}

/// CRC of POSIX' `cksum`: polynomial 0x04C11DB7, highest bit first, with the length behind the data.
fn posix_crc(data: &[u8]) -> u32 {
    fn update(mut crc: u32, byte: u8) -> u32 {
        crc ^= u32::from(byte) << 24;
        for _ in 0..8 {
            crc = if crc & 0x8000_0000 != 0 { (crc << 1) ^ 0x04C1_1DB7 } else { crc << 1 };
        }
        crc
    }
    let mut crc = data.iter().fold(0u32, |crc, &byte| update(crc, byte));
    let mut length = data.len() as u64;
    while length > 0 {
        crc = update(crc, (length & 0xff) as u8);
        length >>= 8;
    }
    !crc
}

fn bsd_sum(data: &[u8]) -> u32 {
    data.iter().fold(0, |sum: u32, &byte| ((sum >> 1) + ((sum & 1) << 15) + u32::from(byte)) & 0xffff)
}

fn system_v_sum(data: &[u8]) -> u32 {
    let sum = data.iter().fold(0u32, |sum, &byte| sum.wrapping_add(u32::from(byte)));
    let folded = (sum & 0xffff) + (sum >> 16);
    (folded & 0xffff) + (folded >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_sums_are_those_of_gnus() {
        assert_eq!(PlainSum::Crc.text(b"hello\n"), "3015617425 6");
        assert_eq!(PlainSum::Crc.text(b""), "4294967295 0");
        assert_eq!(PlainSum::Bsd.text(b"hello\n"), "36979     1");
        assert_eq!(PlainSum::SystemV.text(b"hello\n"), "542 1");
        let many = vec![b'x'; 3000];
        assert_eq!(PlainSum::Bsd.text(&many), "05357     3");
        assert_eq!(PlainSum::SystemV.text(&many), "32325 6");
    }

    #[test]
    fn blake2b_of_another_length_is_another_digest() {
        let digest = DigestAlgorithm::Blake2b(16).hex_digest(b"hello\n");
        assert_eq!(digest, "ea41b4de6c03f13a95758b28dd75693e");
        assert_eq!(DigestAlgorithm::of_tag("BLAKE2b-128"), Some(DigestAlgorithm::Blake2b(16)));
        for tag in ["BLAKE2b-7", "BLAKE2b-520", "BLAKE2b-", "MD4"] {
            assert_eq!(DigestAlgorithm::of_tag(tag), None, "{tag}");
        }
    }
}
