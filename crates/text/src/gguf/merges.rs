//! Merges of a vocabulary that has scores instead.

use std::collections::HashMap;

use serde_json::{Value, json};

/// The merges that join what the scores would join: every way to cut a token in two tokens, the best result first; of
/// equal ones, first whose parts come first in the vocabulary.
pub fn from_scores(tokens: &[String], scores: &[f32]) -> Value {
    let ids: HashMap<&str, usize> =
        tokens.iter().enumerate().map(|(id, token)| (token.as_str(), id)).collect();
    let mut order: Vec<usize> = (0..tokens.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut merges = Vec::new();
    for id in order {
        let token = tokens[id].as_str();
        let halves = token.char_indices().skip(1).map(|(at, _)| token.split_at(at));
        let mut pairs: Vec<_> =
            halves.filter_map(|(a, b)| Some((*ids.get(a)?, *ids.get(b)?, a, b))).collect();
        pairs.sort_unstable();
        merges.extend(pairs.into_iter().map(|(_, _, a, b)| json!([a, b])));
    }
    Value::Array(merges)
}
