//! `coli run`: one prompt, one answer.

use std::{
    ffi::OsString,
    io::{self, IsTerminal, Read},
    path::Path,
};

use clap::ArgMatches;
use serde_json::{Value, json};
use session::{Answer, Finish, Session, Stats};

use crate::{
    answer::{self, Given, Stream},
    call::Call,
    chat::prompt,
    failure::Failure,
    model::Chosen,
    output,
};

/// The words that stand without a flag: model and prompt, of which either may be elsewhere.
#[derive(Debug, Default)]
pub struct Words {
    /// The model.
    pub model: Option<OsString>,
    prompt: Option<OsString>,
}

impl Words {
    /// Tells model and prompt apart: the last word is the prompt, unless ids stand for it.
    ///
    /// # Errors
    /// There is a prompt beside `--ids`.
    pub fn of(matches: &ArgMatches) -> Result<Words, Failure> {
        let words: Vec<OsString> = matches.get_many("args").into_iter().flatten().cloned().collect();
        let has_ids = matches.contains_id("ids");
        match (words.as_slice(), has_ids) {
            ([], _) => Ok(Words::default()),
            ([model], true) => Ok(Words { model: Some(model.clone()), prompt: None }),
            ([prompt], false) => Ok(Words { model: None, prompt: Some(prompt.clone()) }),
            ([model, prompt, ..], false) => {
                Ok(Words { model: Some(model.clone()), prompt: Some(prompt.clone()) })
            }
            ([_, _, ..], true) => Err(Failure::usage(
                "a prompt and --ids; needed one of them",
                "coli run [MODEL] PROMPT, or coli run [MODEL] --ids 1,2,3",
            )),
        }
    }

    /// The prompt, from standard input where none is written.
    fn prompt(self) -> Result<String, Failure> {
        if let Some(prompt) = self.prompt {
            return prompt.into_string().map_err(|prompt| {
                Failure::usage(format!("PROMPT: needed UTF-8; found {prompt:?}"), "--ids takes any tokens")
            });
        }
        let mut text = String::new();
        if !io::stdin().is_terminal() {
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|source| Failure::Io { object: "standard input".to_string(), source })?;
        }
        if text.trim().is_empty() {
            return Err(Failure::usage(
                "needed a PROMPT; found none",
                "coli run [MODEL] PROMPT, or coli run [MODEL] --ids 1,2,3",
            ));
        }
        Ok(text)
    }
}

/// Answers one prompt.
///
/// # Errors
/// There is no prompt, the model cannot be opened, or the answer was stopped.
pub fn run(call: &Call<'_>, words: Words) -> Result<(), Failure> {
    let is_json = call.is_on("json");
    let ids = call.ids()?;
    let text = if ids.is_none() { words.prompt()? } else { String::new() };
    if words_are_a_path(call, &text) {
        output::note(&format!("note: {text} is taken as the prompt; --model names a model"));
    }
    let mut session = Chosen::of(call)?.open()?;
    let prompt_ids = match ids {
        Some(ids) => ids,
        None if call.is_on("raw") => prompt::raw(&session, &text)?,
        None => prompt::alone(&session, &text)?,
    };
    let mut request = answer::request(&call.settings, prompt_ids);
    request.ignore_end = call.is_on("ignore-eos");
    let stream = if is_json { Stream::Silent } else { Stream::Shown };
    let Given { answer, signal } = answer::give(&mut session, &request, &call.signals, stream)?;
    if is_json {
        output::json(&contract(&session, &request.prompt, &answer))?;
    } else {
        end(&answer)?;
    }
    signal.map_or(Ok(()), |signal| Err(Failure::Stopped { signal }))
}

/// Whether somebody may have meant a model by the only word there is.
fn words_are_a_path(call: &Call<'_>, text: &str) -> bool {
    call.settings.model.is_none() && !text.is_empty() && Path::new(text).exists()
}

/// Ends the streamed text; where there is no text, the tokens are the answer.
fn end(answer: &Answer) -> Result<(), Failure> {
    let ids = || answer.token_ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match &answer.text {
        Some(text) if text.ends_with('\n') => {}
        Some(_) => output::line("")?,
        None => output::line(&ids())?,
    }
    output::note(&format!("[{}]", answer::figures(answer)));
    Ok(())
}

/// The object that docs/json.md promises.
fn contract(session: &Session, prompt_ids: &[u32], answer: &Answer) -> Value {
    json!({
        "model": session.plan().model,
        "prompt_ids": prompt_ids,
        "token_ids": answer.token_ids,
        "text": answer.text,
        "finish_reason": match answer.finish {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::Cancelled => "cancelled",
        },
        "stats": stats(&answer.stats),
    })
}

fn stats(stats: &Stats) -> Value {
    json!({
        "prefill_tokens_per_s": stats.prefill_tokens_per_s,
        "decode_tokens_per_s": stats.decode_tokens_per_s,
        "ttft_s": stats.ttft_s,
        "expert_requests": stats.expert_requests,
        "expert_hits": stats.expert_hits,
        "expert_misses": stats.expert_misses,
        "disk_read_bytes": stats.disk_read_bytes,
        "peak_rss_bytes": stats.peak_rss_bytes,
        "ram_limit_bytes": stats.ram_limit_bytes,
        "phases_us": stats.phases_us,
    })
}
