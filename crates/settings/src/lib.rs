//! Every setting once, as data: what it is called, what it may be, what it is when nobody says, and why.
//!
//! A setting has one name. `--name` is its flag, `COLI_NAME` its variable and `name` its key in the configuration file;
//! help texts, the documentation page and range errors come from the same row of the [`TABLE`]. A flag wins over a
//! variable, a variable over the file, the file over the default.
//!
//! This crate reads neither arguments nor environment nor files: its caller hands them in.

#![forbid(unsafe_code)]

mod error;
pub mod file;
pub mod page;
pub mod resolve;
pub mod setting;
pub mod suggest;
pub mod table;
pub mod value;

pub use error::Error;
pub use resolve::{Origin, Sources, resolve};
pub use setting::{Default, Group, Kind, Setting, Show};
pub use table::{Direct, Numerics, Settings, Storage, TABLE, find};
