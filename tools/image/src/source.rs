//! Reads images. The stated size is checked before anything is unpacked.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use crate::error::Error;

/// Largest file, in bytes: a file is held in memory.
pub const MAX_FILE: u64 = 32 << 20;
/// Longest side, in pixels.
pub const MAX_EDGE: u32 = 16_384;
/// Largest size of the unpacked pixels, in bytes. Together with the buffers for resizing they must fit the memory of a
/// call.
pub const MAX_PIXELS: u64 = 64 << 20;

/// Format of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Portable Network Graphics.
    Png,
    /// JPEG, with lossy compression.
    Jpeg,
    /// WebP, lossy or lossless.
    WebP,
}

impl Format {
    fn of(bytes: &[u8]) -> Result<Self, Error> {
        match image::guess_format(bytes) {
            Ok(ImageFormat::Png) => Ok(Self::Png),
            Ok(ImageFormat::Jpeg) => Ok(Self::Jpeg),
            Ok(ImageFormat::WebP) => Ok(Self::WebP),
            _ => Err(Error::Format),
        }
    }
}

/// Description of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Info {
    /// Format of the image.
    pub format: Format,
    /// Width of the upright image, in pixels.
    pub width: u32,
    /// Height of the upright image, in pixels.
    pub height: u32,
    /// True if pixels of the format can be transparent.
    pub alpha: bool,
}

/// Reads the description of an image, and returns it with a decoder for the pixels.
fn open(bytes: &[u8]) -> Result<(Info, Orientation, impl ImageDecoder + '_), Error> {
    let format = Format::of(bytes)?;
    let mut reader = ImageReader::new(Cursor::new(bytes));
    reader.set_format(match format {
        Format::Png => ImageFormat::Png,
        Format::Jpeg => ImageFormat::Jpeg,
        Format::WebP => ImageFormat::WebP,
    });
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_PIXELS * 2);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let (width, height) = decoder.dimensions();
    if width > MAX_EDGE || height > MAX_EDGE || decoder.total_bytes() > MAX_PIXELS {
        let what =
            format!("the image says that it has {width} by {height} pixels, {} bytes unpacked", decoder.total_bytes());
        return Err(Error::TooLarge(format!("{what}: at most {MAX_EDGE} on a side and {MAX_PIXELS} bytes are taken")));
    }
    let alpha = decoder.color_type().has_alpha();
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let lies = matches!(
        orientation,
        Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH
    );
    let (width, height) = if lies { (height, width) } else { (width, height) };
    Ok((Info { format, width, height, alpha }, orientation, decoder))
}

/// Reads the description of an image, without unpacking it.
///
/// # Errors
///
/// `Format`, `Damaged`, `TooLarge`.
pub fn info(bytes: &[u8]) -> Result<Info, Error> {
    open(bytes).map(|(info, _, _)| info)
}

/// Decodes an image, and turns it upright.
///
/// # Errors
/// `Format`, `Damaged`, `TooLarge`.
pub fn decode(bytes: &[u8]) -> Result<(Info, DynamicImage), Error> {
    let (info, orientation, decoder) = open(bytes)?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    Ok((info, image))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::{Written, encode};

    /// Returns a PNG of one pixel, whose header states this size.
    fn claiming(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = encode(&DynamicImage::new_rgb8(1, 1), Format::Png, 85).expect("a PNG").0;
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = crc(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&sum.to_be_bytes());
        bytes
    }

    /// Computes the checksum of PNG, bit by bit.
    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |sum, byte| {
            (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
        })
    }

    #[test]
    fn image_info_is_read_in_each_format() {
        let image = DynamicImage::new_rgba8(30, 20);
        for format in [Format::Png, Format::Jpeg, Format::WebP] {
            let Written(bytes) = encode(&image, format, 85).expect("written");
            let alpha = format != Format::Jpeg;
            assert_eq!(info(&bytes), Ok(Info { format, width: 30, height: 20, alpha }));
            assert_eq!(decode(&bytes).map(|(_, image)| image.width()), Ok(30));
        }
    }

    #[test]
    fn pixel_bombs_are_refused_before_they_are_unpacked() {
        assert!(info(&claiming(1, 1)).is_ok(), "the checksum is right");
        for (width, height) in
            [(50_000, 50_000), (16_385, 1), (1, 16_385), (16_000, 16_000), (u32::MAX >> 1, u32::MAX >> 1)]
        {
            for told in [info(&claiming(width, height)), decode(&claiming(width, height)).map(|(info, _)| info)] {
                assert!(matches!(told, Err(Error::TooLarge(_) | Error::Damaged(_))), "{width} {height}: {told:?}");
            }
        }
        let Err(Error::TooLarge(told)) = info(&claiming(50_000, 50_000)) else { panic!("a bomb") };
        assert!(told.contains("50000 by 50000"), "{told}");
    }

    #[test]
    fn bytes_that_are_no_image_are_refused() {
        assert_eq!(info(b"GIF89a........"), Err(Error::Format));
        assert_eq!(info(b""), Err(Error::Format));
        for format in [Format::Png, Format::Jpeg, Format::WebP] {
            let Written(bytes) = encode(&DynamicImage::new_rgb8(64, 64), format, 85).expect("written");
            for cut in [8, 12, 20, bytes.len() / 2] {
                // Any result is fine, but not a panic. Most images are reported as damaged, since so much is missing.
                let _ = decode(&bytes[..cut.min(bytes.len())]);
            }
            assert!(decode(&bytes[..20]).is_err(), "{format:?}");
        }
    }
}
