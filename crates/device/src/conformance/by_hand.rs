//! Cases whose values come from the formulas, worked out by hand.

use units::Span;

use super::{
    Case,
    op::{Op, Weights},
};
use crate::contract::{Activation, Attention, RopeStyle};

/// The first `len` floats after `start`.
pub(super) fn at(start: usize, len: usize) -> Span {
    Span { start, len }
}

fn case(name: &str, memory: &[f32], op: Op, watch: Span, expected: &[f32]) -> Case {
    Case { name: name.to_string(), memory: memory.to_vec(), op, watch, expected: expected.to_vec() }
}

/// All of them.
#[must_use]
pub fn by_hand() -> Vec<Case> {
    let mut cases = elements();
    cases.extend(rows());
    cases.extend(rotations());
    cases.extend(attentions());
    cases
}

fn elements() -> Vec<Case> {
    let (first, second) = (at(0, 3), at(3, 3));
    let values = [1.0, -2.0, 0.5, 2.0, 3.0, -4.0];
    let silu = Op::Glu { dst: at(0, 2), gate: at(0, 2), up: at(2, 2), activation: Activation::Silu };
    let gelu = Op::Glu { dst: at(2, 2), gate: at(0, 2), up: at(2, 2), activation: Activation::GeluTanh };
    vec![
        case("copy", &values, Op::Copy { dst: first, src: second }, first, &[2.0, 3.0, -4.0]),
        case(
            "copy onto itself",
            &values,
            Op::Copy { dst: at(1, 3), src: first },
            at(0, 4),
            &[1.0, 1.0, -2.0, 0.5],
        ),
        case("add", &values, Op::Add { dst: first, x: second }, first, &[3.0, 1.0, -3.5]),
        case("add to itself", &values, Op::Add { dst: first, x: first }, first, &[2.0, -4.0, 1.0]),
        case("scale", &values, Op::Scale { dst: second, factor: -0.5 }, second, &[-1.0, -1.5, 2.0]),
        case(
            "clamp",
            &values,
            Op::Clamp { dst: at(0, 6), bound: 1.5 },
            at(0, 6),
            &[1.0, -1.5, 0.5, 1.5, 1.5, -1.5],
        ),
        // 30 tanh 1, and nearly nothing is left of a value far beyond the cap.
        case(
            "softcap",
            &[30.0, 0.0, -3e4],
            Op::Softcap { dst: first, cap: 30.0 },
            first,
            &[22.847_825, 0.0, -30.0],
        ),
        // sigmoid(1) = 0.7310586, and x · sigmoid(x) of a very negative gate vanishes.
        case("glu silu", &[1.0, -1e4, 2.0, 5.0], silu, at(0, 2), &[1.462_117_2, 0.0]),
        // The published values of the tanh form at 1 and -1: 0.841192 and -0.158808.
        case("glu gelu", &[1.0, -1.0, 2.0, 1.0], gelu, at(2, 2), &[1.682_384, -0.158_808]),
    ]
}

