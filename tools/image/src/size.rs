//! Changes the size of an image.

use image::DynamicImage;
use image::imageops::FilterType;

use crate::error::Error;

/// Longest side of a result, in pixels.
const MAX_EDGE: u32 = 8192;
/// Largest intermediate buffer of resizing, in bytes: four floats for each pixel of the source's width and the result's
/// height.
const MAX_WORK: u64 = 128 << 20;

/// Way to fit an image into a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fit {
    /// Scale to fit within the size.
    #[default]
    Contain,
    /// Scale to cover the size, and crop the rest.
    Cover,
    /// Stretch to exactly the size.
    Stretch,
}

/// Resizes an image.
///
/// # Errors
///
/// `Parameter`, `TooLarge`.
pub fn resize(image: &DynamicImage, width: Option<u32>, height: Option<u32>, fit: Fit) -> Result<DynamicImage, Error> {
    for side in [width, height].into_iter().flatten() {
        if !(1..=MAX_EDGE).contains(&side) {
            return Err(Error::Parameter(format!("{side} pixels: `width` and `height` are 1 to {MAX_EDGE}")));
        }
    }
    let (old_width, old_height) = (image.width().max(1), image.height().max(1));
    let (width, height) = match (width, height) {
        (Some(width), Some(height)) => (width, height),
        (Some(width), None) => (width, scaled(old_height, width, old_width)?),
        (None, Some(height)) => (scaled(old_width, height, old_height)?, height),
        (None, None) => return Err(Error::Parameter("pass `width` or `height`, or both".to_owned())),
    };
    // With `Cover`, the image is first scaled to a size that may be larger than the requested one.
    let tall = match fit {
        Fit::Cover => u64::from(height).max(u64::from(old_height) * u64::from(width) / u64::from(old_width)),
        Fit::Contain | Fit::Stretch => u64::from(height),
    };
    let wide = u64::from(width).max(u64::from(old_width));
    if wide.saturating_mul(tall).saturating_mul(16) > MAX_WORK {
        let what = format!("from {old_width} by {old_height} to {width} by {height} pixels");
        return Err(Error::TooLarge(format!("{what} takes more than {MAX_WORK} bytes of memory: ask for less")));
    }
    Ok(match fit {
        Fit::Contain => image.resize(width, height, FilterType::Lanczos3),
        Fit::Cover => image.resize_to_fill(width, height, FilterType::Lanczos3),
        Fit::Stretch => image.resize_exact(width, height, FilterType::Lanczos3),
    })
}

/// Scales one side in proportion to the other one.
fn scaled(side: u32, new: u32, old: u32) -> Result<u32, Error> {
    let scaled = u64::from(side) * u64::from(new) / u64::from(old);
    match u32::try_from(scaled.max(1)) {
        Ok(scaled) if scaled <= MAX_EDGE => Ok(scaled),
        _ => Err(Error::TooLarge(format!("the other side would have {scaled} pixels: at most {MAX_EDGE} are made"))),
    }
}

/// Makes a small image, never larger than the original.
///
/// # Errors
///
/// `Parameter`.
pub fn thumbnail(image: &DynamicImage, edge: u32) -> Result<DynamicImage, Error> {
    if !(1..=1024).contains(&edge) {
        return Err(Error::Parameter(format!("{edge} pixels: `edge` is 1 to 1024")));
    }
    if image.width() <= edge && image.height() <= edge {
        return Ok(image.clone());
    }
    Ok(image.thumbnail(edge, edge))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(image: &DynamicImage) -> (u32, u32) {
        (image.width(), image.height())
    }

    #[test]
    fn image_is_resized_by_fit() {
        let image = DynamicImage::new_rgb8(300, 200);
        for (width, height, fit, expected) in [
            (Some(150), None, Fit::Contain, (150, 100)),
            (None, Some(50), Fit::Contain, (75, 50)),
            (Some(100), Some(100), Fit::Contain, (100, 67)),
            (Some(100), Some(100), Fit::Cover, (100, 100)),
            (Some(100), Some(10), Fit::Stretch, (100, 10)),
        ] {
            assert_eq!(resize(&image, width, height, fit).map(|image| size(&image)), Ok(expected));
        }
        assert_eq!(thumbnail(&image, 30).map(|image| size(&image)), Ok((30, 20)));
        assert_eq!(thumbnail(&image, 1000).map(|image| size(&image)), Ok((300, 200)));
    }

    #[test]
    fn image_size_out_of_bounds_is_refused() {
        let image = DynamicImage::new_luma8(8000, 2);
        for (width, height, fit) in
            [(Some(0), None, Fit::Contain), (Some(8193), None, Fit::Contain), (None, None, Fit::Cover)]
        {
            assert!(matches!(resize(&image, width, height, fit), Err(Error::Parameter(_))));
        }
        for (width, height, fit) in [
            (None, Some(8192), Fit::Contain),
            (Some(8000), Some(8000), Fit::Stretch),
            (Some(10), Some(8000), Fit::Cover),
        ] {
            assert!(matches!(resize(&image, width, height, fit), Err(Error::TooLarge(_))));
        }
        assert!(matches!(thumbnail(&image, 0), Err(Error::Parameter(_))));
    }
}
