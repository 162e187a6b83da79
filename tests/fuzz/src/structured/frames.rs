//! Frames on the socket of a shared store that are valid, or almost.

use arbitrary::{Arbitrary as _, Result, Unstructured};

/// Generates the first byte, which says who sends, and some frames.
pub(super) fn frames(choices: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let asks = bool::arbitrary(choices)?;
    let mut data = vec![u8::from(!asks)];
    for _ in 0..choices.int_in_range(1..=3)? {
        let mut frame = u64::arbitrary(choices)?.to_be_bytes().to_vec();
        let kind = choices.int_in_range(0..=5)?;
        frame.push(kind);
        if asks {
            request(&mut frame, kind, choices)?
        } else {
            answer(&mut frame, kind, choices)?
        }
        if choices.ratio(1, 10)? {
            let at = choices.choose_index(frame.len())?;
            frame[at] = u8::arbitrary(choices)?;
        }
        let length = frame.len() - usize::from(choices.ratio(1, 16)?);
        data.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
        data.extend(frame);
    }
    Ok(data)
}

fn request(frame: &mut Vec<u8>, kind: u8, choices: &mut Unstructured<'_>) -> Result<()> {
    match kind {
        0 => bytes(frame, choices)?,
        1 => {
            bytes(frame, choices)?;
            option(frame, choices, bytes)?;
            number(frame, choices)?;
        }
        2 => {
            frame.extend(u64::from(u32::arbitrary(choices)?).to_be_bytes());
            number(frame, choices)?;
            option(frame, choices, |frame, choices| {
                bytes(frame, choices)?;
                number(frame, choices)
            })?;
            list(frame, choices, record)?;
            list(frame, choices, record)?;
        }
        _ => {}
    }
    Ok(())
}

fn answer(frame: &mut Vec<u8>, kind: u8, choices: &mut Unstructured<'_>) -> Result<()> {
    match kind {
        0 => option(frame, choices, bytes)?,
        1 => {
            list(frame, choices, |frame, choices| {
                bytes(frame, choices)?;
                bytes(frame, choices)
            })?;
            frame.push(bool::arbitrary(choices)?.into());
        }
        3 => {
            number(frame, choices)?;
            number(frame, choices)?;
        }
        4 => failure(frame, choices)?,
        _ => {}
    }
    Ok(())
}

fn failure(frame: &mut Vec<u8>, choices: &mut Unstructured<'_>) -> Result<()> {
    let kind = choices.int_in_range(0..=8)?;
    frame.push(kind);
    match kind {
        0 => {
            number(frame, choices)?;
            option(frame, choices, number)
        }
        2 => {
            number(frame, choices)?;
            number(frame, choices)
        }
        3 => number(frame, choices),
        4 => Ok(()),
        _ => bytes(frame, choices),
    }
}

fn number(frame: &mut Vec<u8>, choices: &mut Unstructured<'_>) -> Result<()> {
    frame.extend(u64::arbitrary(choices)?.to_be_bytes());
    Ok(())
}

fn bytes(frame: &mut Vec<u8>, choices: &mut Unstructured<'_>) -> Result<()> {
    let length = choices.int_in_range(0..=5_u8)?;
    frame.extend(u32::from(length).to_be_bytes());
    frame.extend(choices.bytes(length.into())?);
    Ok(())
}

fn option(frame: &mut Vec<u8>, choices: &mut Unstructured<'_>, some: Part) -> Result<()> {
    let is_some = bool::arbitrary(choices)?;
    frame.push(is_some.into());
    if is_some { some(frame, choices) } else { Ok(()) }
}

fn record(frame: &mut Vec<u8>, choices: &mut Unstructured<'_>) -> Result<()> {
    bytes(frame, choices)?;
    option(frame, choices, bytes)
}

/// Writes a list of items, sometimes with a length that is one too large.
fn list(frame: &mut Vec<u8>, choices: &mut Unstructured<'_>, one: Part) -> Result<()> {
    let count = choices.int_in_range(0..=3_u8)?;
    let said = u32::from(count) + u32::from(choices.ratio(1, 16)?);
    frame.extend(said.to_be_bytes());
    (0..count).try_for_each(|_| one(frame, choices))
}

/// Function that writes a part of a frame.
type Part = fn(&mut Vec<u8>, &mut Unstructured<'_>) -> Result<()>;
