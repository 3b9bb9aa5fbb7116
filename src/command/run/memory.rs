//! Configures the allocator to return freed memory to the system.

/// Minimum size of blocks that are returned to the system when they are freed, in bytes.
#[cfg(target_env = "gnu")]
const LARGE_BLOCK_BYTES: libc::c_int = 128 << 10;

/// Makes the allocator return the memory of long outputs to the system when they are freed.
///
/// By default glibc raises the threshold when a large block is freed. Blocks below the threshold come from the heap,
/// which cannot shrink while a block at its end is in use, and stored outputs stay in use for minutes. Other C
/// libraries have no such threshold.
///
/// Source: mallopt(3), `M_MMAP_THRESHOLD`.
pub(super) fn return_large_blocks() {
    #[cfg(target_env = "gnu")]
    #[expect(unsafe_code, reason = "the call takes two numbers, and no other thread has been started")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    }
}
