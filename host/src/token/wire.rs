//! The bytes of a biscuit: a protocol buffer of signed blocks, each of which is one itself.
//!
//! Form only: no signature is verified here. What has one meaning has one spelling, so bytes that are not what an
//! encoder would write (unknown fields, another order, longer numbers) are refused.

use biscuit_auth::datalog::SymbolTable;
use biscuit_auth::format::schema::{self, proof::Content as Proof, public_key::Algorithm};
use prost::Message;

use super::block::Contents;
use super::{MAX_BLOCKS, TokenError};

/// The bytes of an Ed25519 signature.
const SIGNATURE: usize = 64;

/// What the bytes say.
pub(super) struct Read {
    pub(super) blocks: Vec<Contents>,
    /// Revocation identifiers.
    pub(super) ids: Vec<String>,
    pub(super) closed: bool,
}

/// Reads a biscuit. The caller has bounded its size.
pub(super) fn read(bytes: &[u8]) -> Result<Read, TokenError> {
    let biscuit: schema::Biscuit = decode(bytes).ok_or(TokenError::Form("it is no canonical protocol buffer"))?;
    let count = biscuit.blocks.len().saturating_add(1);
    if count > MAX_BLOCKS {
        return Err(TokenError::TooManyBlocks { blocks: count });
    }
    // A hint that nobody signed: the opener knows its root key.
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
    Ok(Read { blocks, ids, closed })
}

/// Reads a signed block, and adds its symbols to those of the blocks above it.
fn block(signed: &schema::SignedBlock, symbols: &mut SymbolTable) -> Result<Contents, &'static str> {
    if signed.external_signature.is_some() {
        return Err("the signature of a third party");
    }
    // Of a P-256 signature anyone can make a second one, which would have another revocation identifier.
    if signed.next_key.algorithm != Algorithm::Ed25519 as i32 || signed.signature.len() != SIGNATURE {
        return Err("a key or a signature that is not Ed25519");
    }
    let block: schema::Block = decode(&signed.block).ok_or("no canonical protocol buffer")?;
    let own = SymbolTable::from(block.symbols.clone());
    own.and_then(|own| symbols.extend(&own)).map_err(|_| "a symbol that there is already")?;
    Contents::read(&block, symbols)
}

/// A message, if these are the bytes that an encoder writes for it.
fn decode<M: Message + Default>(bytes: &[u8]) -> Option<M> {
    let message = M::decode(bytes).ok()?;
    (message.encode_to_vec() == bytes).then_some(message)
}
