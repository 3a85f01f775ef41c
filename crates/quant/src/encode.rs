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

#[cfg(test)]
mod tests {
    use units::Rng;

    use super::*;
    use crate::Matrix;

    fn round_trip(format: Format, x: &[f32]) -> Vec<f32> {
        let (mut bytes, mut scales) = (Vec::new(), Vec::new());
        format.encode_row(x, &mut bytes, &mut scales).expect("finite values of whole blocks");
        let matrix = Matrix::new(format, 1, x.len(), &bytes, &scales).expect("an encoder writes whole rows");
        let mut out = vec![0.0; x.len()];
        matrix.decode_row(0, &mut out);
        out
    }

    /// The error is at most `steps` of the largest magnitude that shares the scale: half a code (a whole one for
    /// `q4_0`, whose +8 is cut to +7), and a little for a scale rounded to f16.
    #[test]
    fn stays_near_the_values() {
        let rows = [
            ("f32", 1, 0.0),
            ("bf16", 1, 1.0 / 256.0),
            ("f16", 1, 1.0 / 2048.0),
            ("int8-row", 512, 0.501 / 127.0),
            ("int4-row", 512, 0.501 / 7.0),
            ("int4-g64", 64, 0.501 / 7.0),
            ("int4-g256", 256, 0.501 / 7.0),
            ("q8_0", 32, 0.57 / 127.0),
            ("q4_0", 32, 1.01 / 8.0),
        ];
        let mut rng = Rng::new(3);
        let x: Vec<f32> =
            (0..512).map(|i| (rng.next_f64() - 0.5) as f32 * f32::from(1 + (i / 32) as u8)).collect();
        for (name, group, steps) in rows {
            let format = Format::from_name(name).expect(name);
            let out = round_trip(format, &x);
            for (x, out) in x.chunks(group).zip(out.chunks(group)) {
                let largest = x.iter().fold(0f32, |largest, x| largest.max(x.abs()));
                let worst = x.iter().zip(out).fold(0f32, |worst, (x, out)| worst.max((x - out).abs()));
                assert!(worst <= largest * steps, "{name}: {worst} of {largest}");
            }
        }
    }

    #[test]
    fn keeps_zeros_and_the_tiniest_values_finite() {
        for name in ["int8-row", "int4-row", "int4-g64", "q8_0", "q4_0"] {
            let format = Format::from_name(name).expect(name);
            assert!(round_trip(format, &[0.0; 64]).iter().all(|value| *value == 0.0), "{name}");
            let tiny = f32::from_bits(1);
            assert!(round_trip(format, &[tiny; 64]).iter().all(|value| value.abs() <= tiny), "{name}");
        }
    }

    #[test]
    fn refuses_and_appends_nothing() {
        let mut large = [0.0; 32];
        large[7] = 1e7;
        let mut infinite = [0.0; 32];
        infinite[31] = f32::INFINITY;
        let rows: &[(&str, &[f32], &str)] = &[
            ("q8_0", &[0.0; 31], "not a whole number of q8_0 blocks"),
            ("q4_1", &[0.0; 32], "format q4_1 is read but not written"),
            ("q6_k", &[0.0; 256], "format q6_k is read but not written"),
            ("q8_0", &large, "value 7 of the row is 10000000"),
            ("q4_0", &large, "value 7 of the row is 10000000"),
            ("int8-row", &infinite, "value 31 of the row is inf"),
            ("int4-g64", &[f32::NAN], "value 0 of the row is NaN"),
        ];
        for &(name, x, reason) in rows {
            let (mut bytes, mut scales) = (Vec::new(), Vec::new());
            let format = Format::from_name(name).expect(name);
            let error = format.encode_row(x, &mut bytes, &mut scales).expect_err(reason).to_string();
            assert!(error.contains(reason) && bytes.is_empty() && scales.is_empty(), "{error}");
        }
        let unknown =
            Format::Int4Group { group: 48 }.encode_row(&[0.0; 96], &mut Vec::new(), &mut Vec::new());
        assert!(unknown.is_err());
    }
}
