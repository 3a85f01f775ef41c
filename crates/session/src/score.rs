//! Teacher-forced scoring: what the model would have said after each of the given tokens.

use kernels::math;

use crate::{Error, Session};

/// One position of a scored text.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The token at this position.
    pub id: u32,
    /// The likeliest next tokens with their logits, best first, the lower id first among equals.
    pub top: Vec<(u32, f32)>,
    /// Natural logarithm of the probability of the token that does follow; none at the end.
    pub next_logprob: Option<f64>,
}

impl Session {
    /// Runs `ids` from an empty state and reports the `top` next tokens after each.
    ///
    /// # Errors
    /// The text is empty, longer than the context, holds a token outside the vocabulary, or an expert cannot be read.
    pub fn score(&mut self, ids: &[u32], top: usize) -> Result<Vec<Scored>, Error> {
        self.reset();
        self.check(ids)?;
        let mut scored = Vec::with_capacity(ids.len());
        let chunk = self.plan().chunk_tokens;
        for (index, part) in ids.chunks(chunk).enumerate() {
            self.forward(part, None)?;
            for row in 0..part.len() {
                let at = index * chunk + row;
                let next = ids.get(at + 1).copied();
                let logits = self.logits_of(row);
                scored.push(Scored {
                    id: ids[at],
                    top: best(logits, top),
                    next_logprob: next.map(|id| logprob(logits, id)),
                });
            }
        }
        Ok(scored)
    }
}

/// The `count` highest logits, best first, the lower id first among equals.
fn best(logits: &[f32], count: usize) -> Vec<(u32, f32)> {
    let mut order: Vec<u32> = (0..logits.len() as u32).collect();
    let by_logit = |a: &u32, b: &u32| logits[*b as usize].total_cmp(&logits[*a as usize]).then(a.cmp(b));
    let count = count.min(order.len());
    if count > 0 && count < order.len() {
        order.select_nth_unstable_by(count - 1, by_logit);
    }
    order.truncate(count);
    order.sort_unstable_by(by_logit);
    order.into_iter().map(|id| (id, logits[id as usize])).collect()
}

/// `logit − ln Σ exp(logits)`, sums in f64 in index order.
fn logprob(logits: &[f32], id: u32) -> f64 {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from(math::exp(logit - max))).sum();
    f64::from(logits[id as usize] - max) - math::ln_f64(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first_and_ties_by_index() {
        let logits = [1.0, 5.0, 5.0, -2.0, 7.0];
        assert_eq!(best(&logits, 3), [(4, 7.0), (1, 5.0), (2, 5.0)]);
        assert_eq!(best(&logits, 9).len(), 5);
        assert_eq!(best(&logits, 0), []);
    }

    #[test]
    fn probabilities_are_those_of_the_softmax() {
        // ln(8 / 16) and ln(2 / 16)
        let logits = [8f32.ln(), 4f32.ln(), 2f32.ln(), 2f32.ln()];
        assert!((logprob(&logits, 0) - 0.5f64.ln()).abs() < 1e-6);
        assert!((logprob(&logits, 3) - 0.125f64.ln()).abs() < 1e-6);
    }
}
