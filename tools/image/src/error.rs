//! Errors of the tool, and their messages.

use image::ImageError;
use tollhouse_tool_files as files;

/// Reason why an image cannot be processed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The format is unknown.
    #[error("it is no PNG, JPEG or WebP, by its first bytes")]
    Format,
    /// The image is damaged or truncated.
    #[error("the image cannot be read: {0}")]
    Damaged(String),
    /// The image has too many pixels.
    #[error("{0}")]
    TooLarge(String),
    /// A parameter is invalid.
    #[error("{0}")]
    Parameter(String),
    /// The file cannot be read or written.
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
