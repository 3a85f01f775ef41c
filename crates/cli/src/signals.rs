//! Ctrl-C and its relatives: the first stops the answer that is being given, the second the program.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

use crate::failure::Failure;

/// Listens for signals from when it is made to the end of the process.
///
/// Outside of an answer nothing is worth keeping, so there a signal ends the process at once. What a conversion has
/// finished is safe on the drive at any moment.
#[derive(Clone, Debug)]
pub struct Signals {
    cancel: Arc<AtomicBool>,
    at_once: Arc<AtomicBool>,
    seen: Arc<AtomicUsize>,
}

impl Signals {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses.
    pub fn listen() -> Result<Signals, Failure> {
        let signals = Signals {
            cancel: Arc::new(AtomicBool::new(false)),
            at_once: Arc::new(AtomicBool::new(true)),
            seen: Arc::new(AtomicUsize::new(0)),
        };
        for signal in [SIGINT, SIGTERM] {
            signals
                .handle(signal)
                .map_err(|source| Failure::Io { object: "signal handler".to_string(), source })?;
        }
        Ok(signals)
    }

    /// The order matters: the second signal finds what the first has left.
    fn handle(&self, signal: i32) -> io::Result<()> {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&self.at_once))?;
        flag::register(signal, Arc::clone(&self.at_once))?;
        flag::register_usize(signal, Arc::clone(&self.seen), signal as usize)?;
        flag::register(signal, Arc::clone(&self.cancel))?;
        Ok(())
    }

    /// From here on a first signal raises [`Signals::cancel`] instead of ending the process.
    pub fn begin(&self) {
        self.seen.store(0, Ordering::Relaxed);
        self.cancel.store(false, Ordering::Relaxed);
        self.at_once.store(false, Ordering::Relaxed);
    }

    /// From here on a signal ends the process again. Returns the signal that came since [`Signals::begin`].
    pub fn end(&self) -> Option<u8> {
        self.at_once.store(true, Ordering::Relaxed);
        u8::try_from(self.seen.swap(0, Ordering::Relaxed)).ok().filter(|signal| *signal != 0)
    }

    /// Raised when the answer should stop.
    pub fn cancel(&self) -> &AtomicBool {
        &self.cancel
    }
}

/// The signal of Ctrl-C.
pub const INTERRUPT: u8 = SIGINT as u8;
