//! The files that a program writes for its result: in a directory of the call's own, which is gone after it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use climax_catalog::{OutputFileView, ResolvedTool};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use tempfile::TempDir;

use crate::exec::MAX_WHOLE_OUTPUT_BYTES;

/// A directory for the files of one call. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct ResultFiles {
    dir: TempDir,
    /// The same directory, whatever stands under its name by now.
    opened: std::os::fd::OwnedFd,
    files: Vec<(String, String)>,
}

/// A file that a program was to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFile {
    /// Its name.
    pub file: String,
    /// Its media type.
    pub mime: String,
    /// What is in it.
    pub content: FileContent,
}

/// What is in a file that a program was to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// All of it.
    Whole(Vec<u8>),
    /// More bytes than a result holds.
    TooLong(u64),
    /// There is no such file.
    Missing,
}

impl ResultFiles {
    /// Makes room for the files of a tool; `None` if it writes none.
    ///
    /// # Errors
    /// The system gives no directory.
    pub(crate) fn of(tool: ResolvedTool<'_>) -> io::Result<Option<Self>> {
        let owned = |output: OutputFileView<'_>| (output.file.to_owned(), output.mime.to_owned());
        let files: Vec<_> = tool.args().filter_map(climax_catalog::ArgView::output).map(owned).collect();
        if files.is_empty() {
            return Ok(None);
        }
        let dir = tempfile::Builder::new().prefix("climax-").tempdir()?;
        let opened = openat(CWD, dir.path(), OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Some(Self { dir, opened, files }))
    }

    /// The directory.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// What has been written. The program may have put anything in the place of a file: only what is one is read.
    pub(crate) fn read(self) -> Vec<ResultFile> {
        let content = |file: &str| self.content(file).unwrap_or(FileContent::Missing);
        let written = self.files.iter().map(|(file, mime)| ResultFile {
            file: file.clone(),
            mime: mime.clone(),
            content: content(file),
        });
        written.collect()
    }

    fn content(&self, file: &str) -> io::Result<FileContent> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = openat(&self.opened, file, flags, Mode::empty())?;
        if FileType::from_raw_mode(fstat(&opened)?.st_mode) != FileType::RegularFile {
            return Ok(FileContent::Missing);
        }
        let mut opened = File::from(opened);
        let mut bytes = Vec::new();
        (&mut opened).take(MAX_WHOLE_OUTPUT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > MAX_WHOLE_OUTPUT_BYTES {
            return Ok(FileContent::TooLong(opened.metadata()?.len()));
        }
        Ok(FileContent::Whole(bytes))
    }
}
