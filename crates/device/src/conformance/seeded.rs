//! Cases with seeded operands, held against the reference: every weight format, odd shapes, and sizes at which a device
//! spreads its work over threads.

use quant::Format;
use units::{Rng, Span};

use super::{
    Case,
    by_hand::at,
    op::{Op, Weights},
    result,
};
use crate::{
    contract::{Activation, Attention, RopeStyle},
    reference::Reference,
    rope::{RopeScaling, rope_table},
};

/// All of them.
#[must_use]
pub fn seeded() -> Vec<Case> {
    let mut cases = Vec::new();
    for (i, &format) in Format::ALL.iter().enumerate() {
        for (rows, cols, tokens) in [(9, 512, 3), (257, 256, 5), (600, 512, 1)] {
            cases.push(matmul(i as u64, format, rows, cols, tokens));
        }
        cases.push(embed(i as u64, format));
    }
    // Widths that are not a multiple of the lanes, and a row alone.
    cases.push(matmul(90, Format::F32, 1, 1, 2));
    cases.push(matmul(91, Format::F32, 5, 37, 4));
    cases.push(matmul(92, Format::F32, 1, 4096, 17));
    cases.extend([(1, 1), (3, 17), (5, 128), (40, 1024)].map(|(rows, width)| rms_norm(rows, width)));
    cases.extend(elements());
    cases.extend([RopeStyle::HalfSplit, RopeStyle::Interleaved].map(rope));
    cases.extend(attentions());
    cases.extend(
        [(1, 8, 33), (5, 3, 16), (40, 8, 256)].map(|(tokens, k, width)| weighted_sum(tokens, k, width)),
    );
    cases
}

/// A case whose expected values are those of the reference.
fn against_reference(name: String, memory: Vec<f32>, op: Op, watch: Span) -> Case {
    let mut case = Case { name, memory, op, watch, expected: Vec::new() };
    let mut reference = Reference::new(case.memory.len());
    case.expected = result(&mut reference, &case, std::slice::from_ref(&case.op));
    case
}

/// Values in `-2..2`.
fn values(rng: &mut Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| (rng.next_f64() * 4.0 - 2.0) as f32).collect()
}

/// A matrix in `format`, encoded where the format has an encoder. Otherwise its bytes are random but for two bits that
/// keep every half-precision scale, wherever it lies, finite and below 1.
fn weights(rng: &mut Rng, format: Format, rows: usize, cols: usize) -> Weights {
    let mut weights = Weights { format, rows, cols, bytes: Vec::new(), scales: Vec::new() };
    for _ in 0..rows {
        let row = values(rng, cols);
        if format.encode_row(&row, &mut weights.bytes, &mut weights.scales).is_err() {
            let count = format.row_bytes(cols).expect("the widths here are whole blocks of every format");
            weights.bytes.extend((0..count).map(|_| rng.next_u64() as u8 & 0x3b));
        }
    }
    weights
}

fn matmul(seed: u64, format: Format, rows: usize, cols: usize, tokens: usize) -> Case {
    let mut rng = Rng::new(seed);
    let w = weights(&mut rng, format, rows, cols);
    let mut memory = values(&mut rng, tokens * cols);
    memory.resize(tokens * (cols + rows), 0.0);
    let (x, dst) = (at(0, tokens * cols), at(tokens * cols, tokens * rows));
    let name = format!("matmul {} {rows} x {cols}, {tokens} tokens", format.name());
    against_reference(name, memory, Op::Matmul { dst, w, x, tokens }, dst)
}

fn embed(seed: u64, format: Format) -> Case {
    let w = weights(&mut Rng::new(seed), format, 5, 256);
    let op = Op::Embed { dst: at(0, 3 * 256), w, ids: vec![4, 0, 4], scale: 1.5 };
    against_reference(format!("embed {}", format.name()), vec![0.0; 3 * 256], op, at(0, 3 * 256))
}

fn rms_norm(rows: usize, width: usize) -> Case {
    let memory = values(&mut Rng::new(7), (rows + 1) * width);
    let (x, weight) = (at(0, rows * width), at(rows * width, width));
    let op = Op::RmsNorm { dst: x, x, weight, width, eps: 1e-5 };
    against_reference(format!("rms norm {rows} x {width}"), memory, op, x)
}

