//! One answer: prefill, then a token at a time until something ends it.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use crate::{
    Error, Sampling, Session, Stats,
    sampling::Sampler,
    stops::{Seen, Stops},
};

/// What is asked of the model.
#[derive(Clone, Debug)]
pub struct Request {
    /// The whole prompt as token ids.
    pub prompt: Vec<u32>,
    /// Most tokens of the answer; up to the end of the context when absent.
    pub max_tokens: Option<usize>,
    /// How tokens are drawn.
    pub sampling: Sampling,
    /// Go on after an end token.
    pub ignore_end: bool,
    /// Texts that end the answer and are not part of it.
    pub stop: Vec<String>,
}

/// What happens while an answer is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// So many tokens of the prompt are computed.
    Prefill {
        /// Computed.
        done: usize,
        /// To compute.
        total: usize,
    },
    /// A token was chosen.
    Token {
        /// The token.
        id: u32,
        /// Text that can be shown now; empty while a character or a stop string is incomplete.
        text: String,
    },
    /// Text that was held back in case it grew into a stop string, or the rest of a broken character.
    Tail {
        /// The text.
        text: String,
    },
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// An end token or a stop string.
    Stop,
    /// The token limit or the end of the context.
    Length,
    /// The caller asked for it.
    Cancelled,
}

impl Finish {
    /// The word used in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::Cancelled => "cancelled",
        }
    }
}

/// A finished answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The tokens, the end token not among them.
    pub token_ids: Vec<u32>,
    /// Their text, cut before a stop string; none when the checkpoint has no tokenizer.
    pub text: Option<String>,
    /// Why it ended.
    pub finish: Finish,
    /// What it cost.
    pub stats: Stats,
}

/// The growing answer.
struct Draft {
    ids: Vec<u32>,
    text: Option<String>,
    stops: Stops,
    decoder: Option<text::Decoder>,
    is_cut: bool,
}

