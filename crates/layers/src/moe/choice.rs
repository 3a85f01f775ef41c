//! Which tokens chose which experts, turned around: for each expert its tokens. Allocated once, refilled every layer.

use kernels::Table;
use units::ExpertIdx;

use super::Moe;

/// The router's choices for the tokens of one pass.
#[derive(Debug)]
pub struct Choices {
    table: Table,
    scores: Vec<f32>,
    chosen: Vec<(u32, f32)>,
    weights: Vec<f32>,
    /// The experts that any token chose, ascending.
    experts: Vec<ExpertIdx>,
    /// For each expert, where its entries begin in `tokens` and `ranks`; one more than there are experts.
    starts: Vec<u32>,
    tokens: Vec<u32>,
    ranks: Vec<u32>,
}

impl Choices {
    /// Room for `tokens` tokens that choose `active` of `experts` each.
    #[must_use]
    pub fn new(table: Table, tokens: usize, active: usize, experts: usize) -> Choices {
        Choices {
            table,
            scores: vec![0.0; experts],
            chosen: vec![(0, 0.0); tokens * active],
            weights: Vec::with_capacity(tokens * active),
            experts: Vec::with_capacity(experts),
            starts: Vec::with_capacity(experts + 1),
            tokens: vec![0; tokens * active],
            ranks: vec![0; tokens * active],
        }
    }

    /// Bytes that [`Choices::new`] allocates.
    #[must_use]
    pub fn bytes(tokens: usize, active: usize, experts: usize) -> u64 {
        (tokens * active * 20 + experts * 12) as u64
    }

    /// Chooses for every row of `logits` (`[tokens, experts]`).
    pub fn choose(&mut self, moe: &Moe, logits: &[f32]) {
        let tokens = logits.len() / moe.experts;
        let scores = &mut self.scores[..moe.experts];
        for (row, chosen) in logits.chunks_exact(moe.experts).zip(self.chosen.chunks_exact_mut(moe.active)) {
            scores.copy_from_slice(row);
            moe.router.choose(&self.table, scores, chosen);
        }
        self.weights.clear();
        self.weights.extend(self.chosen[..tokens * moe.active].iter().map(|(_, weight)| weight));
        self.turn_around(tokens, moe);
    }

    /// Sorts the choices by expert, stably, by counting.
    fn turn_around(&mut self, tokens: usize, moe: &Moe) {
        self.starts.clear();
        self.starts.resize(moe.experts + 1, 0);
        let chosen = &self.chosen[..tokens * moe.active];
        for (expert, _) in chosen {
            self.starts[*expert as usize + 1] += 1;
        }
        self.experts.clear();
        for expert in 0..moe.experts {
            if self.starts[expert + 1] > 0 {
                self.experts.push(ExpertIdx(expert as u32));
            }
            self.starts[expert + 1] += self.starts[expert];
        }
        for (rank, (expert, _)) in chosen.iter().enumerate() {
            let at = &mut self.starts[*expert as usize];
            self.tokens[*at as usize] = (rank / moe.active) as u32;
            self.ranks[*at as usize] = rank as u32;
            *at += 1;
        }
        // Filling moved every start to its end, which is the next one's start.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    /// The experts that any token chose, ascending.
    #[must_use]
    pub fn experts(&self) -> &[ExpertIdx] {
        &self.experts
    }

    /// The weights by token and rank, `[tokens, active]`.
    #[must_use]
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// The tokens that chose `expert`, and for each its row in `[tokens * active]`, both ascending.
    #[must_use]
    pub fn of(&self, expert: ExpertIdx) -> (&[u32], &[u32]) {
        let range = self.starts[expert.index()] as usize..self.starts[expert.index() + 1] as usize;
        (&self.tokens[range.clone()], &self.ranks[range])
    }
}

#[cfg(test)]
mod tests {
    use super::{super::router::Router, *};
    use device::Activation;

    #[test]
    fn turns_choices_around() {
        let moe = Moe {
            experts: 4,
            active: 2,
            inner: 1,
            activation: Activation::Silu,
            router: Router::SoftmaxRenormalised,
        };
        let mut choices = Choices::new(Table::all()[0], 3, 2, 4);
        // Token 0 chooses 3 then 1, token 1 chooses 1 then 3, token 2 chooses 0 then 1.
        choices.choose(&moe, &[0.0, 1.0, 0.0, 2.0, 0.0, 2.0, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0]);
        assert_eq!(choices.experts(), [ExpertIdx(0), ExpertIdx(1), ExpertIdx(3)]);
        assert_eq!(choices.of(ExpertIdx(0)), (&[2][..], &[4][..]));
        assert_eq!(choices.of(ExpertIdx(1)), (&[0, 1, 2][..], &[1, 2, 5][..]));
        assert_eq!(choices.of(ExpertIdx(2)).0, [0u32; 0]);
        assert_eq!(choices.of(ExpertIdx(3)), (&[0, 1][..], &[0, 3][..]));
        assert_eq!(choices.weights().len(), 6);
    }
}