fn rows() -> Vec<Case> {
    let w = Weights::f32(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let x = [1.0, 0.0, -1.0, 2.0, 2.0, 2.0, 7.0, 7.0, 7.0, 7.0, 7.0, 7.0];
    let matmul = Op::Matmul { dst: at(6, 4), w: w.clone(), x: at(0, 6), tokens: 2 };
    let embed = Op::Embed { dst: at(0, 6), w, ids: vec![1, 0], scale: 2.0 };
    // mean of squares 12.5: 3 and 4 over sqrt(12.5), the second twice.
    let norm = Op::RmsNorm { dst: at(0, 4), x: at(0, 4), weight: at(4, 2), width: 2, eps: 0.0 };
    // mean of squares 12.5, plus 3.5 is 16: a root of 4.
    let with_eps = Op::RmsNorm { dst: at(4, 2), x: at(0, 2), weight: at(2, 2), width: 2, eps: 3.5 };
    let gather = Op::Gather { dst: at(6, 4), src: at(0, 6), rows: vec![2, 0], width: 2 };
    let scatter = Op::Scatter { dst: at(0, 6), src: at(6, 6), rows: vec![2, 0, 2], width: 2 };
    let weighted =
        Op::WeightedSum { dst: at(8, 4), src: at(0, 8), weights: vec![1.0, 2.0, 0.0, -1.0], k: 2, width: 2 };
    let counted: Vec<f32> = (0u8..12).map(f32::from).collect();
    vec![
        case("matmul", &x, matmul, at(6, 4), &[-2.0, -2.0, 12.0, 30.0]),
        case("embed", &x, embed, at(0, 6), &[8.0, 10.0, 12.0, 2.0, 4.0, 6.0]),
        case(
            "rms norm in place",
            &[3.0, 4.0, -4.0, 3.0, 1.0, 2.0],
            norm,
            at(0, 4),
            &[0.848_528_15, 2.262_741_7, -1.131_370_9, 1.697_056_3],
        ),
        case("rms norm with eps", &[3.0, 4.0, 1.0, 2.0, 0.0, 0.0], with_eps, at(4, 2), &[0.75, 2.0]),
        case("gather", &counted, gather, at(6, 4), &[4.0, 5.0, 0.0, 1.0]),
        case("scatter, the last one stays", &counted, scatter, at(0, 6), &[8.0, 9.0, 2.0, 3.0, 10.0, 11.0]),
        case("weighted sum", &counted, weighted, at(8, 4), &[4.0, 7.0, -6.0, -7.0]),
    ]
}

fn rotations() -> Vec<Case> {
    // A head of five, of which four turn; the table has no turn at position 0 and a quarter turn at position 1.
    let memory = [1.0, 2.0, 3.0, 4.0, 9.0, 1.0, 2.0, 3.0, 4.0, 9.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0];
    let rope = |style| Op::Rope {
        x: at(0, 10),
        table: at(10, 8),
        positions: vec![1, 0],
        heads: 1,
        head_dim: 5,
        rotary: 4,
        style,
    };
    vec![
        case(
            "rope half-split",
            &memory,
            rope(RopeStyle::HalfSplit),
            at(0, 10),
            &[-3.0, -4.0, 1.0, 2.0, 9.0, 1.0, 2.0, 3.0, 4.0, 9.0],
        ),
        case(
            "rope interleaved",
            &memory,
            rope(RopeStyle::Interleaved),
            at(0, 10),
            &[-2.0, 1.0, -4.0, 3.0, 9.0, 1.0, 2.0, 3.0, 4.0, 9.0],
        ),
    ]
}

fn attentions() -> Vec<Case> {
    // Queries 2 x 2, keys 2 x 2, values 2 x 1, results 2 x 1. Scores of the second query: ln 3 and 0, so weights 3/4, 1/4.
    let memory = [5.0, 5.0, 3f32.ln(), 1.0, 1.0, 0.0, 0.0, 0.0, 4.0, 8.0, 0.0, 0.0];
    let job = Attention {
        dst: at(10, 2),
        q: at(0, 4),
        k: at(4, 4),
        v: at(8, 2),
        heads: 1,
        kv_heads: 1,
        head_dim: 2,
        value_dim: 1,
        positions: &[],
        scale: 1.0,
        window: None,
        softcap: None,
        kv_capacity: 2,
    };
    let run = |job| Op::Attention { job, positions: vec![0, 1] };
    // Scores of 1000 and 0 under a cap of 1 become 1 and 0: weights 1 / (1 + 1/e) and the rest.
    let capped = Attention { scale: 1000.0, softcap: Some(1.0), ..job };
    // Four query heads over two key heads of one component each; all scores are 0 but the fourth head's.
    let grouped = Attention {
        dst: at(12, 4),
        q: at(0, 4),
        k: at(4, 4),
        v: at(8, 4),
        heads: 4,
        kv_heads: 2,
        head_dim: 1,
        ..job
    };
    let grouped_memory =
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -3f32.ln(), 1.0, 2.0, 3.0, 6.0, 0.0, 0.0, 0.0, 0.0];
    vec![
        case("attention", &memory, run(job), at(10, 2), &[4.0, 5.0]),
        case("attention window", &memory, run(Attention { window: Some(1), ..job }), at(10, 2), &[4.0, 8.0]),
        case("attention softcap", &memory, run(capped), at(10, 2), &[4.0, 5.075_766]),
        case(
            "attention grouped",
            &grouped_memory,
            Op::Attention { job: grouped, positions: vec![1] },
            at(12, 4),
            &[2.0, 2.0, 4.0, 3.0],
        ),
    ]
}
