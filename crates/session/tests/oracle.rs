//! Every fixture against its reference: tap by tap, then logits, then greedy tokens.

mod support;

use layers::taps::Taps;
use session::Session;
use support::{Reference, continue_greedily, fixtures, open, options};
use units::LayerIdx;

/// Largest difference of a tap, relative to its largest value.
const TAP_RELATIVE: f32 = 1e-4;
/// Largest difference of a logit.
const LOGIT_ABSOLUTE: f32 = 3e-4;

/// Remembers the residual stream after each layer.
#[derive(Default)]
struct Recorded(Vec<Vec<f32>>);

impl Taps for Recorded {
    fn residual(&mut self, layer: LayerIdx, values: &[f32]) {
        assert_eq!(layer.index(), self.0.len(), "layers report in order");
        self.0.push(values.to_vec());
    }
}

/// Largest absolute difference, and the largest magnitude of the reference.
fn difference(found: &[f32], reference: &[f32]) -> (f32, f32) {
    assert_eq!(found.len(), reference.len(), "as many values as the reference");
    let apart = found.iter().zip(reference).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    (apart, reference.iter().fold(0.0, |max, value| max.max(value.abs())))
}

/// The first tap that leaves the reference, with the figures; `None` if all agree.
fn first_divergence(taps: &Recorded, reference: &Reference) -> Option<String> {
    taps.0.iter().enumerate().find_map(|(layer, values)| {
        let name = format!("hidden.{layer}");
        let (apart, scale) = difference(values, reference.optional(&name)?);
        let relative = apart / scale;
        (relative.is_nan() || relative > TAP_RELATIVE)
            .then(|| format!("{name}: {apart} of {scale}, relative {relative}"))
    })
}

fn logits(session: &mut Session, rows: usize) -> Vec<f32> {
    (0..rows).flat_map(|row| session.logits_of(row).to_vec()).collect()
}

#[test]
fn every_fixture_agrees_with_its_reference() {
    for fixture in fixtures() {
        let name = fixture.checkpoint.display().to_string();
        let reference = fixture.reference();
        let prompt = reference.ids("input_ids");
        let mut session = open(&fixture.checkpoint, &options());
        let mut taps = Recorded::default();
        session.forward(&prompt, Some(&mut taps)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(first_divergence(&taps, &reference), None, "{name}: the first tap that diverges");
        let (apart, _) = difference(&logits(&mut session, prompt.len()), reference.values("logits"));
        assert!(apart <= LOGIT_ABSOLUTE, "{name}: logits are {apart} from the reference");
        session.reset();
        let expected = reference.ids("greedy_ids");
        assert_eq!(continue_greedily(&mut session, &prompt, expected.len()), expected, "{name}");
        println!(
            "{name}: {} taps, logits within {apart:.1e}, {} greedy tokens",
            taps.0.len(),
            expected.len()
        );
    }
}

#[test]
fn scoring_agrees_with_the_reference() {
    for fixture in fixtures() {
        let reference = fixture.reference();
        let ids = reference.ids("input_ids");
        let mut session = open(&fixture.checkpoint, &options());
        let vocab = session.vocab();
        let scored = session.score(&ids, 5).expect("a score");
        assert_eq!(scored.len(), ids.len());
        for (position, (scored, row)) in
            scored.iter().zip(reference.values("logits").chunks_exact(vocab)).enumerate()
        {
            assert_eq!(scored.top.len(), 5);
            for (id, logit) in &scored.top {
                assert!(
                    (row[*id as usize] - logit).abs() <= LOGIT_ABSOLUTE,
                    "position {position}, token {id}"
                );
            }
            let expected = ids.get(position + 1).map(|next| {
                let max = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f64 = row.iter().map(|logit| f64::from(logit - max).exp()).sum();
                f64::from(row[*next as usize] - max) - sum.ln()
            });
            match (scored.next_logprob, expected) {
                (Some(found), Some(expected)) => {
                    assert!((found - expected).abs() < 1e-3, "position {position}")
                }
                (found, expected) => assert_eq!(found, expected, "position {position}"),
            }
        }
    }
}
