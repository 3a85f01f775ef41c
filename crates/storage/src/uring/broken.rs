//! A kernel that refuses: for a while, or for good.

use std::io;

use crate::{Completion, Error, FileId, Files, Request};

/// Whether an error will pass by itself.
pub(super) fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::ResourceBusy
    )
}

/// The error of a request that a broken ring cannot read.
pub(super) fn failure(files: &Files, request: &Request, error: &io::Error) -> Error {
    let (file, offset) =
        request.extents.first().map_or((FileId(0), 0), |extent| (extent.file, extent.offset_bytes));
    files.failed(file, offset, io::Error::new(error.kind(), format!("io_uring: {error}")))
}

/// The completion of such a request, whose block the ring has never seen.
pub(super) fn refuse(files: &Files, request: Request, error: &io::Error) -> Completion {
    let result = Err(failure(files, &request, error));
    Completion { token: request.token, block: request.block, result }
}
