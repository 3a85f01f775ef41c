//! Where the experts of a layer lie on disk, and where their matrices lie in a block once read.

use std::sync::Arc;

use checkpoint::Tensor;
use quant::{Format, Matrix};
use storage::{Extent, FileId};
use units::{ExpertIdx, LayerIdx};

use super::Moe;
use crate::{bind::Binder, error::Error, names::Role, weight::Stored};

/// The experts of one layer.
#[derive(Debug)]
pub struct LayerExperts {
    gate: Form,
    up: Form,
    down: Form,
    extents: Vec<Arc<[Extent]>>,
    places: Vec<Places>,
    block_bytes: usize,
}

/// What all experts of a layer have in common for one projection.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Form {
    format: Format,
    rows: usize,
    cols: usize,
    weight_bytes: usize,
    scale_bytes: usize,
}

/// Where the pieces of one expert begin in its block: gate, up, down weights, then their scales.
type Places = [u32; 6];

/// The three matrices of one expert.
#[derive(Debug)]
pub struct ExpertMatrices<'a> {
    /// `[inner, hidden]`.
    pub gate: Matrix<'a>,
    /// `[inner, hidden]`.
    pub up: Matrix<'a>,
    /// `[hidden, inner]`.
    pub down: Matrix<'a>,
}

impl LayerExperts {
    /// Finds every expert of `layer`: one tensor an expert and projection, or one tensor for all experts.
    ///
    /// # Errors
    /// A tensor is absent, misshapen, undecodable, or stored unlike its neighbours.
    pub fn bind(binder: &Binder<'_>, layer: LayerIdx, moe: &Moe) -> Result<LayerExperts, Error> {
        let hidden = binder.description.hidden;
        let first = ExpertIdx(0);
        let parts = if let Some(tensor) = binder.find(Role::AllGateUp, layer, first) {
            let both =
                binder.stored(tensor, Role::AllGateUp, layer, &[moe.experts, 2 * moe.inner, hidden])?;
            [
                Part::half(&both, moe, 0),
                Part::half(&both, moe, 1),
                Part::whole(binder, Role::AllDown, layer, moe, hidden, moe.inner)?,
            ]
        } else if binder.find(Role::AllGate, layer, first).is_some() {
            [
                Part::whole(binder, Role::AllGate, layer, moe, moe.inner, hidden)?,
                Part::whole(binder, Role::AllUp, layer, moe, moe.inner, hidden)?,
                Part::whole(binder, Role::AllDown, layer, moe, hidden, moe.inner)?,
            ]
        } else {
            [
                Part::each(binder, Role::ExpertGate, layer, moe, moe.inner, hidden)?,
                Part::each(binder, Role::ExpertUp, layer, moe, moe.inner, hidden)?,
                Part::each(binder, Role::ExpertDown, layer, moe, hidden, moe.inner)?,
            ]
        };
        Ok(LayerExperts::place(&parts, moe.experts))
    }

    fn place(parts: &[Part; 3], experts: usize) -> LayerExperts {
        let mut extents = Vec::with_capacity(experts);
        let mut places = Vec::with_capacity(experts);
        let mut block_bytes = 0;
        for expert in 0..experts {
            let weights = parts.iter().map(|part| part.weights[expert]);
            let scales = parts.iter().filter_map(|part| part.scales.get(expert).copied());
            let wanted: Vec<_> = weights.chain(scales).collect();
            let placed = storage::place(&wanted);
            let mut at = Places::default();
            let mut next = placed.at.iter().copied();
            for (index, place) in at.iter_mut().enumerate() {
                if index < 3 || !parts[index - 3].scales.is_empty() {
                    *place = next.next().expect("a place for every wanted extent");
                }
            }
            block_bytes = block_bytes.max(placed.block_bytes);
            extents.push(placed.extents);
            places.push(at);
        }
        let [gate, up, down] = parts.each_ref().map(|part| part.form);
        LayerExperts { gate, up, down, extents, places, block_bytes }
    }

    /// The reads that bring each expert, by index.
    #[must_use]
    pub fn extents(&self) -> &[Arc<[Extent]>] {
        &self.extents
    }

    /// Bytes of a block that holds any expert of this layer.
    #[must_use]
    pub fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    /// Bytes of one expert's weights and scales, without padding.
    #[must_use]
    pub fn expert_bytes(&self) -> u64 {
        [self.gate, self.up, self.down].iter().map(|form| (form.weight_bytes + form.scale_bytes) as u64).sum()
    }

