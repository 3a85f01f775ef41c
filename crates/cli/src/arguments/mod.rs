//! The command line, made from the table of settings and a short table of commands.

mod flags;
mod line;
mod parts;
mod rows;

pub use flags::flags;
pub use line::command;
