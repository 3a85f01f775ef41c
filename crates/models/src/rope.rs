//! Rotary positions as configurations spell them: old top-level fields, `rope_scaling`, `rope_parameters`, and GGUF keys.
//!
//! Equal meanings give equal descriptions. A base frequency is never assumed, and an unknown scaling is refused by name.

use checkpoint::Config;
use device::{RopeScaling, RopeStyle};
use layers::rope::{Rope, RopeFactors};

use crate::Error;

/// Reads the rope of `config.json`.
///
/// `kind` picks an entry of a `rope_parameters` that is nested by layer type; `rotary` is the rotated part of a head when
/// no `partial_rotary_factor` is given.
///
/// # Errors
/// The base is absent, the scaling unknown, or a parameter is absent or of the wrong type.
pub fn from_config(config: &Config, kind: &str, head_dim: usize) -> Result<Rope, Error> {
    let parameters = parameters(config, kind)?;
    let theta_from = parameters.as_ref().filter(|inner| inner.get("rope_theta").is_some()).unwrap_or(config);
    let theta = theta_from.f64("rope_theta")?;
    build(
        theta_from,
        theta,
        scaling(config, parameters.as_ref())?,
        partial(config, parameters.as_ref())?,
        head_dim,
    )
}

/// A rope with an explicit base and no scaling, for layers whose base has a field of its own.
///
/// # Errors
/// The base is no positive number.
pub fn unscaled(config: &Config, theta: f64, head_dim: usize) -> Result<Rope, Error> {
    build(config, theta, RopeScaling::None, 1.0, head_dim)
}

fn build(
    config: &Config,
    theta: f64,
    scaling: RopeScaling,
    partial: f64,
    head_dim: usize,
) -> Result<Rope, Error> {
    if !(theta.is_finite() && theta > 0.0) {
        return Err(config.error("rope_theta", "a positive number", &theta.to_string()).into());
    }
    let rotary = (head_dim as f64 * partial) as usize;
    if rotary == 0 || rotary > head_dim || !rotary.is_multiple_of(2) {
        let needed = format!("a factor that leaves an even part of {head_dim} components");
        return Err(config.error("partial_rotary_factor", &needed, &partial.to_string()).into());
    }
    Ok(Rope { theta, rotary, style: RopeStyle::HalfSplit, scaling, factors: RopeFactors::None })
}

/// The object that holds the rope's parameters: `rope_parameters` (possibly nested by layer type), else `rope_scaling`.
fn parameters(config: &Config, kind: &str) -> Result<Option<Config>, Error> {
    if let Some(outer) = config.object("rope_parameters")? {
        return Ok(Some(outer.object(kind)?.unwrap_or(outer)));
    }
    Ok(config.object("rope_scaling")?)
}

fn partial(config: &Config, parameters: Option<&Config>) -> Result<f64, Error> {
    let inner = match parameters {
        Some(inner) => inner.opt_f64("partial_rotary_factor")?,
        None => None,
    };
    match inner {
        Some(factor) => Ok(factor),
        None => Ok(config.f64_or("partial_rotary_factor", 1.0)?),
    }
}

fn scaling(config: &Config, parameters: Option<&Config>) -> Result<RopeScaling, Error> {
    let Some(inner) = parameters else { return Ok(RopeScaling::None) };
    let (field, name) = match (inner.opt_str("rope_type")?, inner.opt_str("type")?) {
        (Some(name), _) => ("rope_type", name),
        (None, Some(name)) => ("type", name),
        (None, None) => return Ok(RopeScaling::None),
    };
    let original = || -> Result<f64, Error> {
        match inner.opt_f64("original_max_position_embeddings")? {
            Some(positions) => Ok(positions),
            None => Ok(config.f64("max_position_embeddings")?),
        }
    };
    match name {
        "default" => Ok(RopeScaling::None),
        "linear" => Ok(RopeScaling::Linear { factor: inner.f64("factor")? }),
        "llama3" => Ok(RopeScaling::Banded {
            factor: inner.f64("factor")?,
            low_freq_factor: inner.f64("low_freq_factor")?,
            high_freq_factor: inner.f64("high_freq_factor")?,
            original_context: inner.f64("original_max_position_embeddings")?,
        }),
        "yarn" => Ok(RopeScaling::Yarn {
            factor: inner.f64("factor")?,
            original_context: original()?,
            beta_fast: inner.f64_or("beta_fast", 32.0)?,
            beta_slow: inner.f64_or("beta_slow", 1.0)?,
            attention_factor: inner.opt_f64("attention_factor")?,
            mscale: inner.opt_f64("mscale")?,
            mscale_all_dim: inner.opt_f64("mscale_all_dim")?,
            truncate: inner.bool_or("truncate", true)?,
        }),
        other => Err(inner.error(field, "default, linear, llama3 or yarn", other).into()),
    }
}

/// Reads the rope of GGUF metadata.
///
/// # Errors
/// As [`from_config`].
pub fn from_gguf(
    config: &Config,
    architecture: &str,
    head_dim: usize,
    style: RopeStyle,
) -> Result<Rope, Error> {
    let key = |name: &str| format!("{architecture}.rope.{name}");
    let theta = config.f64(&key("freq_base"))?;
    let rotary = config.usize_or(&key("dimension_count"), head_dim)?;
    let scaling = match config.opt_str(&key("scaling.type"))? {
        None | Some("none") => RopeScaling::None,
        Some("linear") => RopeScaling::Linear { factor: config.f64(&key("scaling.factor"))? },
        Some("yarn") => RopeScaling::Yarn {
            factor: config.f64(&key("scaling.factor"))?,
            original_context: config.f64(&key("scaling.original_context_length"))?,
            beta_fast: config.f64_or(&key("scaling.yarn_beta_fast"), 32.0)?,
            beta_slow: config.f64_or(&key("scaling.yarn_beta_slow"), 1.0)?,
            attention_factor: None,
            mscale: None,
            mscale_all_dim: None,
            truncate: true,
        },
        Some(other) => return Err(config.error(&key("scaling.type"), "none, linear or yarn", other).into()),
    };
    let rope = build(config, theta, scaling, rotary as f64 / head_dim as f64, head_dim)?;
    Ok(Rope { style, factors: RopeFactors::FromFile, ..rope })
}