    /// The stored formats of gate, up and down.
    #[must_use]
    pub fn formats(&self) -> [Format; 3] {
        [self.gate.format, self.up.format, self.down.format]
    }

    /// The matrices of `expert` inside its block.
    #[must_use]
    pub fn matrices<'a>(&self, expert: ExpertIdx, block: &'a [u8]) -> ExpertMatrices<'a> {
        let at = &self.places[expert.index()];
        ExpertMatrices {
            gate: self.gate.matrix(block, at[0], at[3]),
            up: self.up.matrix(block, at[1], at[4]),
            down: self.down.matrix(block, at[2], at[5]),
        }
    }
}

impl Form {
    fn matrix(self, block: &[u8], at: u32, scales_at: u32) -> Matrix<'_> {
        let weights = &block[at as usize..at as usize + self.weight_bytes];
        let scales = match self.scale_bytes {
            0 => &[][..],
            bytes => &block[scales_at as usize..scales_at as usize + bytes],
        };
        Matrix::new(self.format, self.rows, self.cols, weights, scales)
            .expect("lengths were checked against the format when the expert was bound")
    }
}

/// A range of bytes of a file: file, offset, length.
type Piece = (FileId, u64, u64);

/// One projection of all experts of a layer.
struct Part {
    form: Form,
    weights: Vec<Piece>,
    /// Empty for formats without side scales.
    scales: Vec<Piece>,
}

impl Part {
    /// One tensor `[experts, rows, cols]`.
    fn whole(
        binder: &Binder<'_>,
        role: Role,
        layer: LayerIdx,
        moe: &Moe,
        rows: usize,
        cols: usize,
    ) -> Result<Part, Error> {
        let tensor = binder.need(role, layer, ExpertIdx(0))?;
        let stored = binder.stored(tensor, role, layer, &[moe.experts, rows, cols])?;
        Ok(Part::slices(&stored, moe.experts, 1, 0))
    }

    /// The gate (0) or up (1) rows of one tensor `[experts, 2 * inner, hidden]`.
    fn half(both: &Stored, moe: &Moe, which: usize) -> Part {
        Part::slices(both, moe.experts, 2, which)
    }

    /// Part `which` of `parts` equal parts of every expert in a tensor of all experts.
    fn slices(stored: &Stored, experts: usize, parts: usize, which: usize) -> Part {
        let count = experts * parts;
        let cut = |tensor: &Tensor| -> Vec<Piece> {
            let bytes = tensor.len_bytes / count as u64;
            let at = |expert| tensor.offset_bytes + (expert * parts + which) as u64 * bytes;
            (0..experts).map(|expert| (FileId(tensor.file.0), at(expert), bytes)).collect()
        };
        let weights = cut(&stored.tensor);
        let scales = stored.scales.as_ref().map(cut).unwrap_or_default();
        let form = Form {
            format: stored.format,
            rows: stored.rows / count,
            cols: stored.cols,
            weight_bytes: stored.tensor.len_bytes as usize / count,
            scale_bytes: stored.scales.as_ref().map_or(0, |scales| scales.len_bytes as usize / count),
        };
        Part { form, weights, scales }
    }

    /// One tensor `[rows, cols]` for every expert.
    fn each(
        binder: &Binder<'_>,
        role: Role,
        layer: LayerIdx,
        moe: &Moe,
        rows: usize,
        cols: usize,
    ) -> Result<Part, Error> {
        let mut part: Option<Part> = None;
        for expert in 0..moe.experts {
            let stored = binder.matrix(role, layer, ExpertIdx(expert as u32), rows, cols)?;
            let mut one = Part::slices(&stored, 1, 1, 0);
            match &mut part {
                None => part = Some(one),
                Some(part) if part.form == one.form => {
                    part.weights.append(&mut one.weights);
                    part.scales.append(&mut one.scales);
                }
                Some(part) => {
                    return Err(Error::MixedExperts {
                        file: binder.file(&stored.tensor),
                        tensor: stored.tensor.name.clone(),
                        found: stored.format.name().to_string(),
                        needed: part.form.format.name().to_string(),
                    });
                }
            }
        }
        Ok(part.expect("a mixture has at least one expert"))
    }
}
