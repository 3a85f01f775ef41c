//! `int4-row` and `int4-gN`: two columns a byte, f32 scales in a tensor beside it (`name.qs`), one a row or one for
//! every N columns of it.
//!
//! A byte holds column 2i in its low and column 2i+1 in its high nibble, each as code + 8. A row of odd width ends with
//! a byte whose high nibble means nothing (0 when written here: the code of value 0 is 8, but readers ignore it).

use crate::{
    floats::f32_at,
    int8_row::{absmax, code},
};

/// Columns and bytes of the least unit.
pub const BLOCK: (usize, usize) = (2, 1);
/// Columns that can share a scale. All are even, so a group begins at a whole byte, and multiples of
/// [`units::limits::LANES`].
pub const GROUPS: [usize; 4] = [32, 64, 128, 256];
/// What is added to a code before it is stored.
pub const OFFSET: i8 = 8;

const _: () = assert!(GROUPS[0].is_multiple_of(BLOCK.0) && GROUPS[0].is_multiple_of(units::limits::LANES));

/// The codes (-8..=7) of the even and the odd column of a byte.
#[must_use]
pub fn codes(byte: u8) -> (i8, i8) {
    ((byte & 15) as i8 - OFFSET, (byte >> 4) as i8 - OFFSET)
}

/// value = scale · code, one rounding. `group` is the width of the row for a scale a row.
pub(crate) fn decode(bytes: &[u8], scales: &[u8], group: usize, out: &mut [f32]) {
    for (column, out) in out.iter_mut().enumerate() {
        let (even, odd) = codes(bytes[column / 2]);
        let code = if column % 2 == 0 { even } else { odd };
        *out = f32_at(scales, column / group) * f32::from(code);
    }
}

/// scale = absmax / 7 of the group, code = x / scale rounded to nearest even and kept within -8..=7.
pub(crate) fn encode(x: &[f32], group: usize, bytes: &mut Vec<u8>, scales: &mut Vec<u8>) {
    if x.is_empty() && group == 0 {
        // The width of an empty row is no group, but a scale a row is still due.
        scales.extend(0f32.to_le_bytes());
        return;
    }
    for x in x.chunks(group) {
        let scale = absmax(x) / 7.0;
        scales.extend(scale.to_le_bytes());
        let nibble = |value: f32| (code(value, scale, -8.0, 7.0) + OFFSET) as u8;
        bytes.extend(x.chunks(2).map(|pair| match *pair {
            [even, odd] => nibble(even) | nibble(odd) << 4,
            [last] => nibble(last),
            _ => 0,
        }));
    }
}
