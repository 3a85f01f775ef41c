//! Which model, under which options.

use std::path::{Path, PathBuf};

use session::{Options, Session};
use settings::{Direct, Numerics, Origin, Settings, Storage};
use units::ByteSize;

use crate::{call::Call, demo, failure::Failure, output, progress::Bar};

/// The word that stands for the embedded demo model.
const DEMO: &str = "demo";

/// A model to open.
#[derive(Debug)]
pub struct Chosen {
    /// Where it is.
    pub path: PathBuf,
    /// How to open it.
    pub options: Options,
    /// Whether it is the embedded demo under its own ceiling.
    demo_ceiling: Option<u64>,
}

impl Chosen {
    /// The model and options of a call.
    ///
    /// # Errors
    /// A setting asks for what there is not yet, or the demo model cannot be put on the drive.
    pub fn of(call: &Call<'_>) -> Result<Chosen, Failure> {
        refuse_what_is_not_there(&call.settings)?;
        let mut options = options(&call.settings);
        let path = match &call.settings.model {
            Some(path) if path != Path::new(DEMO) || path.exists() => {
                return Ok(Chosen { path: path.clone(), options, demo_ceiling: None });
            }
            _ => demo::folder(&call.environment)?,
        };
        let is_free = call.settings.origin("ram") == &Origin::Default;
        let demo_ceiling = is_free.then_some(demo::RAM_BYTES);
        options.ram = options.ram.or(demo_ceiling);
        Ok(Chosen { path, options, demo_ceiling })
    }

    /// Opens the model, showing progress where somebody watches.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn open(&self) -> Result<Session, Failure> {
        let mut bar = Bar::bytes();
        let opened = Session::open(&self.path, &self.options, &mut |progress| {
            bar.show(progress.what, progress.done_bytes, progress.total_bytes);
        });
        bar.clear();
        let session = opened?;
        self.explain_demo(&session);
        Ok(session)
    }

    /// Says why the demo reads from the drive although it would fit into memory.
    fn explain_demo(&self, session: &Session) {
        let (Some(ceiling), Some(experts)) = (self.demo_ceiling, &session.plan().experts) else { return };
        output::note(&format!(
            "demo model: {} experts ({}) stream from the drive through room for {}, under a ceiling of {} (--ram to change it)",
            experts.count,
            ByteSize(experts.stored_bytes),
            experts.slots,
            ByteSize(ceiling),
        ));
    }
}

fn refuse_what_is_not_there(settings: &Settings) -> Result<(), Failure> {
    if settings.numerics == Numerics::Fast {
        return Err(Failure::refused(
            "numerics `fast` is not available yet; needed `exact`",
            "leave --numerics out",
        ));
    }
    if settings.mirror.is_some() {
        return Err(Failure::refused("a mirror is not available yet", "leave --mirror out"));
    }
    Ok(())
}

fn options(settings: &Settings) -> Options {
    Options {
        ram: settings.ram,
        context: settings.context,
        threads: settings.threads,
        kernels: settings.kernels.map(str::to_string),
        storage: match settings.storage {
            Storage::Auto => storage::Strategy::Auto,
            Storage::Uring => storage::Strategy::Uring,
            Storage::Pread => storage::Strategy::Pread,
            Storage::Mmap => storage::Strategy::Mmap,
        },
        direct: match settings.direct {
            Direct::Auto => storage::Direct::Auto,
            Direct::On => storage::Direct::On,
            Direct::Off => storage::Direct::Off,
        },
        prefill_chunk: settings.prefill_chunk,
        cache_experts: None,
    }
}
