//! Softmax attention with grouped key and value heads (Ainslie et al., "GQA", 2023): every group of query heads reads one
//! key and value head. Optional norms on queries and keys, a sliding window, and clipping of the projections.

use device::Attention;
use telemetry::Phase;
use units::{LayerIdx, Span};

use crate::{
    build::Builder,
    error::Error,
    names::Role,
    norm::{LoadedNorm, RmsNorm},
    rope::Rope,
    stack::Step,
    weight::Weight,
};

/// What the attention is.
#[derive(Clone, Debug, PartialEq)]
pub struct Gqa {
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; divides `heads`.
    pub kv_heads: usize,
    /// Components of a head.
    pub head_dim: usize,
    /// Norms on queries and keys, if any.
    pub qk_norm: QkNorm,
    /// Rotary positions.
    pub rope: Rope,
    /// How many of the latest positions are visible; all when there is none.
    pub window: Option<u32>,
    /// Factor on the scores.
    pub scale: f32,
    /// Bound on the magnitude of queries, keys and values after their norms.
    pub clip: Option<f32>,
}

/// Norms on queries and keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QkNorm {
    /// None.
    None,
    /// Over each head's components, one weight for all heads.
    PerHead(RmsNorm),
    /// Over all heads together, before they are split.
    Full(RmsNorm),
}

/// The attention with its weights and its share of the state.
#[derive(Debug)]
pub struct LoadedGqa {
    spec: Gqa,
    query: Weight,
    key: Weight,
    value: Weight,
    output: Weight,
    query_norm: Option<LoadedNorm>,
    key_norm: Option<LoadedNorm>,
    rope_table: Span,
    key_cache: Span,
    value_cache: Span,
    context: usize,
}

impl Gqa {
    /// Binds the weights: query `[heads * head_dim, hidden]`, key and value `[kv_heads * head_dim, hidden]`, output
    /// `[hidden, heads * head_dim]`; and places the caches `[context, kv_heads * head_dim]`.
    ///
    /// # Errors
    /// A tensor is absent, misshapen or unreadable.
    pub fn build(&self, builder: &mut Builder<'_>, layer: LayerIdx) -> Result<LoadedGqa, Error> {
        let (hidden, wide, narrow) = (builder.hidden(), self.wide(), self.narrow());
        let context = builder.shape().context;
        let (query_norm, key_norm) = match self.qk_norm {
            QkNorm::None => (None, None),
            QkNorm::PerHead(norm) => self.norms(builder, layer, norm, self.head_dim, self.head_dim)?,
            QkNorm::Full(norm) => self.norms(builder, layer, norm, wide, narrow)?,
        };
        Ok(LoadedGqa {
            spec: self.clone(),
            query: builder.matrix(Role::Query, layer, wide, hidden)?,
            key: builder.matrix(Role::Key, layer, narrow, hidden)?,
            value: builder.matrix(Role::Value, layer, narrow, hidden)?,
            output: builder.matrix(Role::Output, layer, hidden, wide)?,
            query_norm,
            key_norm,
            rope_table: builder.rope(&self.rope, layer)?,
            key_cache: builder.state(context * narrow),
            value_cache: builder.state(context * narrow),
            context,
        })
    }

    fn norms(
        &self,
        builder: &mut Builder<'_>,
        layer: LayerIdx,
        norm: RmsNorm,
        query_width: usize,
        key_width: usize,
    ) -> Result<(Option<LoadedNorm>, Option<LoadedNorm>), Error> {
        let query = builder.norm(Role::QueryNorm, layer, norm, query_width)?;
        let key = builder.norm(Role::KeyNorm, layer, norm, key_width)?;
        Ok((Some(query), Some(key)))
    }

    /// Floats of scratch for each token: queries and the attention's result.
    #[must_use]
    pub fn scratch_floats(&self) -> usize {
        2 * self.wide()
    }

    fn wide(&self) -> usize {
        self.heads * self.head_dim
    }

    fn narrow(&self) -> usize {
        self.kv_heads * self.head_dim
    }
}

impl LoadedGqa {
    /// Writes the attention's output for `x` (`[tokens, hidden]`) to `dst` (same shape) and the new keys and values to
    /// the cache at their positions.
    pub fn forward(&self, step: &mut Step<'_>, dst: Span, x: Span) {
        let start = step.phases.start();
        let (tokens, wide, narrow) = (step.tokens, self.spec.wide(), self.spec.narrow());
        let first = step.positions[0] as usize;
        let query = step.scratch.wide.part(0, tokens * wide);
        let mixed = step.scratch.wide.part(tokens * wide, tokens * wide);
        let key = self.key_cache.part(first * narrow, tokens * narrow);
        let value = self.value_cache.part(first * narrow, tokens * narrow);
        step.device.matmul(query, &self.query.matrix(), x, tokens);
        step.device.matmul(key, &self.key.matrix(), x, tokens);
        step.device.matmul(value, &self.value.matrix(), x, tokens);
        self.shape(step, query, key, value);
        step.device.attention(&Attention {
            dst: mixed,
            q: query,
            k: self.key_cache,
            v: self.value_cache,
            heads: self.spec.heads,
            kv_heads: self.spec.kv_heads,
            head_dim: self.spec.head_dim,
            value_dim: self.spec.head_dim,
            positions: step.positions,
            scale: self.spec.scale,
            window: self.spec.window,
            softcap: None,
            kv_capacity: self.context,
        });
        step.device.matmul(dst, &self.output.matrix(), mixed, tokens);
        step.phases.stop(Phase::Mixer, start);
    }

    /// Norms, clipping and rotation of the fresh projections.
    fn shape(&self, step: &mut Step<'_>, query: Span, key: Span, value: Span) {
        if let Some(norm) = self.query_norm {
            norm.forward(step.device, query, query);
        }
        if let Some(norm) = self.key_norm {
            norm.forward(step.device, key, key);
        }
        if let Some(bound) = self.spec.clip {
            for span in [query, key, value] {
                step.device.clamp(span, bound);
            }
        }
        let Gqa { heads, kv_heads, head_dim, rope, .. } = &self.spec;
        for (span, heads) in [(query, *heads), (key, *kv_heads)] {
            step.device.rope(
                span,
                self.rope_table,
                step.positions,
                heads,
                *head_dim,
                rope.rotary,
                rope.style,
            );
        }
    }
}