fn elements() -> Vec<Case> {
    let mut cases = Vec::new();
    for count in [1, 100, 40_000] {
        let memory: Vec<f32> = values(&mut Rng::new(8), 3 * count).iter().map(|value| value * 5.0).collect();
        let (dst, gate, up) = (at(2 * count, count), at(0, count), at(count, count));
        let mut push = |name: &str, op| {
            cases.push(against_reference(format!("{name} of {count}"), memory.clone(), op, dst));
        };
        for activation in [Activation::Silu, Activation::GeluTanh] {
            push(&format!("glu {activation:?}"), Op::Glu { dst, gate, up, activation });
            push(&format!("glu {activation:?} in place"), Op::Glu { dst, gate: dst, up, activation });
        }
        push("add", Op::Add { dst, x: up });
        push("scale", Op::Scale { dst, factor: 0.3 });
        push("clamp", Op::Clamp { dst, bound: 4.0 });
        push("softcap", Op::Softcap { dst, cap: 3.0 });
    }
    cases
}

fn rope(style: RopeStyle) -> Case {
    let (tokens, heads, head_dim, rotary) = (70, 8, 64, 48);
    let table = rope_table(10_000.0, rotary, &RopeScaling::None, None, 100);
    let count = tokens * heads * head_dim;
    let mut memory = values(&mut Rng::new(9), count);
    memory.extend(&table);
    let positions = (0..tokens as u32).map(|t| t + 20).collect();
    let (x, table) = (at(0, count), at(count, table.len()));
    let op = Op::Rope { x, table, positions, heads, head_dim, rotary, style };
    against_reference(format!("rope {style:?}"), memory, op, x)
}

/// The shapes of one attention case.
struct Shape {
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    value_dim: usize,
    first: u32,
    tokens: u32,
    window: Option<u32>,
    softcap: Option<f32>,
}

fn attentions() -> Vec<Case> {
    let base = Shape {
        heads: 4,
        kv_heads: 2,
        head_dim: 16,
        value_dim: 16,
        first: 0,
        tokens: 70,
        window: None,
        softcap: None,
    };
    let shapes = [
        // The chunk crosses a block's end, and is long enough to be cut into runs of tokens.
        Shape { ..base },
        Shape { first: 60, tokens: 9, window: Some(5), ..base },
        Shape { first: 100, window: Some(64), ..base },
        Shape { first: 300, tokens: 1, window: Some(130), softcap: Some(2.0), ..base },
        // One token far along, with more heads in a group than go through a block together.
        Shape { heads: 40, kv_heads: 2, head_dim: 24, value_dim: 8, first: 700, tokens: 1, ..base },
        Shape { heads: 3, kv_heads: 3, head_dim: 5, value_dim: 7, first: 127, tokens: 3, ..base },
        Shape { heads: 8, kv_heads: 1, head_dim: 48, value_dim: 40, first: 63, tokens: 66, ..base },
    ];
    shapes.iter().map(attention).collect()
}

fn attention(shape: &Shape) -> Case {
    let Shape { heads, kv_heads, head_dim, value_dim, first, tokens, window, softcap } = *shape;
    let kv_capacity = (first + tokens) as usize;
    let lengths = [
        tokens as usize * heads * head_dim,
        kv_capacity * kv_heads * head_dim,
        kv_capacity * kv_heads * value_dim,
        tokens as usize * heads * value_dim,
    ];
    let mut end = 0;
    let [q, k, v, dst] = lengths.map(|len| {
        end += len;
        at(end - len, len)
    });
    let job = Attention {
        dst,
        q,
        k,
        v,
        heads,
        kv_heads,
        head_dim,
        value_dim,
        positions: &[],
        scale: 0.7,
        window,
        softcap,
        kv_capacity,
    };
    let name = format!(
        "attention {heads}/{kv_heads} x {head_dim}/{value_dim}, {tokens} from {first}, window {}, cap {}",
        window.unwrap_or(0),
        softcap.unwrap_or(0.0),
    );
    let op = Op::Attention { job, positions: (first..first + tokens).collect() };
    against_reference(name, values(&mut Rng::new(10), end), op, dst)
}

fn weighted_sum(tokens: usize, k: usize, width: usize) -> Case {
    let mut rng = Rng::new(11);
    let weights = values(&mut rng, tokens * k);
    let (src, dst) = (at(0, tokens * k * width), at(tokens * k * width, tokens * width));
    let memory = values(&mut rng, src.len + dst.len);
    let op = Op::WeightedSum { dst, src, weights, k, width };
    against_reference(format!("weighted sum {tokens} x {k} x {width}"), memory, op, dst)
}
