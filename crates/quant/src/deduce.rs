//! Which format a stored tensor has. Its dtype says so, except for integers: containers of earlier tools keep packed
//! weights as `U8` or `I8` with f32 scales beside them, and only the byte counts tell what they are.

use units::Dtype;

use crate::{Error, Format, int4};

/// What a stamp may say.
enum Claim {
    /// One format.
    Is(Format),
    /// int4 with some group size (earlier tools do not name it).
    Grouped,
}

/// Every format that keeps its scales apart, in the order in which they are tried.
///
/// Two of them fit the same counts only when they mean the same (a row narrower than its group is one group), or when a
/// row has a single column; then it is int8, unless a stamp says otherwise.
fn packed() -> impl Iterator<Item = Format> {
    [Format::Int8Row, Format::Int4Row]
        .into_iter()
        .chain(int4::GROUPS.map(|group| Format::Int4Group { group }))
}

impl Format {
    /// The format of a tensor `[rows, cols]` that is stored as `weight_bytes` bytes of `dtype`, with a tensor of
    /// `scale_count` f32 scales beside it or none.
    ///
    /// `stamp` is what the container claims of this tensor ([`crate::Stamps::of`]): a format name or an ordinal of the
    /// earlier tools (`1`, `2`, `4`). It is consulted for packed tensors only, and must agree with the counts.
    ///
    /// # Errors
    /// The dtype has no decoder, the counts fit no format, scales are missing or needless, or the stamp disagrees.
    pub fn deduce(
        dtype: Dtype,
        rows: usize,
        cols: usize,
        weight_bytes: usize,
        scale_count: Option<usize>,
        stamp: Option<&str>,
    ) -> Result<Format, Error> {
        if !matches!(dtype, Dtype::U8 | Dtype::I8) {
            return self_contained(dtype, rows, cols, weight_bytes, scale_count);
        }
        let scales = scale_count.ok_or(Error::NoScales { dtype, rows, cols })?;
        let fits = |format: &Format| format.counts(rows, cols) == Some((weight_bytes, scales));
        let claim = stamp.map(claim).transpose()?;
        if let Some(Claim::Is(format)) = claim
            && fits(&format)
        {
            return Ok(format);
        }
        let found = packed().find(fits).ok_or_else(|| Error::Unknown {
            dtype,
            rows,
            cols,
            weight_bytes,
            scales,
            fits: what_would_fit(rows, cols),
        })?;
        match claim {
            None => Ok(found),
            // A row with a single group has the counts of a scale a row, and the same meaning.
            Some(Claim::Grouped) if found != Format::Int8Row => Ok(found),
            Some(_) => Err(Error::StampDisagrees { stamp: readable(stamp.unwrap_or_default()), found }),
        }
    }

    /// Bytes of weights and number of scales of a matrix `[rows, cols]`.
    fn counts(self, rows: usize, cols: usize) -> Option<(usize, usize)> {
        Some((rows.checked_mul(self.row_bytes(cols)?)?, rows.checked_mul(self.scales_per_row(cols))?))
    }
}

fn self_contained(
    dtype: Dtype,
    rows: usize,
    cols: usize,
    found: usize,
    scale_count: Option<usize>,
) -> Result<Format, Error> {
    let format = Format::from_dtype(dtype).ok_or(Error::NoDecoder { dtype })?;
    if let Some(scales) = scale_count {
        return Err(Error::NeedlessScales { dtype, scales });
    }
    let block = format.block_elements();
    if !cols.is_multiple_of(block) {
        return Err(Error::Columns { format, cols, block });
    }
    match format.counts(rows, cols) {
        None => Err(Error::Overflow { format, rows, cols }),
        Some((needed, _)) if needed == found => Ok(format),
        Some((needed, _)) => Err(Error::Length { format, rows, cols, part: "weights", needed, found }),
    }
}

fn claim(stamp: &str) -> Result<Claim, Error> {
    match stamp {
        "1" => Ok(Claim::Is(Format::Int8Row)),
        "2" => Ok(Claim::Is(Format::Int4Row)),
        "4" | "int4-grouped" => Ok(Claim::Grouped),
        // The other ordinals (int2, int3, a lattice, mxfp4 and fp8 with scales apart) have no decoder.
        name => Format::from_name(name)
            .filter(|format| packed().any(|packed| packed == *format))
            .map(Claim::Is)
            .ok_or_else(|| Error::StampUnknown { stamp: readable(name) }),
    }
}

/// A stamp comes from a file: messages show its beginning, without control characters.
fn readable(stamp: &str) -> String {
    stamp.chars().take(40).map(|c| if c.is_control() { '?' } else { c }).collect()
}

