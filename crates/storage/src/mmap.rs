//! Reading by mapping files and copying out of the map, for comparison and for systems where nothing else is fast.
//!
//! The pages of an extent are given back after the copy, so the map adds nothing to what the process holds. A file that
//! shrinks while it is mapped would raise a signal; the length is checked before every copy, and checkpoints are not
//! written to while a model runs. A drive that fails raises a signal too: this way of reading is for sound drives.

use memmap2::{Advice, Mmap, MmapOptions, UncheckedAdvice};

use crate::{Error, Extent, FileId, Files, workers::Fill};

/// Maps of all files; none of an empty one.
pub(crate) struct Mapped {
    maps: Vec<Option<Mmap>>,
    files: Files,
}

impl Mapped {
    /// # Errors
    /// A file cannot be mapped.
    pub(crate) fn new(files: Files) -> Result<Mapped, Error> {
        let map = |index: u32| -> Result<Option<Mmap>, Error> {
            let file = FileId(index);
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
        Ok(Mapped { maps, files })
    }

    fn copy(&self, extent: &Extent, block: &mut [u8]) -> Result<u64, Error> {
        let (begin, len) = (extent.offset_bytes as usize, extent.len_bytes as usize);
        if let Some(error) = self.files.mishap() {
            return Err(self.files.failed(extent.file, extent.offset_bytes, error));
        }
        let map = self.maps[extent.file.0 as usize].as_deref().unwrap_or_default();
        let now = self.files.buffered(extent.file).metadata().map_or(0, |metadata| metadata.len());
        let end = now.min(map.len() as u64);
        if extent.end() > end {
            return Err(self.files.ended(extent, end));
        }
        block[extent.at as usize..extent.at as usize + len].copy_from_slice(&map[begin..begin + len]);
        self.give_back(extent);
        Ok(len as u64)
    }

    /// Lets go of the pages of `extent`, in the process and in the cache.
    fn give_back(&self, extent: &Extent) {
        let (begin, len, _) = extent.pages();
        if let Some(map) = &self.maps[extent.file.0 as usize] {
            let len = len.min(map.len() - begin as usize);
            // SAFETY: dropping pages of a shared, read-only file map loses nothing: they are read again on the next access.
            let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, begin as usize, len) };
        }
        self.files.forget_pages(extent);
    }
}

impl Fill for Mapped {
    fn fill(&self, extents: &[Extent], block: &mut [u8]) -> Result<u64, Error> {
        extents.iter().try_fold(0, |total, extent| Ok(total + self.copy(extent, block)?))
    }

    fn name(&self) -> &'static str {
        "mmap"
    }
}
