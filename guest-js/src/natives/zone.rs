//! Time zones: the IANA database is part of the image.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rquickjs::convert::List;
use rquickjs::{Ctx, Object, Result};

use super::add_all;
use crate::text::Text;

pub(super) fn add<'js>(ctx: &Ctx<'js>, natives: &Object<'js>) -> Result<()> {
    add_all!(ctx, natives, "zoneName" => name, "zoneAt" => at)
}

/// Returns the name of a zone as the database spells it, or null if there is no such zone.
fn name(zone: Text) -> Option<String> {
    TimeZone::get(&zone.0).ok()?.iana_name().map(str::to_owned)
}

/// Returns the offset of a zone at an instant (milliseconds since the epoch) in seconds east of UTC, and its
/// abbreviation. Returns null if there is no such zone, or the instant is out of the database's range.
fn at(zone: Text, millis: f64) -> Option<List<(i32, String)>> {
    let zone = TimeZone::get(&zone.0).ok()?;
    // A whole number of milliseconds within the range of JavaScript's dates.
    let millis = format!("{:.0}", millis.floor()).parse().ok()?;
    let info = zone.to_offset_info(Timestamp::from_millisecond(millis).ok()?);
    Some(List((info.offset().seconds(), info.abbreviation().to_owned())))
}