fn what_would_fit(rows: usize, cols: usize) -> String {
    let one = |format: Format| {
        let (bytes, scales) = format.counts(rows, cols)?;
        Some(format!("{format} has {bytes} and {scales}"))
    };
    packed().filter_map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts worked out by hand: dtype, rows, cols, bytes, scales, stamp, format or a part of the message.
    #[test]
    fn follows_the_byte_counts() {
        type Row<'a> = (Dtype, usize, usize, usize, Option<usize>, Option<&'a str>, Result<&'a str, &'a str>);
        use Dtype::{Bf16, F8E4M3, F32, I8, Q4K, Q8_1, U8};
        let rows: &[Row<'_>] = &[
            (U8, 6, 200, 1200, Some(6), None, Ok("int8-row")),
            (I8, 6, 200, 1200, Some(6), None, Ok("int8-row")),
            (U8, 6, 200, 600, Some(6), None, Ok("int4-row")),
            (U8, 6, 201, 606, Some(6), None, Ok("int4-row")), // an odd width fills half a byte
            (U8, 6, 200, 600, Some(42), None, Ok("int4-g32")),
            (U8, 6, 200, 600, Some(24), None, Ok("int4-g64")),
            (U8, 6, 200, 600, Some(12), None, Ok("int4-g128")),
            (U8, 6, 600, 1800, Some(18), None, Ok("int4-g256")),
            (U8, 6, 1, 6, Some(6), None, Ok("int8-row")), // one column: the incumbent, unless stamped
            (U8, 6, 1, 6, Some(6), Some("int4-row"), Ok("int4-row")),
            // Stamps by name and by ordinal.
            (U8, 6, 200, 1200, Some(6), Some("int8-row"), Ok("int8-row")),
            (U8, 6, 200, 1200, Some(6), Some("1"), Ok("int8-row")),
            (U8, 6, 200, 600, Some(6), Some("2"), Ok("int4-row")),
            (U8, 6, 200, 600, Some(24), Some("4"), Ok("int4-g64")),
            (U8, 6, 200, 600, Some(24), Some("int4-grouped"), Ok("int4-g64")),
            (U8, 6, 200, 600, Some(24), Some("int4-g64"), Ok("int4-g64")),
            (U8, 6, 64, 192, Some(6), Some("int4-g64"), Ok("int4-g64")), // one group a row, as stamped
            (U8, 6, 64, 192, Some(6), Some("4"), Ok("int4-row")),        // the same bytes, the same meaning
            (
                U8,
                6,
                200,
                600,
                Some(24),
                Some("int4-g128"),
                Err("stamped `int4-g128`, but the bytes are int4-g64"),
            ),
            (U8, 6, 200, 1200, Some(6), Some("4"), Err("the bytes are int8-row")),
            (
                U8,
                6,
                200,
                1200,
                Some(6),
                Some("fp8-e4m3-b128"),
                Err("is not the name of a format that is read"),
            ),
            (U8, 6, 200, 1200, Some(6), Some("8"), Err("stamped `8`")),
            (U8, 6, 200, 1200, Some(6), Some("q8_0"), Err("stamped `q8_0`")),
            (U8, 6, 200, 1200, Some(6), Some("a\nb"), Err("`a?b`")),
            // Nothing fits.
            (U8, 6, 200, 1200, None, None, Err("need a tensor of scales")),
            (U8, 6, 200, 300, Some(6), None, Err("int8-row has 1200 and 6, int4-row has 600 and 6")), // int2
            (U8, 6, 200, 1200, Some(7), None, Err("fit no known format")),
            (U8, usize::MAX, 200, 1200, Some(6), None, Err("fit no known format")),
            // Dtypes that speak for themselves; a stamp does not concern them.
            (F32, 2, 3, 24, None, Some("int4-row"), Ok("f32")),
            (Bf16, 2, 3, 12, None, None, Ok("bf16")),
            (Q4K, 2, 512, 576, None, None, Ok("q4_k")),
            (
                Q4K,
                2,
                500,
                576,
                None,
                None,
                Err("a row of 500 values is not a whole number of q4_k blocks of 256"),
            ),
            (Bf16, 2, 3, 13, None, None, Err("needs 12 bytes of weights, found 13")),
            (Bf16, 2, 3, 12, Some(2), None, Err("have no scales beside them, found 2")),
            (F32, usize::MAX, 3, 12, None, None, Err("more bytes than can be addressed")),
            (Q8_1, 1, 32, 36, None, None, Err("dtype Q8_1 has no decoder")),
            (F8E4M3, 1, 32, 32, Some(1), None, Err("dtype F8_E4M3 has no decoder")),
        ];
        for &(dtype, rows, cols, bytes, scales, stamp, expected) in rows {
            let found = Format::deduce(dtype, rows, cols, bytes, scales, stamp);
            match (found, expected) {
                (Ok(found), Ok(name)) => {
                    assert_eq!(found.name(), name, "[{rows}, {cols}] {bytes} {scales:?}")
                }
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
                (found, expected) => {
                    panic!("[{rows}, {cols}] {bytes} {scales:?} {stamp:?}: {found:?}, {expected:?}")
                }
            }
        }
    }
}
