//! From a format to its encoder, for the formats that this project writes.

use crate::{Error, Format, floats, int4, int8_row, q4, q8_0};

impl Format {
    /// Appends one row to `bytes`, and its scales to `scales` where the format keeps them apart. Conversions round to
    /// nearest, ties to even, except that `q8_0` and `q4_0` follow the reference of their file format.
    ///
    /// # Errors
    /// The format is only read, the width is not a whole number of blocks, or a quantised format meets a value that is
    /// not finite or whose scale does not fit; nothing is appended then.
    pub fn encode_row(self, x: &[f32], bytes: &mut Vec<u8>, scales: &mut Vec<u8>) -> Result<(), Error> {
        if self.row_bytes(x.len()).is_none() {
            return Err(Error::Columns { format: self, cols: x.len(), block: self.block_elements() });
        }
        match self {
            Format::F32 => floats::encode_f32(x, bytes),
            Format::F16 => floats::encode_f16(x, bytes),
            Format::Bf16 => floats::encode_bf16(x, bytes),
            Format::Int8Row => {
                self.refuse_unless_finite(x, f32::MAX)?;
                int8_row::encode(x, bytes, scales);
            }
            Format::Int4Row => {
                self.refuse_unless_finite(x, f32::MAX)?;
                int4::encode(x, x.len(), bytes, scales);
            }
            Format::Int4Group { group } if int4::GROUPS.contains(&group) => {
                self.refuse_unless_finite(x, f32::MAX)?;
                int4::encode(x, group, bytes, scales);
            }
            Format::Int4Group { group } => return Err(Error::Group { group }),
            Format::Q8_0 => {
                self.refuse_unless_finite(x, q8_0::MAGNITUDE_MAX)?;
                q8_0::encode(x, bytes);
            }
            Format::Q4_0 => {
                self.refuse_unless_finite(x, q4::Q4_0_MAGNITUDE_MAX)?;
                q4::encode_q4_0(x, bytes);
            }
            _ => return Err(Error::NoEncoder { format: self }),
        }
        Ok(())
    }

    fn refuse_unless_finite(self, x: &[f32], magnitude_max: f32) -> Result<(), Error> {
        // A NaN is in no range.
        match x.iter().enumerate().find(|(_, value)| !(0.0..=magnitude_max).contains(&value.abs())) {
            Some((index, &value)) => Err(Error::NotFinite { format: self, index, value }),
            None => Ok(()),
        }
    }
}
