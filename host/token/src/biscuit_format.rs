//! The binary format of a biscuit: a protocol buffer of signed blocks, each of which is a protocol buffer itself.
//!
//! Checks only the form; no signature is verified here. Each meaning has only one encoding: bytes that an encoder would
//! not write (unknown fields, another order, longer numbers) are rejected.

use biscuit_auth::datalog::SymbolTable;
use biscuit_auth::format::schema::{self, proof::Content as Proof, public_key::Algorithm};
use prost::Message;

use super::block::BlockContents;
use super::{MAX_BLOCKS, TokenError};

/// Size of an Ed25519 signature in bytes.
const SIGNATURE: usize = 64;

/// A decoded biscuit.
pub(super) struct DecodedBiscuit {
    pub(super) blocks: Vec<BlockContents>,
    /// Revocation identifiers of the blocks.
    pub(super) ids: Vec<String>,
    pub(super) closed: bool,
}

/// Decodes a biscuit. The caller has limited its size.
pub(super) fn read(bytes: &[u8]) -> Result<DecodedBiscuit, TokenError> {
    let biscuit: schema::Biscuit = decode(bytes).ok_or(TokenError::Form("it is not a canonical protocol buffer"))?;
    let count = biscuit.blocks.len().saturating_add(1);
    if count > MAX_BLOCKS {
        return Err(TokenError::TooManyBlocks { blocks: count });
    }
    // An unsigned hint, which is not needed: the opener knows its root key.
    if biscuit.root_key_id.is_some() {
        return Err(TokenError::Foreign { block: 0, what: "a key identifier" });
    }
    let mut symbols = SymbolTable::new();
    let mut blocks = Vec::with_capacity(count);
    let mut ids = Vec::with_capacity(count);
    for (at, signed) in std::iter::once(&biscuit.authority).chain(&biscuit.blocks).enumerate() {
        blocks.push(block(signed, &mut symbols).map_err(|what| TokenError::Foreign { block: at, what })?);
        ids.push(signed.signature.iter().map(|byte| format!("{byte:02x}")).collect());
    }
    let closed = match biscuit.proof.content {
        Some(Proof::FinalSignature(_)) => true,
        Some(Proof::NextSecret(_)) => false,
        None => return Err(TokenError::Form("it has no proof")),
    };
    Ok(DecodedBiscuit { blocks, ids, closed })
}

/// Decodes a signed block, and adds its symbols to those of the blocks above it.
fn block(signed: &schema::SignedBlock, symbols: &mut SymbolTable) -> Result<BlockContents, &'static str> {
    if signed.external_signature.is_some() {
        return Err("the signature of a third party");
    }
    // Anyone can derive a second P-256 signature from a valid one, with another revocation identifier.
    if signed.next_key.algorithm != Algorithm::Ed25519 as i32 || signed.signature.len() != SIGNATURE {
        return Err("a key or a signature that is not Ed25519");
    }
    let block: schema::Block = decode(&signed.block).ok_or("bytes that are not a canonical protocol buffer")?;
    let own = SymbolTable::from(block.symbols.clone());
    own.and_then(|own| symbols.extend(&own)).map_err(|_| "a duplicate symbol")?;
    BlockContents::read(&block, symbols)
}

/// Decodes a message, if these are the bytes that an encoder writes for it.
fn decode<M: Message + Default>(bytes: &[u8]) -> Option<M> {
    let message = M::decode(bytes).ok()?;
    (message.encode_to_vec() == bytes).then_some(message)
}
