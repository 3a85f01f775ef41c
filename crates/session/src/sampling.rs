//! From logits to a token. Greedy takes the highest logit, the lowest index among equals; otherwise a seeded draw from
//! what temperature, top-k, top-p and min-p leave.

use kernels::math;
use units::Rng;

/// How tokens are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Divides the logits; 0 is greedy.
    pub temperature: f32,
    /// Only so many of the likeliest tokens; 0 for all.
    pub top_k: usize,
    /// Only the likeliest tokens whose probabilities add up to this; 1 for all (Holtzman et al., 2020).
    pub top_p: f32,
    /// Only tokens at least so likely as this share of the likeliest; 0 for all (Nguyen et al., 2024).
    pub min_p: f32,
    /// Decides every draw.
    pub seed: u64,
}

impl Sampling {
    /// Always the likeliest token.
    #[must_use]
    pub fn greedy() -> Sampling {
        Sampling { temperature: 0.0, top_k: 0, top_p: 1.0, min_p: 0.0, seed: 0 }
    }
}

/// Draws tokens; its buffers are allocated once.
#[derive(Debug)]
pub struct Sampler {
    sampling: Sampling,
    rng: Rng,
    candidates: Vec<(u32, f32)>,
}

impl Sampler {
    /// A sampler for logits of `vocab` tokens.
    #[must_use]
    pub fn new(sampling: Sampling, vocab: usize) -> Sampler {
        let room = if sampling.temperature > 0.0 { vocab } else { 0 };
        Sampler { sampling, rng: Rng::new(sampling.seed), candidates: Vec::with_capacity(room) }
    }

    /// The next token after `logits` (`[vocab]`).
    pub fn next(&mut self, logits: &[f32]) -> u32 {
        if self.sampling.temperature <= 0.0 {
            return argmax(logits);
        }
        self.candidates.clear();
        self.candidates.extend(logits.iter().enumerate().map(|(id, logit)| (id as u32, *logit)));
        // Descending by logit, ascending by id among equals: a total order, so every machine sorts alike.
        self.candidates.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        if self.sampling.top_k > 0 {
            self.candidates.truncate(self.sampling.top_k);
        }
        let best = self.candidates.first().map_or(0.0, |(_, logit)| *logit);
        for (_, value) in &mut self.candidates {
            *value = math::exp((*value - best) / self.sampling.temperature);
        }
        self.cut();
        self.draw()
    }

    /// Applies min-p, then top-p. The first candidate has weight 1 and always stays.
    fn cut(&mut self) {
        let least = self.sampling.min_p;
        let kept = self.candidates.iter().take_while(|(_, weight)| *weight >= least).count();
        self.candidates.truncate(kept.max(1));
        if self.sampling.top_p < 1.0 {
            let wanted = f64::from(self.sampling.top_p) * self.sum();
            let mut seen = 0.0;
            let below = self.candidates.iter().take_while(|(_, weight)| {
                let more = seen < wanted;
                seen += f64::from(*weight);
                more
            });
            let kept = below.count();
            self.candidates.truncate(kept.max(1));
        }
    }

    fn draw(&mut self) -> u32 {
        let mut left = self.rng.next_f64() * self.sum();
        for (id, weight) in &self.candidates {
            left -= f64::from(*weight);
            if left < 0.0 {
                return *id;
            }
        }
        self.candidates.last().map_or(0, |(id, _)| *id)
    }

    fn sum(&self) -> f64 {
        self.candidates.iter().map(|(_, weight)| f64::from(*weight)).sum()
    }
}

/// The index of the highest logit, the lowest among equals.
#[must_use]
pub fn argmax(logits: &[f32]) -> u32 {
    let mut best = (0, f32::NEG_INFINITY);
    for (id, &logit) in logits.iter().enumerate() {
        if logit > best.1 {
            best = (id, logit);
        }
    }
    best.0 as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each of four tokens is drawn in 4,000 draws.
    fn counts(sampling: Sampling) -> [usize; 4] {
        let logits = [8f32.ln(), 4f32.ln(), 2f32.ln(), 2f32.ln()];
        let mut sampler = Sampler::new(sampling, 4);
        let mut counts = [0; 4];
        (0..4000).for_each(|_| counts[sampler.next(&logits) as usize] += 1);
        counts
    }

    fn check(sampling: Sampling, expected: [f64; 4]) {
        for (count, share) in counts(sampling).into_iter().zip(expected) {
            assert!(
                (count as f64 / 4000.0 - share).abs() < 0.03,
                "{sampling:?}: {count} of 4000, expected {share}"
            );
        }
    }

    const ALL: Sampling = Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, seed: 3 };

    #[test]
    fn draws_follow_the_probabilities() {
        check(ALL, [0.5, 0.25, 0.125, 0.125]);
        check(Sampling { temperature: 0.5, ..ALL }, [64.0 / 88.0, 16.0 / 88.0, 4.0 / 88.0, 4.0 / 88.0]);
        check(Sampling { top_k: 2, ..ALL }, [2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0]);
        check(Sampling { top_p: 0.7, ..ALL }, [2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0]);
        check(Sampling { min_p: 0.3, ..ALL }, [2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0]);
        check(Sampling { top_p: 0.0, ..ALL }, [1.0, 0.0, 0.0, 0.0]);
        check(Sampling::greedy(), [1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_seed_decides_everything() {
        assert_eq!(counts(ALL), counts(ALL));
        assert_ne!(counts(ALL), counts(Sampling { seed: 4, ..ALL }));
    }

    #[test]
    fn the_lowest_index_wins_a_tie() {
        assert_eq!(argmax(&[1.0, 3.0, 3.0, f32::NAN]), 1);
        assert_eq!(argmax(&[f32::NAN, f32::NAN]), 0);
    }
}
