//! Token ids and rendered chats: tokenizers, chat templates, incremental decoding.
//!
//! [`Text::open`] finds everything a checkpoint says about text: `tokenizer.json` or the vocabulary inside a GGUF file,
//! the chat template, and the tokens that end an answer. Text that comes from people never becomes a control token:
//! [`Text::encode_chat`] keeps apart what the template wrote and what it was given.
//!
//! This crate does not know what a model does with ids, nor how the next one is chosen.
#![forbid(unsafe_code)]

mod end_tokens;
mod message;
mod text;

mod decoder;
mod tokenizer;

mod controls;
mod gguf;
mod prefix;
mod vocabulary;

mod guard;
mod json;
mod sources;
mod template;

mod error;

pub use decoder::Decoder;
pub use end_tokens::end_tokens;
pub use error::Error;
pub use message::Message;
pub use template::{ChatTemplate, Extras};
pub use text::Text;
pub use tokenizer::{Specials, Tokenizer};
