//! The canonical order written a second time, slowly and with nothing of the kernels: rows become groups of codes with a
//! scale, straight from the layouts, and groups become sums by scalar fused multiply-adds.

use quant::Format;
use units::Rng;

/// Columns that share a scale.
pub struct Group {
    /// Their codes, as numbers.
    pub codes: Vec<f32>,
    /// What the sum of codes times x is multiplied with; none where codes are the weights.
    pub scale: Option<f32>,
}

fn f16(bytes: &[u8], at: usize) -> f32 {
    quant::floats::f16_to_f32(u16::from_le_bytes([bytes[at], bytes[at + 1]]))
}

fn nibble(bytes: &[u8], at: usize, column: usize) -> i32 {
    i32::from(bytes[at + column % 16] >> (column / 16 * 4) & 15)
}

/// A block of 32 columns.
fn small(min: Option<f32>, scale: f32, code: impl Fn(usize) -> i32) -> Group {
    group((0..32).map(code), scale, min)
}

/// Columns that share a scale and perhaps a minimum. With a minimum, or when there are only sixteen, they become weights.
fn group(codes: impl Iterator<Item = i32>, scale: f32, min: Option<f32>) -> Group {
    let codes: Vec<f32> = codes.map(|code| code as f32).collect();
    match min {
        Some(min) => Group { codes: codes.iter().map(|code| code * scale + min).collect(), scale: None },
        None if codes.len() == 16 => {
            Group { codes: codes.iter().map(|code| code * scale).collect(), scale: None }
        }
        None => Group { codes, scale: Some(scale) },
    }
}

fn fifth(block: &[u8], at: usize, column: usize) -> i32 {
    i32::from(block[at + column / 8] >> (column % 8) & 1) << 4
}

/// A block of 256 columns as groups of `width`.
fn large(
    width: usize,
    code: impl Fn(usize) -> i32,
    scale: impl Fn(usize) -> (f32, Option<f32>),
) -> Vec<Group> {
    (0..256 / width).map(|g| group((0..width).map(|i| code(g * width + i)), scale(g).0, scale(g).1)).collect()
}

fn block_groups(format: Format, b: &[u8]) -> Vec<Group> {
    let two = |at: usize, column: usize| {
        i32::from(b[at + column / 128 * 32 + column % 32] >> (column % 128 / 32 * 2) & 3)
    };
    let four = |at: usize, column: usize| {
        i32::from(b[at + column / 64 * 32 + column % 32] >> (column % 64 / 32 * 4) & 15)
    };
    let one = |at: usize, column: usize| i32::from(b[at + column % 32] >> (column / 32) & 1);
    let six = |group: usize| {
        let (scale, min) = quant::q4k_scale_min(b, group);
        (f16(b, 0) * f32::from(scale), Some(-(f16(b, 2) * f32::from(min))))
    };
    match format {
        Format::Q8_0 => vec![small(None, f16(b, 0), |c| i32::from(b[2 + c] as i8))],
        Format::Q4_0 => vec![small(None, f16(b, 0), |c| nibble(b, 2, c) - 8)],
        Format::Q4_1 => vec![small(Some(f16(b, 2)), f16(b, 0), |c| nibble(b, 4, c))],
        Format::Q5_0 => vec![small(None, f16(b, 0), |c| (nibble(b, 6, c) | fifth(b, 2, c)) - 16)],
        Format::Q5_1 => vec![small(Some(f16(b, 2)), f16(b, 0), |c| nibble(b, 8, c) | fifth(b, 4, c))],
        Format::Iq4Nl => {
            vec![small(None, f16(b, 0), |c| i32::from(quant::IQ4_LEVELS[nibble(b, 2, c) as usize]))]
        }
        Format::Mxfp4 => {
            let scale = quant::mxfp4_half_scale(b[0]);
            vec![small(None, scale, |c| i32::from(quant::MXFP4_LEVELS[nibble(b, 1, c) as usize]))]
        }
        Format::Q2K => large(
            16,
            |c| two(16, c),
            |g| {
                let (scale, min) = (f32::from(b[g] & 15), f32::from(b[g] >> 4));
                (f16(b, 80) * scale, Some(-(f16(b, 82) * min)))
            },
        ),
        Format::Q3K => large(
            16,
            |c| two(32, c) + 4 * one(0, c) - 4,
            |g| {
                let block = b.try_into().expect("a whole block");
                (f16(b, 108) * f32::from(quant::q3k_scale(block, g)), None)
            },
        ),
        Format::Q4K => large(32, |c| four(16, c), six),
        Format::Q5K => large(32, |c| four(48, c) + 16 * one(16, c), six),
        Format::Q6K => large(
            16,
            |c| {
                let low = b[c / 128 * 64 + c % 64] >> (c % 128 / 64 * 4) & 15;
                i32::from(low) + 16 * two(128, c) - 32
            },
            |g| (f16(b, 208) * f32::from(b[192 + g] as i8), None),
        ),
        Format::Iq4Xs => large(
            32,
            |c| i32::from(quant::IQ4_LEVELS[nibble(b, 8 + c / 32 * 16, c % 32) as usize]),
            |g| {
                let block = b.try_into().expect("a whole block");
                (f16(b, 0) * f32::from(quant::iq4xs_scale(block, g)), None)
            },
        ),
        _ => unreachable!("{format} has no blocks"),
    }
}

