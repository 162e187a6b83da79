//! Positions that are selected, as in `1,3-5,7-`.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

/// Unit of positions in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PositionUnit {
    Bytes,
    Fields,
}

impl PositionUnit {
    /// Returns the message about the position 0.
    fn numbered_from_one(self) -> String {
        match self {
            Self::Fields => "fields are numbered from 1".to_owned(),
            Self::Bytes => "byte/character positions are numbered from 1".to_owned(),
        }
    }

    fn position(self, text: &str) -> Result<usize, String> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            let position = match self {
                Self::Fields => "field value",
                Self::Bytes => "byte/character position",
            };
            return Err(format!("invalid {position} '{text}'"));
        }
        match text.parse::<u64>() {
            Ok(0) => Err(self.numbered_from_one()),
            Ok(u64::MAX) | Err(_) => {
                let position = match self {
                    Self::Fields => "field number",
                    Self::Bytes => "byte/character offset",
                };
                Err(format!("{position} '{text}' is too large"))
            }
            // A position beyond the machine's words is after all others, but not an open end.
            Ok(position) => {
                Ok(usize::try_from(position).map_or(usize::MAX - 1, |position| position.min(usize::MAX - 1)))
            }
        }
    }

    /// Parses one range of a list. A range without an end goes up to the largest position.
    fn range(self, text: &str) -> Result<(usize, usize), String> {
        match text.split_once('-') {
            None if text.is_empty() => Err(self.numbered_from_one()),
            None => self.position(text).map(|position| (position, position)),
            Some(("", "")) => Err("invalid range with no endpoint: -".to_owned()),
            Some(("", end)) => Ok((1, self.position(end)?)),
            Some((start, "")) => Ok((self.position(start)?, usize::MAX)),
            Some((_, end)) if end.contains('-') => Err(match self {
                Self::Fields => "invalid field range".to_owned(),
                Self::Bytes => "invalid byte/character range".to_owned(),
            }),
            Some((start, end)) => Ok((self.position(start)?, self.position(end)?)),
        }
    }
}

/// Ranges of positions from 1, with both their ends, in order and apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RangeList(pub(super) Vec<(usize, usize)>);

impl RangeList {
    /// Parses a list of ranges. The error is a message for the user.
    pub(super) fn parse(list: &str, unit: PositionUnit) -> Result<Self, String> {
        let mut ranges = Vec::new();
        for part in list.split([',', ' ', '\t']) {
            let (start, end) = unit.range(part)?;
            if end < start {
                return Err("invalid decreasing range".to_owned());
            }
            ranges.push((start, end));
        }
        ranges.sort_unstable();
        let mut merged: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            match merged.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => merged.push((start, end)),
            }
        }
        Ok(Self(merged))
    }

    /// Returns the positions that are in none of the ranges.
    pub(super) fn complement(&self) -> Self {
        let mut gaps = Vec::new();
        let mut next = 1;
        for (start, end) in &self.0 {
            if *start > next {
                gaps.push((next, start - 1));
            }
            next = end.saturating_add(1);
        }
        if next != usize::MAX {
            gaps.push((next, usize::MAX));
        }
        Self(gaps)
    }
}
