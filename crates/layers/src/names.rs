//! How a checkpoint spells its tensors: a table from role to name, with places for the layer and the expert.

use std::fmt;

use units::{ExpertIdx, LayerIdx};

/// What a tensor is for. One word here, many spellings in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Token embedding, `[vocab, hidden]`.
    Embed,
    /// Norm before the head, `[hidden]`.
    FinalNorm,
    /// Output projection, `[vocab, hidden]`.
    Head,
    /// Norm before the mixer, `[hidden]`.
    MixerNorm,
    /// Norm on the mixer's output, `[hidden]`.
    MixerPostNorm,
    /// Norm before the feed-forward part, `[hidden]`.
    FfnNorm,
    /// Norm on the feed-forward part's output, `[hidden]`.
    FfnPostNorm,
    /// Query projection.
    Query,
    /// Key projection.
    Key,
    /// Value projection.
    Value,
    /// Attention output projection.
    Output,
    /// Norm of the query, per head or over the full width.
    QueryNorm,
    /// Norm of the key, per head or over the full width.
    KeyNorm,
    /// Per-frequency divisors of the rotary embedding, `[rotary / 2]`.
    RopeFactors,
    /// Router, `[experts, hidden]`.
    Router,
    /// Dense gate projection, `[inner, hidden]`.
    Gate,
    /// Dense up projection, `[inner, hidden]`.
    Up,
    /// Dense down projection, `[hidden, inner]`.
    Down,
    /// One expert's gate projection, `[inner, hidden]`.
    ExpertGate,
    /// One expert's up projection, `[inner, hidden]`.
    ExpertUp,
    /// One expert's down projection, `[hidden, inner]`.
    ExpertDown,
    /// All gate projections of a layer, `[experts, inner, hidden]`.
    AllGate,
    /// All up projections of a layer, `[experts, inner, hidden]`.
    AllUp,
    /// All down projections of a layer, `[experts, hidden, inner]`.
    AllDown,
    /// All gate and up projections of a layer, gate rows first, `[experts, 2 * inner, hidden]`.
    AllGateUp,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The spellings of one family in one kind of file. Several spellings of a role are tried in order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Names(Vec<(Role, String)>);

impl Names {
    /// A table from rows of role and template; `{layer}` and `{expert}` stand for the indices.
    #[must_use]
    pub fn new(prefix: &str, rows: &[(Role, &str)]) -> Names {
        Names(rows.iter().map(|(role, template)| (*role, format!("{prefix}{template}"))).collect())
    }

    /// The same table with more rows, which are tried after the present ones.
    #[must_use]
    pub fn with(self, rows: &[(Role, &str)]) -> Names {
        self.with_prefix("", rows)
    }

    /// As [`Names::with`], with a prefix before each template.
    #[must_use]
    pub fn with_prefix(mut self, prefix: &str, rows: &[(Role, &str)]) -> Names {
        self.0.extend(Names::new(prefix, rows).0);
        self
    }

    /// The names to try for `role`, in order.
    pub fn of(&self, role: Role, layer: LayerIdx, expert: ExpertIdx) -> impl Iterator<Item = String> + '_ {
        self.0.iter().filter(move |(known, _)| *known == role).map(move |(_, template)| {
            template.replace("{layer}", &layer.to_string()).replace("{expert}", &expert.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fills_in_the_indices() {
        let names = Names::new("m.", &[(Role::ExpertUp, "{layer}.e.{expert}.up")])
            .with(&[(Role::ExpertUp, "u{expert}")]);
        let found: Vec<_> = names.of(Role::ExpertUp, LayerIdx(3), ExpertIdx(12)).collect();
        assert_eq!(found, ["m.3.e.12.up", "u12"]);
        assert_eq!(names.of(Role::Head, LayerIdx(0), ExpertIdx(0)).count(), 0);
    }
}