impl Session {
    /// Answers `request`. Raising `cancel` ends the answer after the pass that is running.
    ///
    /// What an earlier request has computed is kept: a prompt that begins with the same tokens continues there, with the
    /// same bits as if it had been computed anew.
    ///
    /// # Errors
    /// The prompt is empty, does not leave room for a token in the context, or holds a token outside the vocabulary; a stop
    /// string was given and there is no tokenizer; an expert cannot be read.
    pub fn generate(
        &mut self,
        request: &Request,
        cancel: &AtomicBool,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<Answer, Error> {
        self.check(&request.prompt)?;
        let mut draft = self.draft(request)?;
        let mut sampler = Sampler::new(request.sampling, self.vocab());
        let mut meter = Meter::start(self, request);
        let cancelled = || cancel.load(Ordering::Relaxed);
        let mut finish = self.prefill(&request.prompt, &cancelled, on_event)?.then_some(Finish::Cancelled);
        meter.prefilled(self);
        let limit = request.max_tokens.unwrap_or(usize::MAX);
        if limit == 0 {
            finish = finish.or(Some(Finish::Length));
        }
        while finish.is_none() {
            let id = self.sample(&mut sampler);
            if draft.ids.is_empty() {
                meter.first_token();
            }
            finish = self.accept(request, id, &mut draft, on_event);
            if finish.is_none() {
                finish = self.advance(id, draft.ids.len() >= limit, &cancelled)?;
            }
        }
        let finish = finish.unwrap_or(Finish::Length);
        draft.close(on_event);
        Ok(Answer {
            stats: meter.finish(self, draft.ids.len()),
            token_ids: draft.ids,
            text: draft.text,
            finish,
        })
    }

    /// Adds `id` to the draft; says whether it ends the answer.
    fn accept(
        &self,
        request: &Request,
        id: u32,
        draft: &mut Draft,
        on_event: &mut dyn FnMut(Event),
    ) -> Option<Finish> {
        if !request.ignore_end && self.end_tokens().contains(&id) {
            return Some(Finish::Stop);
        }
        draft.ids.push(id);
        let text = draft.show(self, id);
        on_event(Event::Token { id, text });
        draft.is_cut.then_some(Finish::Stop)
    }

    /// Computes `id` so that the next can be chosen, unless the answer ends here.
    fn advance(
        &mut self,
        id: u32,
        is_last: bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Finish>, Error> {
        if is_last || self.processed().len() >= self.plan().context {
            return Ok(Some(Finish::Length));
        }
        if cancelled() {
            return Ok(Some(Finish::Cancelled));
        }
        self.forward(&[id], None)?;
        self.keep_logits(0);
        Ok(None)
    }

    fn draft(&self, request: &Request) -> Result<Draft, Error> {
        let decoder = self.text().ok().map(|text| text.tokenizer().decoder());
        if decoder.is_none() && !request.stop.is_empty() {
            return Err(Error::StopsNeedText);
        }
        let text = decoder.as_ref().map(|_| String::new());
        Ok(Draft { ids: Vec::new(), text, stops: Stops::new(&request.stop), decoder, is_cut: false })
    }
}

impl Draft {
    /// The text that `id` makes showable; a completed stop string cuts the draft.
    fn show(&mut self, session: &Session, id: u32) -> String {
        let (Some(decoder), Ok(text)) = (&mut self.decoder, session.text()) else { return String::new() };
        let piece = decoder.push(text.tokenizer(), id);
        let shown = match self.stops.push(&piece) {
            Seen::Text(text) => text,
            Seen::Stopped(text) => {
                self.is_cut = true;
                text
            }
        };
        self.text.get_or_insert_default().push_str(&shown);
        shown
    }

    /// Shows what was held back, unless a stop string has cut the text.
    fn close(&mut self, on_event: &mut dyn FnMut(Event)) {
        let (Some(decoder), false) = (&mut self.decoder, self.is_cut) else { return };
        let mut rest = match self.stops.push(&decoder.finish()) {
            Seen::Text(text) | Seen::Stopped(text) => text,
        };
        rest.push_str(&self.stops.finish());
        if !rest.is_empty() {
            self.text.get_or_insert_default().push_str(&rest);
            on_event(Event::Tail { text: rest });
        }
    }
}

/// Measures one generation.
struct Meter {
    begin: Instant,
    prefill_end: Instant,
    first_token: Option<Instant>,
    stats: Stats,
}

impl Meter {
    fn start(session: &mut Session, request: &Request) -> Meter {
        session.clear_counters();
        let reused = session.reusable(&request.prompt);
        let stats = Stats {
            reused_tokens: reused,
            prefill_tokens: request.prompt.len() - reused,
            ..Stats::default()
        };
        let now = Instant::now();
        Meter { begin: now, prefill_end: now, first_token: None, stats }
    }

    fn prefilled(&mut self, _: &Session) {
        self.prefill_end = Instant::now();
    }

    fn first_token(&mut self) {
        self.first_token = Some(Instant::now());
    }

    fn finish(mut self, session: &Session, tokens: usize) -> Stats {
        let end = Instant::now();
        let first = self.first_token.unwrap_or(end);
        let stats = &mut self.stats;
        stats.prefill_s = (self.prefill_end - self.begin).as_secs_f64();
        stats.ttft_s = (first - self.begin).as_secs_f64();
        stats.decode_s = (end - first).as_secs_f64();
        stats.decode_tokens = tokens.saturating_sub(1);
        stats.prefill_tokens_per_s = rate(stats.prefill_tokens, stats.prefill_s);
        stats.decode_tokens_per_s = rate(stats.decode_tokens, stats.decode_s);
        session.fill_counters(stats, (end - self.begin).as_micros() as u64);
        self.stats
    }
}

fn rate(tokens: usize, seconds: f64) -> Option<f64> {
    (tokens > 0 && seconds > 0.0).then(|| tokens as f64 / seconds)
}
