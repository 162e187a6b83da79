//! What can go wrong, and in which words it is told.

use image::ImageError;
use tollhouse_tool_files as files;

/// Reason why an image cannot be processed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No format that is known here.
    #[error("it is no PNG, JPEG or WebP, by its first bytes")]
    Format,
    /// Damaged or truncated image.
    #[error("the image cannot be read: {0}")]
    Damaged(String),
    /// Image with too many pixels.
    #[error("{0}")]
    TooLarge(String),
    /// A parameter that cannot be.
    #[error("{0}")]
    Parameter(String),
    /// File that cannot be read or written.
    #[error(transparent)]
    File(#[from] files::Error),
}

impl From<ImageError> for Error {
    fn from(error: ImageError) -> Self {
        match error {
            ImageError::Limits(error) => Self::TooLarge(format!("the image is too large: {error}")),
            error => Self::Damaged(error.to_string()),
        }
    }
}
