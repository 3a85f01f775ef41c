//! The rules by which experts are chosen. Scores are f32; ties go to the lowest index.

use kernels::{Table, math};

/// How router logits become experts and weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Router {
    /// Softmax over all experts; the chosen keep their probabilities.
    Softmax,
    /// Softmax over all experts; the probabilities of the chosen are divided by their sum.
    SoftmaxRenormalised,
}

impl Router {
    /// The `active` experts of one token, best first, as `(expert, weight)`.
    ///
    /// `logits`: `[experts]`, overwritten with scores. A tie goes to the lower index.
    ///
    /// # Panics
    /// If `chosen` is longer than `logits`.
    pub fn choose(self, table: &Table, logits: &mut [f32], chosen: &mut [(u32, f32)]) {
        assert!(chosen.len() <= logits.len(), "{} of {} experts", chosen.len(), logits.len());
        softmax(table, logits);
        top(logits, chosen);
        if self == Router::SoftmaxRenormalised {
            let sum = chosen.iter().fold(0.0, |sum, (_, weight)| sum + weight);
            chosen.iter_mut().for_each(|(_, weight)| *weight /= sum);
        }
    }
}

/// `exp(x - max) / Σ exp(x - max)`, in place, sums in the canonical order.
fn softmax(table: &Table, values: &mut [f32]) {
    let max = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    values.iter_mut().for_each(|value| *value = math::exp(*value - max));
    let sum = table.sum(values);
    values.iter_mut().for_each(|value| *value /= sum);
}

/// The highest scores, best first; a later one displaces an earlier one only if it is greater.
fn top(scores: &[f32], chosen: &mut [(u32, f32)]) {
    let mut filled = 0;
    for (expert, &score) in scores.iter().enumerate() {
        let at = chosen[..filled].partition_point(|&(_, other)| other >= score);
        if at == chosen.len() {
            continue;
        }
        filled = (filled + 1).min(chosen.len());
        chosen[at..filled].rotate_right(1);
        chosen[at] = (expert as u32, score);
    }
    // Scores that compare with nothing (not a number) leave gaps; they are filled so that the result is defined.
    for (rank, slot) in chosen.iter_mut().enumerate().skip(filled) {
        *slot = (rank as u32, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(router: Router, logits: &[f32], expected: &[(u32, f32)]) {
        let mut logits = logits.to_vec();
        let mut chosen = vec![(0, 0.0); expected.len()];
        for table in Table::all() {
            router.choose(&table, &mut logits.clone(), &mut chosen);
            for (found, wanted) in chosen.iter().zip(expected) {
                assert_eq!(found.0, wanted.0, "{chosen:?}");
                assert!((found.1 - wanted.1).abs() < 1e-6, "{chosen:?}");
            }
        }
        logits.clear();
    }

    #[test]
    fn softmax_keeps_or_renormalises() {
        // softmax(1, 3, 2) = (0.0900, 0.6652, 0.2447)
        check(Router::Softmax, &[1.0, 3.0, 2.0], &[(1, 0.665_240_96), (2, 0.244_728_47)]);
        check(Router::SoftmaxRenormalised, &[1.0, 3.0, 2.0], &[(1, 0.731_058_6), (2, 0.268_941_43)]);
    }

    #[test]
    fn a_tie_goes_to_the_lower_index() {
        check(Router::SoftmaxRenormalised, &[0.0, 0.0, 0.0], &[(0, 0.5), (1, 0.5)]);
        check(Router::SoftmaxRenormalised, &[0.0, 5.0, 5.0, 5.0], &[(1, 0.5), (2, 0.5)]);
    }

    #[test]
    fn scores_that_are_not_numbers_do_not_panic() {
        let mut chosen = [(0, 0.0); 2];
        Router::Softmax.choose(&Table::all()[0], &mut [f32::NAN, 1.0, f32::INFINITY], &mut chosen);
        assert!(chosen.iter().all(|(expert, _)| *expert < 3));
    }
}
