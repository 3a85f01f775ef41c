//! A drive that misbehaves on purpose: short reads and errors below every way of reading, decided by a seed.

use std::{
    io,
    sync::atomic::{AtomicU64, Ordering},
};

use units::Rng;

/// How often what happens. The default is a drive without fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mishaps {
    /// One read in so many returns less than was asked for; 0 for none.
    pub short_one_in: u64,
    /// One read in so many is an input/output error; 0 for none.
    pub error_one_in: u64,
    /// The read of this number, counted from 0, is an input/output error.
    pub error_at: Option<u64>,
    /// Decides everything that is not decided by the order of the reads.
    pub seed: u64,
}

/// Mishaps and the count of reads so far. Threads share it, so which of their reads is hit depends on their order.
#[derive(Debug)]
pub(crate) struct Dice {
    mishaps: Mishaps,
    asked: AtomicU64,
    tried: AtomicU64,
}

impl Dice {
    pub(crate) fn new(mishaps: Mishaps) -> Dice {
        Dice { mishaps, asked: AtomicU64::new(0), tried: AtomicU64::new(0) }
    }

    /// A generator for the read of this number.
    fn roll(&self, number: u64) -> Rng {
        let mut rng = Rng::new(self.mishaps.seed ^ number.wrapping_mul(0x9E37_79B9));
        rng.next_u64();
        rng
    }

    /// How many of `wanted` bytes to ask for, in whole grains.
    pub(crate) fn asked(&self, wanted: usize, grain: usize) -> usize {
        let mut rng = self.roll(self.asked.fetch_add(1, Ordering::Relaxed));
        let one_in = self.mishaps.short_one_in;
        let grains = wanted.div_ceil(grain) as u64;
        if one_in == 0 || grains < 2 || rng.below(one_in) > 0 {
            return wanted;
        }
        (1 + rng.below(grains - 1)) as usize * grain
    }

    /// An error in place of the next read, if its turn has come.
    pub(crate) fn error(&self) -> Option<io::Error> {
        let number = self.tried.fetch_add(1, Ordering::Relaxed);
        let one_in = self.mishaps.error_one_in;
        let is_hit =
            self.mishaps.error_at == Some(number) || (one_in > 0 && self.roll(number).below(one_in) == 0);
        // Error number 5 is EIO on every Unix.
        is_hit.then(|| io::Error::from_raw_os_error(5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mishaps_come_as_often_as_asked() {
        let none = Dice::new(Mishaps::default());
        assert!((1..200).all(|len| none.asked(len, 1) == len && none.error().is_none()));
        let dice = Dice::new(Mishaps { short_one_in: 2, error_one_in: 4, error_at: None, seed: 3 });
        let short = (0..1000).filter(|_| dice.asked(8 * 4096, 4096) < 8 * 4096).count();
        let errors = (0..1000).filter(|_| dice.error().is_some()).count();
        assert!((400..600).contains(&short) && (180..320).contains(&errors), "{short}, {errors}");
        let third = Dice::new(Mishaps { error_at: Some(2), ..Mishaps::default() });
        assert_eq!([0, 1, 2, 3].map(|_| third.error().is_some()), [false, false, true, false]);
    }

    #[test]
    fn short_reads_are_whole_grains_and_never_empty() {
        let dice = Dice::new(Mishaps { short_one_in: 1, ..Mishaps::default() });
        for wanted in [1, 4096, 4097, 8192, 100_000] {
            let asked = dice.asked(wanted, 4096);
            assert!(
                asked > 0 && asked <= wanted && (asked == wanted || asked.is_multiple_of(4096)),
                "{asked} of {wanted}"
            );
        }
    }
}
