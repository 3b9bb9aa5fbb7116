//! Reads and writes the streams of commands. All of it may block.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;

/// Returns a descriptor from which a text is read: a pipe if it holds the text, else a file without a name.
///
/// # Errors
/// The system lacks descriptors or space.
pub(crate) fn stream_of(text: &[u8]) -> io::Result<OwnedFd> {
    // All systems have pipes that hold as much.
    const PIPE_BYTES: usize = 16 << 10;

    if text.len() <= PIPE_BYTES {
        let (read, mut write) = io::pipe()?;
        write.write_all(text)?;
        return Ok(read.into());
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(text)?;
    file.rewind()?;
    Ok(file.into())
}

/// Reads a stream to its end.
///
/// # Errors
/// It has more than `most` bytes, or cannot be read.
pub(crate) fn read_to_end(stream: OwnedFd, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::from(stream).take(most as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::other(format!("the output has more than {most} bytes")));
    }
    Ok(bytes)
}

/// Writes to a stream. A reader that has ended is an error.
pub(crate) fn write_all(stream: OwnedFd, bytes: &[u8]) -> io::Result<()> {
    File::from(stream).write_all(bytes)
}

/// A line that was read.
#[derive(Debug)]
pub(crate) struct Line {
    /// Its characters, each with whether a backslash protects it.
    pub(crate) characters: Vec<(char, bool)>,
    /// Whether its end was read.
    pub(crate) is_whole: bool,
}

/// Reads a line from a stream and no more than the line, as `read` does.
///
/// # Errors
/// It is longer than `most` bytes or no UTF-8 ([`io::ErrorKind::InvalidData`]), or cannot be read.
pub(crate) fn read_line(stream: &OwnedFd, delimiter: u8, is_raw: bool, most: usize) -> io::Result<Line> {
    let mut bytes = Vec::new();
    let (mut is_escaped, mut escaped) = (false, Vec::new());
    let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
    let (mut one, mut count) = ([0_u8], 0);
    let is_whole = loop {
        if rustix::io::read(stream, &mut one)? == 0 {
            break false;
        }
        count += 1;
        if count > most {
            return Err(invalid(format!("the line has more than {most} bytes")));
        }
        match one[0] {
            b'\n' if is_escaped => is_escaped = false,
            byte if is_escaped => {
                escaped.push(bytes.len());
                bytes.push(byte);
                is_escaped = false;
            }
            b'\\' if !is_raw => is_escaped = true,
            byte if byte == delimiter => break true,
            0 => {}
            byte => bytes.push(byte),
        }
    };
    let text =
        String::from_utf8(bytes).map_err(|_| invalid("the line that `read` has read is not UTF-8".to_owned()))?;
    let characters = text.char_indices().map(|(at, c)| (c, escaped.binary_search(&at).is_ok())).collect();
    Ok(Line { characters, is_whole })
}
