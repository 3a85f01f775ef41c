//! Points where a forward pass can be watched: the residual stream after each layer.

use units::LayerIdx;

/// Receives intermediate values. Watching changes nothing.
pub trait Taps {
    /// The residual stream after `layer`, `[tokens, hidden]`.
    fn residual(&mut self, layer: LayerIdx, values: &[f32]);
}
