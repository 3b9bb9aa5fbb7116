//! The start of a server with compiled-in tools: no allocation per tool.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use climax::CATALOG;
use climax::catalog::{Layer, ToolIndex};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

#[expect(unsafe_code, reason = "an allocator cannot be written without; this one only counts")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    let result = work();
    (ALLOCATIONS.load(Ordering::Relaxed) - before, result)
}

#[test]
fn index_of_the_compiled_in_catalog_takes_three_allocations() {
    let (count, index) = allocations(|| ToolIndex::from_configs(vec![Layer::compiled(&CATALOG)]));
    assert!(count <= 3, "{count} allocations for {} tools", CATALOG.tools.len());
    let (count, tool) = allocations(|| index.get("git_log"));
    assert_eq!((count, tool.map(climax::catalog::ResolvedTool::name)), (0, Some("git_log")));
    let (count, tools) = allocations(|| index.tools().count());
    assert_eq!((count, tools), (0, CATALOG.tools.len()));
}
