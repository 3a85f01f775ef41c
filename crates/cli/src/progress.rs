//! Bars for what takes long, on standard error and only where somebody watches.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// What is quicker than this needs no bar.
const PATIENCE: Duration = Duration::from_millis(400);

const BYTES: &str = "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}";
const TOKENS: &str = "{msg} {wide_bar} {pos} of {len} tokens";

/// A bar that appears when its task turns out to be long.
pub struct Bar {
    template: &'static str,
    begin: Instant,
    bar: Option<ProgressBar>,
}

impl Bar {
    /// A bar that counts bytes.
    pub fn bytes() -> Bar {
        Bar { template: BYTES, begin: Instant::now(), bar: None }
    }

    /// A bar that counts tokens.
    pub fn tokens() -> Bar {
        Bar { template: TOKENS, begin: Instant::now(), bar: None }
    }

    /// Shows that `done` of `total` is done.
    pub fn show(&mut self, what: &str, done: u64, total: u64) {
        if self.bar.is_none() && (self.begin.elapsed() < PATIENCE || !output::is_watched()) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| new_bar(self.template));
        if bar.message() != what {
            bar.set_message(what.to_string());
        }
        bar.set_length(total);
        bar.set_position(done);
    }

    /// Takes the bar away.
    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}
