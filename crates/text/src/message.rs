//! One turn of a conversation.

use serde::{Deserialize, Serialize};

/// A message as chat templates see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks: `system`, `user`, `assistant`, …
    pub role: String,
    /// What is said.
    pub content: String,
}

impl Message {
    /// A message of any role.
    #[must_use]
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Message {
        Message { role: role.into(), content: content.into() }
    }

    /// An instruction that stands above the conversation.
    #[must_use]
    pub fn system(content: impl Into<String>) -> Message {
        Message::new("system", content)
    }

    /// What a person says.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Message {
        Message::new("user", content)
    }

    /// What the model said.
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Message {
        Message::new("assistant", content)
    }
}
