//! Result files: files that a program writes into a temporary directory of its call.

use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use climax_catalog::{OutputFileView, ResolvedTool};
use tempfile::TempDir;

use crate::exec::limits::MAX_WHOLE_OUTPUT_BYTES;
use crate::exec::output::Masks;
use crate::exec::platform::{open_directory, open_regular_in};

/// The directory for the result files of one call. Dropping it removes the directory.
#[derive(Debug)]
pub(crate) struct ResultFiles {
    dir: TempDir,
    /// A descriptor of the directory. The program may replace the directory under its name.
    opened: OwnedFd,
    /// Names and media types of the files.
    files: Vec<(String, String)>,
}

/// A result file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFile {
    /// Its name.
    pub file: String,
    /// Its media type.
    pub mime: String,
    /// Its content.
    pub content: FileContent,
}

/// The content of a result file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileContent {
    /// The whole file.
    Whole(Vec<u8>),
    /// The file is longer than [`MAX_WHOLE_OUTPUT_BYTES`]; its length in bytes.
    TooLong(u64),
    /// The program wrote no regular file of this name.
    Missing,
}

impl ResultFiles {
    /// Makes the directory for a tool; `None` if the tool has no result files.
    ///
    /// # Errors
    /// The directory cannot be made.
    pub(crate) fn for_tool(tool: ResolvedTool<'_>) -> io::Result<Option<Self>> {
        let owned = |output: OutputFileView<'_>| (output.file.to_owned(), output.mime.to_owned());
        let files: Vec<_> = tool.args().filter_map(climax_catalog::ArgView::output).map(owned).collect();
        if files.is_empty() {
            return Ok(None);
        }

        let dir = tempfile::Builder::new().prefix("climax-").tempdir()?;
        let opened = open_directory(dir.path())?;
        Ok(Some(Self { dir, opened, files }))
    }

    /// Returns the path of the directory.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Reads the files. Links, devices and FIFOs count as missing: the program could point them at other files.
    ///
    /// Their contents do not show the secrets of `masks`.
    pub(crate) fn read(self, masks: &Masks) -> Vec<ResultFile> {
        let written = self.files.iter().map(|(file, mime)| ResultFile {
            file: file.clone(),
            mime: mime.clone(),
            content: match self.content(file) {
                Ok(FileContent::Whole(bytes)) => FileContent::Whole(masks.apply(bytes)),
                Ok(other) => other,
                Err(_) => FileContent::Missing,
            },
        });
        written.collect()
    }

    fn content(&self, file: &str) -> io::Result<FileContent> {
        let mut opened = open_regular_in(&self.opened, file)?;
        let mut bytes = Vec::new();
        (&mut opened).take(MAX_WHOLE_OUTPUT_BYTES as u64 + 1).read_to_end(&mut bytes)?;

        if bytes.len() > MAX_WHOLE_OUTPUT_BYTES {
            return Ok(FileContent::TooLong(opened.metadata()?.len()));
        }
        Ok(FileContent::Whole(bytes))
    }
}
