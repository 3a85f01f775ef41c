//! Phases of a step. Every microsecond belongs to one of them; what nobody claims is `unaccounted`.

use std::{collections::BTreeMap, time::Instant};

use serde::{Serialize, Serializer};

macro_rules! phases {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?) => {
        /// What a step is doing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Phase { $($(#[$doc])* $variant),* }

        impl Phase {
            /// Every phase, in the order of a step.
            pub const ALL: &[Phase] = &[$(Phase::$variant),*];

            /// The name in statistics and metrics.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Phase::$variant => $name),* }
            }
        }
    };
}

phases! {
    /// Looking tokens up.
    Embed = "embed",
    /// Norms and additions to the residual stream.
    Norm = "norm",
    /// Attention and other mixers.
    Mixer = "mixer",
    /// Choosing experts.
    Router = "router",
    /// Waiting for experts that are still being read.
    WaitStorage = "wait_storage",
    /// Computing experts.
    Experts = "experts",
    /// Feed-forward parts without experts.
    DenseFfn = "dense_ffn",
    /// Logits.
    Head = "head",
    /// Drawing a token.
    Sample = "sample",
}

/// A phase is written as its name.
impl Serialize for Phase {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// The name of the time that no phase claims.
pub const UNACCOUNTED: &str = "unaccounted";

/// When a piece of work began.
#[derive(Clone, Copy, Debug)]
pub struct Start(Instant);

/// Time by phase. Adding to it allocates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    nanos: [u64; Phase::ALL.len()],
}

impl Phases {
    /// Begins a piece of work.
    #[must_use]
    pub fn start(&self) -> Start {
        Start(Instant::now())
    }

    /// Adds the time since `start` to `phase`.
    pub fn stop(&mut self, phase: Phase, start: Start) {
        let nanos = u64::try_from(start.0.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let sum = &mut self.nanos[phase as usize];
        *sum = sum.saturating_add(nanos);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.nanos = Default::default();
    }

    /// Microseconds of one phase.
    #[must_use]
    pub fn us(&self, phase: Phase) -> u64 {
        self.nanos[phase as usize] / 1000
    }

    /// Microseconds by name; the phases and `unaccounted` add up to `wall_us` unless the phases alone exceed it.
    #[must_use]
    pub fn report(&self, wall_us: u64) -> BTreeMap<&'static str, u64> {
        let mut report: BTreeMap<&'static str, u64> =
            Phase::ALL.iter().map(|phase| (phase.name(), self.us(*phase))).collect();
        let claimed: u64 = report.values().sum();
        report.insert(UNACCOUNTED, wall_us.saturating_sub(claimed));
        report
    }
}

/// Written as microseconds by name, in the order of a step.
impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Phase::ALL.iter().map(|phase| (phase, self.us(*phase))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_adds_up_to_the_wall_time() {
        let mut phases = Phases::default();
        phases.nanos[Phase::Experts as usize] = 3_000_999;
        phases.nanos[Phase::Embed as usize] = 500;
        let report = phases.report(10_000);
        assert_eq!((report["experts"], report["embed"], report["unaccounted"]), (3000, 0, 7000));
        assert_eq!(report.values().sum::<u64>(), 10_000);
        assert_eq!(phases.report(1)["unaccounted"], 0);
        phases.clear();
        assert_eq!(phases, Phases::default());
    }

    #[test]
    fn phases_are_written_by_name() {
        let mut phases = Phases::default();
        phases.nanos[Phase::WaitStorage as usize] = 7_000;
        let text = serde_json::to_string(&phases).expect("numbers by name");
        assert!(text.starts_with("{\"embed\":0,") && text.contains("\"wait_storage\":7,"), "{text}");
    }

    #[test]
    fn work_is_added_to_its_phase_alone() {
        let mut phases = Phases::default();
        let start = phases.start();
        while start.0.elapsed().as_nanos() < 2000 {}
        phases.stop(Phase::Router, start);
        assert!(phases.nanos[Phase::Router as usize] >= 2000);
        assert_eq!(phases.nanos.iter().filter(|nanos| **nanos > 0).count(), 1);
    }
}
