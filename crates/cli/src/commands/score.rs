//! `coli score`: teacher-forced logits.

use serde_json::{Value, json};
use session::{Scored, Session};

use crate::{call::Call, failure::Failure, model::Chosen, output};

/// Scores the tokens of `--ids`.
///
/// # Errors
/// The model cannot be opened, or the tokens are not a text of it.
pub fn score(call: &Call<'_>) -> Result<(), Failure> {
    let ids = call.ids()?.unwrap_or_default();
    let top = call.matches.get_one::<usize>("top").copied().unwrap_or(5);
    let mut session = Chosen::of(call)?.open()?;
    let positions = session.score(&ids, top)?;
    if call.is_on("json") {
        return output::json(&json!({
            "model": session.plan().model,
            "positions": positions.iter().map(position).collect::<Vec<_>>(),
        }));
    }
    output::line("position  id  logprob of the next  likeliest next (logit)")?;
    positions.iter().enumerate().try_for_each(|(at, scored)| output::line(&row(&session, at, scored)))
}

fn position(scored: &Scored) -> Value {
    let top: Vec<Value> = scored.top.iter().map(|(id, logit)| json!({"id": id, "logit": logit})).collect();
    json!({"id": scored.id, "top": top, "next_logprob": scored.next_logprob})
}

fn row(session: &Session, at: usize, scored: &Scored) -> String {
    let word = |id: u32| match session.text() {
        Ok(text) => format!("{:?}", String::from_utf8_lossy(&text.tokenizer().token_bytes(id))),
        Err(_) => id.to_string(),
    };
    let top: Vec<String> =
        scored.top.iter().map(|(id, logit)| format!("{} ({logit:.3})", word(*id))).collect();
    let logprob = scored.next_logprob.map_or_else(|| "-".to_string(), |logprob| format!("{logprob:.4}"));
    format!("{at:8}  {:>6}  {logprob:>9}  {}", scored.id, top.join(", "))
}
