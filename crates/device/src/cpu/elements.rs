//! Functions of single elements, split anywhere.

use kernels::Table;

use super::share::Share;
use crate::contract::Activation;

/// Elements of a gate that are set aside before its span is overwritten.
const ASIDE: usize = 256;
/// Elements of a piece: a whole number of cache lines.
const PIECE_STEP: usize = 16;

fn each(share: Share<'_>, dst: &mut [f32], change: impl Fn(usize, &mut [f32]) + Sync) {
    let piece = share.piece(dst.len(), PIECE_STEP);
    share.run(dst, piece, |i, part| change(i * piece, part));
}

pub(super) fn add(table: &Table, share: Share<'_>, dst: &mut [f32], x: &[f32]) {
    each(share, dst, |first, part| table.add(part, &x[first..][..part.len()]));
}

pub(super) fn scale(table: &Table, share: Share<'_>, dst: &mut [f32], factor: f32) {
    each(share, dst, |_, part| table.scale(part, factor));
}

pub(super) fn clamp(share: Share<'_>, dst: &mut [f32], bound: f32) {
    each(share, dst, |_, part| part.iter_mut().for_each(|dst| *dst = dst.clamp(-bound, bound)));
}

/// `cap · tanh(value / cap)` for each value.
pub(super) fn softcap(table: &Table, share: Share<'_>, dst: &mut [f32], cap: f32) {
    each(share, dst, |_, part| table.softcap(part, cap));
}

/// `activation(gate) · up`; an operand that is `None` is `dst` itself.
pub(super) fn glu(
    table: &Table,
    share: Share<'_>,
    dst: &mut [f32],
    gate: Option<&[f32]>,
    up: Option<&[f32]>,
    activation: Activation,
) {
    each(share, dst, |first, part| {
        let mut aside = [0.0; ASIDE];
        for (i, dst) in part.chunks_mut(ASIDE).enumerate() {
            let (start, aside) = (first + i * ASIDE, &mut aside[..dst.len()]);
            aside.copy_from_slice(dst);
            let [gate, up] =
                [gate, up].map(|operand| operand.map_or(&*aside, |operand| &operand[start..][..dst.len()]));
            table.glu(dst, gate, up, activation);
        }
    });
}
