//! Reading experts before anybody asks for them.

use storage::Priority;
use units::{ExpertIdx, ExpertKey, LayerIdx};

use super::{READS_MAX, Store};
use crate::Error;

/// One read in so many may be a prediction, and one slot in so many wait for one; at least one.
const PREDICTED_SHARE: usize = 4;

impl Store {
    /// Begins to read `experts` of `layer` that may be asked for soon, best guesses first, as far as slots and reads can be
    /// spared. Never waits, and takes no slot that the current request needs. A guess that is asked for before it has begun
    /// overtakes the others.
    ///
    /// # Errors
    /// The model has no such expert; nothing is read then.
    pub fn predict(&mut self, layer: LayerIdx, experts: &[ExpertIdx]) -> Result<(), Error> {
        self.know(layer, experts)?;
        // What is demanded comes first: a guess may not take the slot that a demanded expert waits for.
        self.load();
        let class = self.slots.classes()[self.slots.class_of(layer)].len();
        let most = (class.min(READS_MAX) / PREDICTED_SHARE).max(1);
        for &expert in experts {
            let key = ExpertKey { layer, expert };
            if self.guesses >= most || !self.waiting.is_empty() {
                break;
            }
            if self.slots.find(key).is_none() && self.begin(key, Priority::Predicted).is_some() {
                self.guesses += 1;
                self.stats.predicted += 1;
            }
        }
        Ok(())
    }
}
