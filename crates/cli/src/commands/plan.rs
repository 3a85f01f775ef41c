//! `coli plan`: everything that is decided before the first token.

use checkpoint::Checkpoint;
use serde_json::Value;
use session::Plan;

use crate::{call::Call, failure::Failure, model::Chosen, output};

/// Prints the plan of a session; loads nothing.
///
/// # Errors
/// The model cannot be opened or does not fit.
pub fn plan(call: &Call<'_>) -> Result<(), Failure> {
    let chosen = Chosen::of(call)?;
    let plan = Plan::new(&Checkpoint::open(&chosen.path)?, &chosen.options)?;
    if call.is_on("json") {
        let value = serde_json::to_value(&plan).unwrap_or(Value::Null);
        return output::json(&value);
    }
    output::rows(&plan.lines())
}
