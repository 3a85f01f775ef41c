//! `iq4_nl` and `iq4_xs`: codes of 4 bits into a fixed, uneven table of levels.
//!
//! | `iq4_nl`, 32 columns in 18 bytes | what |
//! |---|---|
//! | 0..2 | d, f16 |
//! | 2..18 | byte j holds column j in its low and column j + 16 in its high nibble |
//!
//! | `iq4_xs`, 256 columns in 136 bytes, 8 groups of 32 | what |
//! |---|---|
//! | 0..2 | d, f16 |
//! | 2..4 | u16: pair g (from the low bits) is the high two bits of scale g |
//! | 4..8 | nibble g (low one of a byte first) is the low four bits of scale g; scales are stored + 32 |
//! | 8..136 | 16 bytes for each group, arranged as in `iq4_nl` |
//!
//! Layout and levels: `block_iq4_nl`, `block_iq4_xs` and `kvalues_iq4nl` of ggml.

use crate::{
    blocks::{decode_blocks, f16_at},
    q4::nibbles,
};

/// The value of each code, before scaling.
pub const IQ4_LEVELS: [i8; 16] = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113];

/// Columns of an `iq4_nl` block.
pub const NL_ELEMENTS: usize = 32;
/// Where the codes of an `iq4_nl` block begin.
pub const NL_CODES_AT: usize = 2;
/// Bytes of an `iq4_nl` block.
pub const NL_BYTES: usize = NL_CODES_AT + NL_ELEMENTS / 2;

/// Columns of an `iq4_xs` block.
pub const XS_ELEMENTS: usize = 256;
/// Columns of an `iq4_xs` block that share a scale.
pub const XS_GROUP: usize = 32;
/// Where the high bits of the scales of an `iq4_xs` block begin.
pub const XS_SCALES_HIGH_AT: usize = 2;
/// Where the low bits of the scales of an `iq4_xs` block begin.
pub const XS_SCALES_LOW_AT: usize = 4;
/// Where the codes of an `iq4_xs` block begin.
pub const XS_CODES_AT: usize = XS_SCALES_LOW_AT + XS_ELEMENTS / XS_GROUP / 2;
/// Bytes of an `iq4_xs` block.
pub const XS_BYTES: usize = XS_CODES_AT + XS_ELEMENTS / 2;
const _: () = assert!(NL_BYTES == 18 && XS_CODES_AT == 8 && XS_BYTES == 136);

/// The scale (-32..32) of `group` (0..8) of an `iq4_xs` block.
///
/// # Panics
/// If there is no such group.
#[must_use]
pub fn iq4xs_scale(block: &[u8; XS_BYTES], group: usize) -> i8 {
    assert!(group < XS_ELEMENTS / XS_GROUP, "a block has 8 groups");
    let low = block[XS_SCALES_LOW_AT + group / 2] >> (group % 2 * 4) & 15;
    let high = block[XS_SCALES_HIGH_AT + group / 4] >> (group % 4 * 2) & 3;
    (low | high << 4) as i8 - 32
}

fn levels(bytes: &[u8]) -> [f32; 32] {
    nibbles(bytes).map(|code| f32::from(IQ4_LEVELS[usize::from(code)]))
}

/// value = d · level, one rounding.
pub(crate) fn decode_nl(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<NL_BYTES, NL_ELEMENTS>(bytes, out, |block, out| {
        let scale = f16_at(block, 0);
        *out = levels(&block[NL_CODES_AT..]).map(|level| scale * level);
    });
}

/// value = (d · scale) · level, a rounding after each operation.
pub(crate) fn decode_xs(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<XS_BYTES, XS_ELEMENTS>(bytes, out, |block, out| {
        let d = f16_at(block, 0);
        let groups = block[XS_CODES_AT..].chunks_exact(XS_GROUP / 2);
        for (group, (codes, out)) in groups.zip(out.as_chunks_mut::<XS_GROUP>().0).enumerate() {
            let scale = d * f32::from(iq4xs_scale(block, group));
            *out = levels(codes).map(|level| scale * level);
        }
    });
}
