//! What becomes of each tensor.

use checkpoint::Tensor;
use quant::Format;
use units::Dtype;

/// The formats of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Of the weights.
    pub format: Format,
    /// Of the embedding and the output projection.
    pub io_format: Format,
}

/// What becomes of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its bytes are copied.
    Copied,
    /// Its rows of so many values are decoded and written in this format.
    Encoded {
        /// The format in the source.
        from: Format,
        /// The format in the destination.
        to: Format,
        /// Number of rows, over all outer axes.
        rows: usize,
        /// Values of a row.
        cols: usize,
    },
}

/// The fate of `tensor`, or what was needed instead of it.
///
/// Matrices take the target's format, and so do stacks of expert matrices. Everything that is small and sensitive becomes
/// f32: vectors (norms, biases, scales), routers, convolutions. Integers are copied.
///
/// # Errors
/// The tensor's values have no decoder.
pub fn fate(tensor: &Tensor, target: Target) -> Result<Fate, &'static str> {
    if tensor.len_bytes == 0 || is_integer(tensor.dtype) {
        return Ok(Fate::Copied);
    }
    if tensor.dtype == Dtype::U8 || tensor.dtype == Dtype::I8 {
        return Err("a checkpoint of floats, not one that is converted already");
    }
    let from = Format::from_dtype(tensor.dtype).ok_or("F32, F16 or BF16 values")?;
    let axes: Vec<usize> = tensor.shape.iter().filter_map(|axis| usize::try_from(*axis).ok()).collect();
    let (cols, outer) = axes.split_last().map_or((1, &[][..]), |(cols, outer)| (*cols, outer));
    let rows = outer.iter().product();
    let to = if !is_matrix(tensor) {
        Format::F32
    } else if is_input_or_output(&tensor.name) {
        target.io_format
    } else {
        target.format
    };
    Ok(Fate::Encoded { from, to, rows, cols })
}

fn is_integer(dtype: Dtype) -> bool {
    use Dtype::{Bool, I16, I32, I64, U16, U32, U64};
    matches!(dtype, Bool | U16 | I16 | U32 | I32 | U64 | I64)
}

/// The parts of a name, without the last one where that is `weight`.
fn parts(name: &str) -> Vec<&str> {
    name.strip_suffix(".weight").unwrap_or(name).split('.').collect()
}

fn is_matrix(tensor: &Tensor) -> bool {
    let parts = parts(&tensor.name);
    let last = parts.last().copied().unwrap_or_default();
    let is_bias = last == "bias" || last.ends_with("_bias");
    let is_router = matches!(last, "gate" | "router" | "shared_expert_gate") || parts.contains(&"router");
    match tensor.shape.len() {
        2 => !is_bias && !is_router,
        3 => !is_bias && parts.contains(&"experts"),
        _ => false,
    }
}

fn is_input_or_output(name: &str) -> bool {
    matches!(parts(name).last(), Some(&("embed_tokens" | "lm_head" | "wte" | "embed_in" | "embed_out")))
}

#[cfg(test)]
mod tests {
    use checkpoint::FileIdx;

    use super::*;

    const TARGET: Target = Target { format: Format::Int4Group { group: 64 }, io_format: Format::Int8Row };

    fn check(name: &str, dtype: Dtype, shape: &[u64], expected: Result<&str, &str>) {
        let len_bytes = shape.iter().product();
        let tensor = Tensor {
            name: name.to_string(),
            dtype,
            shape: shape.to_vec(),
            file: FileIdx(0),
            offset_bytes: 0,
            len_bytes,
        };
        let found = fate(&tensor, TARGET).map(|fate| match fate {
            Fate::Copied => "copied".to_string(),
            Fate::Encoded { from, to, rows, cols } => format!("{from} {rows}x{cols} to {to}"),
        });
        assert_eq!(found.as_deref().map_err(|needed| *needed), expected, "{name}");
    }

    #[test]
    fn each_kind_of_tensor_has_its_fate() {
        use Dtype::{Bf16, F8E4M3, F16, F32, I64, U8};
        check("model.layers.0.self_attn.q_proj.weight", Bf16, &[8, 4], Ok("bf16 8x4 to int4-g64"));
        check("model.layers.0.mlp.gate_proj.weight", F16, &[8, 4], Ok("f16 8x4 to int4-g64"));
        check("model.layers.0.mlp.experts.7.down_proj.weight", F32, &[4, 8], Ok("f32 4x8 to int4-g64"));
        check("model.layers.0.mlp.experts.gate_up_proj", Bf16, &[3, 8, 4], Ok("bf16 24x4 to int4-g64"));
        check("model.layers.0.mlp.gate.weight", Bf16, &[3, 4], Ok("bf16 3x4 to f32"));
        check("model.layers.0.mlp.router.weight", Bf16, &[3, 4], Ok("bf16 3x4 to f32"));
        check("model.layers.0.router.proj.weight", Bf16, &[3, 4], Ok("bf16 3x4 to f32"));
        check("model.layers.0.mlp.shared_expert_gate.weight", Bf16, &[1, 4], Ok("bf16 1x4 to f32"));
        check("model.layers.0.input_layernorm.weight", Bf16, &[4], Ok("bf16 1x4 to f32"));
        check("model.layers.0.mlp.experts.gate_up_proj_bias", Bf16, &[3, 8], Ok("bf16 3x8 to f32"));
        check("model.layers.0.linear_attn.conv1d.weight", Bf16, &[8, 1, 4], Ok("bf16 8x4 to f32"));
        check("model.embed_tokens.weight", Bf16, &[16, 4], Ok("bf16 16x4 to int8-row"));
        check("lm_head.weight", Bf16, &[16, 4], Ok("bf16 16x4 to int8-row"));
        check("scalar", F32, &[], Ok("f32 1x1 to f32"));
        check("position_ids", I64, &[9], Ok("copied"));
        check("lm_head.weight", Bf16, &[0, 4], Ok("copied"));
        check("q.weight", F8E4M3, &[8, 4], Err("F32, F16 or BF16 values"));
        check("q.weight", U8, &[8, 4], Err("a checkpoint of floats, not one that is converted already"));
    }
}
