//! Units of sizes.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use crate::commands::du::size::{human_size, parse_block_size};

/// Unit in which sizes are written.
#[derive(Clone)]
pub(super) enum Unit {
    /// Multiples of a number of bytes, with a letter after each number.
    Of(u64, String),
    /// Powers of this base, with their letters.
    Human(u64),
}

impl Unit {
    pub(super) fn show(&self, bytes: u64) -> String {
        match self {
            Unit::Of(size, letter) => format!("{}{letter}", bytes.div_ceil(*size)),
            Unit::Human(base) => human_size(bytes, *base),
        }
    }
}

/// Parses the value of `--block-size`: a number, a unit, or both. A unit alone is also printed after each number.
pub(super) fn block_size(spec: &str) -> Result<Unit, String> {
    match spec {
        "human-readable" => return Ok(Unit::Human(1024)),
        "si" => return Ok(Unit::Human(1000)),
        _ => {}
    }
    let size = parse_block_size(spec)
        .filter(|_| !spec.is_empty())
        .ok_or_else(|| format!("ls: invalid --block-size argument '{spec}'\n"))?;
    let letter = match spec {
        _ if spec.starts_with(|c: char| c.is_ascii_digit()) => String::new(),
        "KB" | "kB" => "kB".to_string(),
        _ => spec.to_uppercase().replace("IB", "iB"),
    };
    Ok(Unit::Of(size, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up() {
        let human = Unit::Human(1024);
        assert_eq!(human.show(1023), "1023");
        assert_eq!(human.show(1025), "1.1K");
        assert_eq!(human.show(10188), "10K");
        assert_eq!(Unit::Human(1000).show(1001), "1.1k");
        assert_eq!(Unit::Of(1024, String::new()).show(1025), "2");
    }

    #[test]
    fn a_unit_by_itself_is_shown() {
        let shown = |spec| block_size(spec).map(|unit| unit.show(3_000_000));
        assert_eq!(shown("M"), Ok("3M".to_string()));
        assert_eq!(shown("MiB"), Ok("3MiB".to_string()));
        assert_eq!(shown("KB"), Ok("3000kB".to_string()));
        assert_eq!(shown("1M"), Ok("3".to_string()));
        assert!(shown("0").is_err() && shown("").is_err() && shown("x").is_err());
    }
}
