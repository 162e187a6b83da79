//! Binding of the logic to WIT: converts arguments and results. This module holds no rules.

use bindings::exports::tollhouse::image::image as wit;
use image::DynamicImage;
use tollhouse_tool_files as files;

use crate::error::Error;
use crate::size::{Fit, resize, thumbnail};
use crate::source::{Format, Info, MAX_FILE, decode, info};
use crate::write::{Written, encode, format_of};

mod bindings {
    //! Generated from `wit/`.
    #![expect(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({ world: "tool", path: "wit" });
    export!(Tool with_types_in self);
    use super::Tool;
}

struct Tool;

impl wit::Guest for Tool {
    fn dimensions(path: Option<String>, bytes: Option<Vec<u8>>) -> Result<wit::Info, wit::Error> {
        let bytes = files::source(path.as_deref(), bytes, MAX_FILE).map_err(Error::from)?;
        let Info { format, width, height, alpha } = info(&bytes)?;
        Ok(wit::Info { format: format.into(), width, height, alpha, size: bytes.len() as u64 })
    }

    fn resize(
        path: Option<String>,
        bytes: Option<Vec<u8>>,
        width: Option<u32>,
        height: Option<u32>,
        fit: Option<wit::Fit>,
        output: Option<wit::Output>,
    ) -> Result<wit::Picture, wit::Error> {
        let fit = match fit {
            None | Some(wit::Fit::Contain) => Fit::Contain,
            Some(wit::Fit::Cover) => Fit::Cover,
            Some(wit::Fit::Stretch) => Fit::Stretch,
        };
        Ok(made(path, bytes, output, None, |image| resize(&image, width, height, fit))?)
    }

    fn thumbnail(
        path: Option<String>,
        bytes: Option<Vec<u8>>,
        edge: Option<u32>,
        output: Option<wit::Output>,
    ) -> Result<wit::Picture, wit::Error> {
        Ok(made(path, bytes, output, None, |image| thumbnail(&image, edge.unwrap_or(256)))?)
    }

    fn convert(
        path: Option<String>,
        bytes: Option<Vec<u8>>,
        format: wit::Format,
        output: Option<wit::Output>,
    ) -> Result<wit::Picture, wit::Error> {
        if output.as_ref().and_then(|output| output.format).is_some_and(|other| other != format) {
            return Err(Error::Parameter("`format` and `output.format` differ".to_owned()).into());
        }
        Ok(made(path, bytes, output, Some(format.into()), Ok)?)
    }
}

fn made(
    path: Option<String>,
    bytes: Option<Vec<u8>>,
    output: Option<wit::Output>,
    format: Option<Format>,
    change: impl FnOnce(DynamicImage) -> Result<DynamicImage, Error>,
) -> Result<wit::Picture, Error> {
    let output = output.unwrap_or(wit::Output { to: None, format: None, quality: None, overwrite: None });
    files::target(output.to.as_deref())?;
    let source = files::source(path.as_deref(), bytes, MAX_FILE)?;
    let (info, image) = decode(&source)?;
    let asked = format.or(output.format.map(Into::into)).or_else(|| format_of(output.to.as_deref()?));
    let format = asked.unwrap_or(info.format);
    let image = change(image)?;
    let Written(bytes) = encode(&image, format, output.quality.unwrap_or(85))?;
    let size = bytes.len() as u64;
    if let Some(to) = &output.to {
        files::write(to, &bytes, output.overwrite.unwrap_or(true))?;
    }
    let bytes = output.to.is_none().then_some(bytes);
    let (width, height) = (image.width(), image.height());
    Ok(wit::Picture { format: format.into(), width, height, bytes, path: output.to, size })
}

impl From<wit::Format> for Format {
    fn from(format: wit::Format) -> Self {
        match format {
            wit::Format::Png => Self::Png,
            wit::Format::Jpeg => Self::Jpeg,
            wit::Format::Webp => Self::WebP,
        }
    }
}

impl From<Format> for wit::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Png => Self::Png,
            Format::Jpeg => Self::Jpeg,
            Format::WebP => Self::Webp,
        }
    }
}

impl From<Error> for wit::Error {
    fn from(error: Error) -> Self {
        use wit::ErrorKind as Kind;
        let kind = match &error {
            Error::Format => Kind::Format,
            Error::Damaged(_) => Kind::Damaged,
            Error::TooLarge(_) => Kind::TooLarge,
            Error::Parameter(_) => Kind::Parameter,
            Error::File(error) => match error.kind {
                files::Kind::Denied => Kind::Denied,
                files::Kind::NotFound => Kind::NotFound,
                files::Kind::Exists => Kind::Exists,
                files::Kind::TooLarge => Kind::TooLarge,
                files::Kind::Parameter => Kind::Parameter,
                files::Kind::Other => Kind::File,
            },
        };
        Self { kind, message: error.to_string() }
    }
}
