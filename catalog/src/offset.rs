//! Offsets into tables: 32 bits, so tables have a largest size.

/// The largest offset that a table can have.
pub(crate) const MAX_OFFSET: u32 = u32::MAX;

/// A table is full. Holds the unit that its offsets count, such as `bytes of text`.
#[derive(Debug)]
pub(crate) struct Full(pub(crate) &'static str);

/// Converts a length to an offset of at most `max`.
///
/// # Errors
/// The length is larger than `max`.
pub(crate) fn offset(len: usize, max: u32, unit: &'static str) -> Result<u32, Full> {
    u32::try_from(len).ok().filter(|offset| *offset <= max).ok_or(Full(unit))
}
