//! What the allocator does with memory that is free again.

/// Blocks from this size on are given back to the system as soon as they are freed, in bytes.
#[cfg(target_env = "gnu")]
const LARGE_BLOCK_BYTES: libc::c_int = 128 << 10;

/// Has the memory of long outputs given back to the system once they are done with.
///
/// glibc does so only until the first large block is freed: then blocks up to its size come from the heap, which does not
/// shrink as long as something lies at its end, and kept outputs do for minutes. Other C libraries need no word.
///
/// Source: mallopt(3), `M_MMAP_THRESHOLD`.
pub(super) fn give_back_large_blocks() {
    #[cfg(target_env = "gnu")]
    #[expect(unsafe_code, reason = "the call takes two numbers, and no other thread has been started")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    }
}
