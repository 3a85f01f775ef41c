//! Reading by mapping files and copying out of the map, for comparison and for systems where nothing else is fast.
//!
//! The pages of an extent are given back after the copy, so the map adds nothing to what the process holds. A file that
//! shrinks while it is mapped would raise a signal; the length is checked before every copy, and checkpoints are not
//! written to while a model runs.

use std::collections::VecDeque;

use memmap2::{Advice, Mmap, MmapOptions, UncheckedAdvice};

use crate::{Completion, Error, Extent, Files, Request, Source, Wait};

/// Maps of all files.
pub(crate) struct Mapped {
    maps: Vec<Option<Mmap>>,
    files: Files,
    fallbacks: Vec<String>,
    done: VecDeque<Completion>,
    read_bytes: u64,
}

impl Mapped {
    pub(crate) fn new(files: Files, fallbacks: Vec<String>) -> Result<Mapped, Error> {
        let map = |index: u32| -> Result<Option<Mmap>, Error> {
            let file = crate::FileId(index);
            if files.len_bytes(file) == 0 {
                return Ok(None);
            }
            let refuse = |source| Error::Open { file: files.path(file).to_path_buf(), source };
            // SAFETY: the map is only ever read; a checkpoint is not written to while a model runs (module doc), and every
            // copy checks the length first.
            let map = unsafe { MmapOptions::new().map(files.buffered(file)) }.map_err(refuse)?;
            // Advice may be refused; nothing depends on it but speed.
            let _ = map.advise(Advice::Random);
            Ok(Some(map))
        };
        let maps = (0..files.count() as u32).map(map).collect::<Result<_, _>>()?;
        Ok(Mapped { maps, files, fallbacks, done: VecDeque::new(), read_bytes: 0 })
    }

    fn copy(&self, extents: &[Extent], block: &mut [u8]) -> Result<u64, Error> {
        let mut total = 0;
        for extent in extents {
            let (begin, len) = (extent.offset_bytes as usize, extent.len_bytes as usize);
            let map = self.maps[extent.file.0 as usize].as_deref().unwrap_or_default();
            let now = self.files.buffered(extent.file).metadata().map_or(0, |metadata| metadata.len());
            let end = now.min(map.len() as u64);
            if extent.end() > end {
                return Err(self.files.ended(extent, end));
            }
            block[extent.at as usize..extent.at as usize + len].copy_from_slice(&map[begin..begin + len]);
            self.give_back(extent);
            total += len as u64;
        }
        Ok(total)
    }

    /// Lets go of the pages of `extent`, in the process and in the cache.
    fn give_back(&self, extent: &Extent) {
        let (begin, len, _) = extent.pages();
        if let Some(map) = &self.maps[extent.file.0 as usize] {
            let len = len.min(map.len() - begin as usize);
            // SAFETY: dropping pages of a shared, read-only file map loses nothing: they are read again on the next access.
            let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, begin as usize, len) };
        }
        crate::files::forget_pages(
            self.files.buffered(extent.file),
            extent.offset_bytes,
            u64::from(extent.len_bytes),
        );
    }
}

impl Source for Mapped {
    fn submit(&mut self, mut request: Request) {
        self.files.check(&request.extents, request.block.len());
        let result = self.copy(&request.extents, &mut request.block);
        self.done.push_back(Completion { token: request.token, block: request.block, result });
    }

    fn reap(&mut self, _: Wait) -> Option<Completion> {
        let completion = self.done.pop_front()?;
        self.read_bytes += completion.result.as_ref().copied().unwrap_or(0);
        Some(completion)
    }

    fn in_flight(&self) -> usize {
        self.done.len()
    }

    fn name(&self) -> &'static str {
        "mmap"
    }

    fn fallbacks(&self) -> &[String] {
        &self.fallbacks
    }

    fn read_bytes(&self) -> u64 {
        self.read_bytes
    }
}
