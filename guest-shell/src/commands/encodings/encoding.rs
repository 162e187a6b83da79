//! Encodings of bytes as text: RFC 4648, bits, and Z85 of ZeroMQ.

const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const BASE32: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BASE32_HEX: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
const BASE16: &[u8] = b"0123456789ABCDEF";
const BASE2: &[u8] = b"01";
const Z85: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

/// Encoding of bytes as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextEncoding {
    Base64,
    Base64Url,
    Base32,
    Base32Hex,
    Base16,
    /// Bits of each byte, the most significant first.
    Base2MostSignificantFirst,
    Base2LeastSignificantFirst,
    Z85,
}

impl TextEncoding {
    /// Options of `basenc`, with a letter for each.
    pub(super) const OPTIONS: [(&str, char, Self); 8] = [
        ("base64", 'A', Self::Base64),
        ("base64url", 'B', Self::Base64Url),
        ("base32", 'C', Self::Base32),
        ("base32hex", 'D', Self::Base32Hex),
        ("base16", 'E', Self::Base16),
        ("base2msbf", 'F', Self::Base2MostSignificantFirst),
        ("base2lsbf", 'G', Self::Base2LeastSignificantFirst),
        ("z85", 'H', Self::Z85),
    ];

    /// Returns the encoding of an option.
    pub(super) fn of_option(letter: char) -> Option<Self> {
        Self::OPTIONS.iter().find(|(_, name, _)| *name == letter).map(|(_, _, encoding)| *encoding)
    }

    fn alphabet(self) -> &'static [u8] {
        match self {
            Self::Base64 => BASE64,
            Self::Base64Url => BASE64_URL,
            Self::Base32 => BASE32,
            Self::Base32Hex => BASE32_HEX,
            Self::Base16 => BASE16,
            Self::Base2MostSignificantFirst | Self::Base2LeastSignificantFirst => BASE2,
            Self::Z85 => Z85,
        }
    }

    /// Returns the number of bytes that are encoded together.
    pub(super) fn group_bytes(self) -> usize {
        match self {
            Self::Base64 | Self::Base64Url => 3,
            Self::Base32 | Self::Base32Hex => 5,
            Self::Z85 => 4,
            _ => 1,
        }
    }

    /// Returns the number of characters of a group.
    fn group_characters(self) -> usize {
        match self {
            Self::Base64 | Self::Base64Url => 4,
            Self::Base2MostSignificantFirst | Self::Base2LeastSignificantFirst => 8,
            Self::Base32 | Self::Base32Hex => 8,
            Self::Base16 => 2,
            Self::Z85 => 5,
        }
    }

    /// Returns the number of bits of a character.
    fn character_bits(self) -> usize {
        self.group_bytes() * 8 / self.group_characters()
    }

    fn is_padded(self) -> bool {
        matches!(self, Self::Base64 | Self::Base64Url | Self::Base32 | Self::Base32Hex)
    }

    /// Returns true if a character may stand in the text.
    pub(super) fn has_symbol(self, character: u8) -> bool {
        self.alphabet().contains(&character) || (self.is_padded() && character == b'=')
    }

    /// Returns the text of bytes. Those of [`TextEncoding::Z85`] are a multiple of four.
    pub(super) fn encode(self, bytes: &[u8]) -> String {
        if self == Self::Base64 {
            use base64::Engine as _;
            return base64::engine::general_purpose::STANDARD.encode(bytes);
        }
        let mut text = String::with_capacity(bytes.len().div_ceil(self.group_bytes()) * self.group_characters());
        for group in bytes.chunks(self.group_bytes()) {
            self.encode_group(group, &mut text);
        }
        text
    }

    fn encode_group(self, group: &[u8], text: &mut String) {
        let symbol = |index: u64| char::from(self.alphabet()[usize::try_from(index).expect("an index of an alphabet")]);
        let missing = self.group_bytes() - group.len();
        let value = group.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)) << (8 * missing);
        let count = self.group_characters();
        if self == Self::Z85 {
            text.extend((0..count).rev().map(|place| symbol(value / 85_u64.pow(place as u32) % 85)));
            return;
        }
        let bits = self.character_bits();
        let used = (group.len() * 8).div_ceil(bits);
        for place in 0..count {
            let shift = match self {
                Self::Base2LeastSignificantFirst => place,
                _ => (count - 1 - place) * bits,
            };
            text.push(if place < used { symbol(value >> shift & ((1 << bits) - 1)) } else { '=' });
        }
    }

    /// Returns the bytes of a text up to the first mistake, and whether there is none.
    pub(super) fn decode(self, text: &[u8]) -> (Vec<u8>, bool) {
        let mut values = [None; 256];
        for (value, character) in (0_u8..).zip(self.alphabet()) {
            values[usize::from(*character)] = Some(value);
        }
        let mut bytes = Vec::with_capacity(text.len() / self.group_characters() * self.group_bytes());
        for group in text.chunks(self.group_characters()) {
            let known: Vec<u64> = group.iter().map_while(|byte| values[usize::from(*byte)].map(u64::from)).collect();
            if !self.decode_group(group, &known, &mut bytes) {
                return (bytes, false);
            }
        }
        (bytes, true)
    }

    /// Adds the bytes of a group whose first characters have these values. Returns false if the group is not valid.
    fn decode_group(self, group: &[u8], values: &[u64], bytes: &mut Vec<u8>) -> bool {
        let count = self.group_characters();
        let is_whole = group.len() == count;
        if self == Self::Z85 {
            let value = values.iter().fold(0_u64, |value, digit| value * 85 + digit);
            let number = u32::try_from(value).ok().filter(|_| is_whole && values.len() == count);
            bytes.extend(number.into_iter().flat_map(u32::to_be_bytes));
            return number.is_some();
        }
        let bits = self.character_bits();
        let joined = values.iter().fold(0_u64, |value, digit| value << bits | digit) << (bits * (count - values.len()));
        let joined = match self {
            Self::Base2LeastSignificantFirst => u64::from((joined as u8).reverse_bits()),
            _ => joined,
        };
        // The incomplete last group of base64 has bytes nevertheless, that of base32 has none.
        let has_bytes = is_whole || bits == 6;
        let complete = if has_bytes { values.len() * bits / 8 } else { 0 };
        bytes.extend((0..complete).map(|place| (joined >> (8 * (self.group_bytes() - 1 - place))) as u8));
        let padding = &group[values.len()..];
        let is_padding = padding.iter().all(|byte| *byte == b'=') && self.is_padded();
        // Characters that begin no further byte are missing altogether.
        let is_clean = values.len() == (complete * 8).div_ceil(bits) && complete > 0;
        is_whole && (padding.is_empty() || (is_padding && is_clean))
    }
}