/// A row of `cols` columns as groups in column order.
pub fn groups(format: Format, cols: usize, bytes: &[u8], scales: &[u8]) -> Vec<Group> {
    let scales: Vec<f32> =
        scales.chunks(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes"))).collect();
    let whole = |codes: Vec<f32>| vec![Group { codes, scale: scales.first().copied() }];
    let int4 = |c: usize| (i32::from(bytes[c / 2] >> (c % 2 * 4) & 15) - 8) as f32;
    match format {
        Format::F32 => {
            whole(bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().expect("four bytes"))).collect())
        }
        Format::F16 => whole((0..cols).map(|c| f16(bytes, 2 * c)).collect()),
        Format::Bf16 => whole(
            (0..cols)
                .map(|c| f32::from_bits(u32::from(bytes[2 * c]) << 16 | u32::from(bytes[2 * c + 1]) << 24))
                .collect(),
        ),
        Format::Int8Row => whole(bytes.iter().map(|b| f32::from(*b as i8)).collect()),
        Format::Int4Row => whole((0..cols).map(int4).collect()),
        Format::Int4Group { group } => {
            let of = |(g, scale): (usize, &f32)| Group {
                codes: (g * group..cols.min((g + 1) * group)).map(int4).collect(),
                scale: Some(*scale),
            };
            scales.iter().enumerate().map(of).collect()
        }
        _ => bytes.chunks(format.block_bytes()).flat_map(|block| block_groups(format, block)).collect(),
    }
}

/// Lanes `l` and `l + 8`, then `+ 4`, `+ 2`, `+ 1`.
pub fn tree(mut lanes: [f32; 16]) -> f32 {
    for half in [8, 4, 2, 1] {
        for l in 0..half {
            lanes[l] += lanes[l + half];
        }
    }
    lanes[0]
}

/// The canonical product of a row and a token.
pub fn dot(groups: &[Group], x: &[f32]) -> f32 {
    let mut lanes = [0f32; 16];
    let mut rest = x;
    for group in groups {
        let (x, after) = rest.split_at(group.codes.len());
        rest = after;
        let mut partial = if group.scale.is_some() { [0f32; 16] } else { lanes };
        for (i, (code, x)) in group.codes.iter().zip(x).enumerate() {
            partial[i % 16] = code.mul_add(*x, partial[i % 16]);
        }
        let Some(scale) = group.scale else {
            lanes = partial;
            continue;
        };
        for l in 0..16 {
            lanes[l] = partial[l].mul_add(scale, lanes[l]);
        }
    }
    tree(lanes)
}

/// Random stored rows whose scales are of a reasonable size.
pub fn random_rows(format: Format, rows: usize, cols: usize, seed: u64) -> (Vec<u8>, Vec<u8>) {
    let mut rng = Rng::new(seed);
    let row_bytes = format.row_bytes(cols).expect("a legal width");
    let mut bytes: Vec<u8> = (0..rows * row_bytes).map(|_| rng.next_u64() as u8).collect();
    let number = |rng: &mut Rng| (rng.next_f64() * 2.0 - 1.0) as f32 * 0.1;
    let halves = |bytes: &mut [u8], at: &[usize], rng: &mut Rng| {
        for at in at {
            bytes[*at..at + 2].copy_from_slice(&quant::floats::f32_to_f16(number(rng)).to_le_bytes());
        }
    };
    let at: &[usize] = match format {
        Format::F16 | Format::Q8_0 | Format::Q4_0 | Format::Q5_0 | Format::Iq4Nl | Format::Iq4Xs => &[0],
        Format::Q4_1 | Format::Q5_1 | Format::Q4K | Format::Q5K => &[0, 2],
        Format::Q2K => &[80, 82],
        Format::Q3K => &[108],
        Format::Q6K => &[208],
        _ => &[],
    };
    for block in bytes.chunks_mut(format.block_bytes()) {
        halves(block, at, &mut rng);
        match format {
            Format::F32 => block.copy_from_slice(&number(&mut rng).to_le_bytes()),
            Format::Bf16 => {
                block.copy_from_slice(&quant::floats::f32_to_bf16(number(&mut rng)).to_le_bytes())
            }
            Format::Mxfp4 => block[0] = 100 + block[0] % 40,
            _ => {}
        }
    }
    let scales =
        (0..rows * format.scales_per_row(cols)).flat_map(|_| number(&mut rng).to_le_bytes()).collect();
    (bytes, scales)
}

/// Random floats of both signs and various sizes.
pub fn random_floats(count: usize, seed: u64) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| ((rng.next_f64() * 2.0 - 1.0) * 2f64.powi(rng.below(8) as i32 - 5)) as f32).collect()
}
