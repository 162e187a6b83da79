//! Writes images.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, Rgb, RgbImage};

use crate::error::Error;
use crate::source::Format;

/// Bytes of an encoded image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written(pub Vec<u8>);

/// Encodes an image in a format.
///
/// # Errors
/// `Parameter`, `Damaged`.
pub fn encode(image: &DynamicImage, format: Format, quality: u8) -> Result<Written, Error> {
    if !(1..=100).contains(&quality) {
        return Err(Error::Parameter("`quality` is 1 to 100".to_owned()));
    }
    let mut bytes = Cursor::new(Vec::new());
    match format {
        Format::Png => image.write_with_encoder(PngEncoder::new(&mut bytes))?,
        Format::Jpeg => opaque(image).write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, quality))?,
        Format::WebP => eight_bits(image).write_with_encoder(WebPEncoder::new_lossless(&mut bytes))?,
    }
    Ok(Written(bytes.into_inner()))
}

/// Returns the format for the extension of a file name, if it is known.
#[must_use]
pub fn format_of(path: &str) -> Option<Format> {
    match path.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
        "png" => Some(Format::Png),
        "jpg" | "jpeg" => Some(Format::Jpeg),
        "webp" => Some(Format::WebP),
        _ => None,
    }
}

/// Converts an image to eight bits for each colour, the only depth of WebP.
fn eight_bits(image: &DynamicImage) -> DynamicImage {
    if image.color().has_alpha() { image.to_rgba8().into() } else { image.to_rgb8().into() }
}

/// Returns the image without transparency: transparent pixels become white.
fn opaque(image: &DynamicImage) -> DynamicImage {
    if !image.color().has_alpha() {
        return image.to_rgb8().into();
    }
    let source = image.to_rgba8();
    let mut flat = RgbImage::new(source.width(), source.height());
    for (from, to) in source.pixels().zip(flat.pixels_mut()) {
        let alpha = u32::from(from[3]);
        let over_white = |colour: u8| {
            let mixed = (u32::from(colour) * alpha + 255 * (255 - alpha) + 127) / 255;
            u8::try_from(mixed).unwrap_or(u8::MAX)
        };
        *to = Rgb([over_white(from[0]), over_white(from[1]), over_white(from[2])]);
    }
    flat.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::decode;

    #[test]
    fn image_transparent_becomes_white_in_jpeg() {
        let clear = DynamicImage::new_rgba8(8, 8);
        let Written(bytes) = encode(&clear, Format::Jpeg, 90).expect("a JPEG");
        let (_, image) = decode(&bytes).expect("an image");
        assert!(image.to_rgb8().pixels().all(|pixel| pixel.0.iter().all(|value| *value > 250)));
    }

    #[test]
    fn pixels_survive_where_nothing_is_lost() {
        let mut image = RgbImage::new(3, 2);
        image.put_pixel(1, 1, Rgb([200, 100, 50]));
        let image = DynamicImage::from(image);
        for format in [Format::Png, Format::WebP] {
            let Written(bytes) = encode(&image, format, 85).expect("written");
            assert_eq!(decode(&bytes).expect("read").1.to_rgb8(), image.to_rgb8());
        }
        assert!(encode(&DynamicImage::new_rgb16(2, 2), Format::WebP, 85).is_ok());
        assert!(encode(&DynamicImage::new_luma_a16(2, 2), Format::Jpeg, 85).is_ok());
        assert!(matches!(encode(&image, Format::Jpeg, 0), Err(Error::Parameter(_))));
    }

    #[test]
    fn image_format_is_taken_from_the_file_name() {
        assert_eq!(format_of("/a/b.JPG"), Some(Format::Jpeg));
        assert_eq!(format_of("/a/b.webp"), Some(Format::WebP));
        assert_eq!((format_of("/a.png/b"), format_of("/a/b.gif")), (None, None));
    }
}
