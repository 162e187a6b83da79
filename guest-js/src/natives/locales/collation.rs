//! Collation data: the usual order as the crate has it, and the differences of some languages, which `build.rs`
//! generates.

use icu_collator::provider::{
    Baked, CollationData, CollationDiacriticsV1, CollationJamoV1, CollationMetadataV1, CollationReorderingV1,
    CollationRootV1, CollationSpecialPrimariesV1, CollationTailoringV1,
};
use icu_collections::codepointtrie::{CodePointTrie, CodePointTrieHeader, TrieType};
use icu_locale_core::Locale;
use icu_normalizer::provider::{Baked as Normalizer, NormalizerNfdDataV1, NormalizerNfdTablesV1};
use icu_provider::prelude::{
    DataError, DataErrorKind, DataMarker, DataPayload, DataProvider, DataRequest, DataResponse, DataResponseMetadata,
};
use zerovec::ZeroVec;

static TAILORINGS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tailorings.bin"));

/// Returns the locale whose order a language uses: its own, or the usual one. Languages whose data is missing here,
/// such as Chinese, use the usual order too; the caller is told so.
pub(super) fn locale(language: &str) -> Locale {
    let untailored = ["ja", "ko", "zh"].contains(&language);
    if untailored { Locale::UNKNOWN } else { language.parse().unwrap_or(Locale::UNKNOWN) }
}

/// Provider of the collation data.
pub(super) struct Provider;

macro_rules! pass_on {
    ($($marker:ident of $provider:ident),+) => {
        $(impl DataProvider<$marker> for Provider {
            fn load(&self, request: DataRequest<'_>) -> Result<DataResponse<$marker>, DataError> {
                $provider.load(request)
            }
        })+
    };
}

pass_on!(
    CollationRootV1 of Baked,
    CollationDiacriticsV1 of Baked,
    CollationJamoV1 of Baked,
    CollationMetadataV1 of Baked,
    CollationReorderingV1 of Baked,
    CollationSpecialPrimariesV1 of Baked,
    NormalizerNfdDataV1 of Normalizer,
    NormalizerNfdTablesV1 of Normalizer
);

impl DataProvider<CollationTailoringV1> for Provider {
    fn load(&self, request: DataRequest<'_>) -> Result<DataResponse<CollationTailoringV1>, DataError> {
        let language = request.id.locale.language;
        let found = tailoring(language.as_str());
        let data =
            found.ok_or_else(|| DataErrorKind::IdentifierNotFound.with_req(CollationTailoringV1::INFO, request))?;
        Ok(DataResponse { metadata: DataResponseMetadata::default(), payload: DataPayload::from_owned(data) })
    }
}

/// Returns the characters that a language orders differently.
fn tailoring(language: &str) -> Option<CollationData<'static>> {
    let mut rest = TAILORINGS;
    while !rest.is_empty() {
        let name = take(&mut rest, 8)?;
        let data = read(&mut rest)?;
        if name.trim_ascii_end() == language.as_bytes() {
            return Some(data);
        }
    }
    None
}

/// Reads the next entry, in the format that `build.rs` describes.
fn read(rest: &mut &'static [u8]) -> Option<CollationData<'static>> {
    let mut header = [0; 6];
    for field in &mut header {
        *field = count(rest)?;
    }
    let [high_start, shifted, index_null, data_null_offset, null_value, is_small] = header;
    let header = CodePointTrieHeader {
        high_start,
        shifted12_high_start: u16::try_from(shifted).ok()?,
        index3_null_offset: u16::try_from(index_null).ok()?,
        data_null_offset,
        null_value,
        trie_type: if is_small == 1 { TrieType::Small } else { TrieType::Fast },
    };
    let index = ZeroVec::parse_bytes(list(rest, 2)?).ok()?;
    let data = ZeroVec::parse_bytes(list(rest, 4)?).ok()?;
    Some(CollationData {
        trie: CodePointTrie::try_new(header, index, data).ok()?,
        ces: ZeroVec::parse_bytes(list(rest, 8)?).ok()?,
        ce32s: ZeroVec::parse_bytes(list(rest, 4)?).ok()?,
        contexts: ZeroVec::parse_bytes(list(rest, 2)?).ok()?,
    })
}

/// Reads a list of values of `width` bytes each.
fn list(rest: &mut &'static [u8], width: usize) -> Option<&'static [u8]> {
    let length = usize::try_from(count(rest)?).ok()?;
    take(rest, length * width)
}

fn count(rest: &mut &'static [u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?))
}

fn take(rest: &mut &'static [u8], length: usize) -> Option<&'static [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}
