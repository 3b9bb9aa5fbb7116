//! Gives up capabilities: the rights of root that the kernel grants one by one.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
};

/// Drops all capabilities but `kept`. `no_new_privs`, which Landlock sets, prevents the program from regaining them.
pub(super) fn drop_capabilities(kept: CapabilitySet) -> Result<(), String> {
    let held = capabilities(None).map_err(not_given_up)?;
    if held.permitted.is_empty() {
        return Ok(());
    }

    for capability in (CapabilitySet::all() & !kept).iter() {
        // It fails without CAP_SETPCAP. Then `no_new_privs` alone prevents new capabilities.
        let _ = remove_capability_from_bounding_set(capability);
    }

    let kept = held.permitted & kept;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(not_given_up)
}

fn not_given_up(error: Errno) -> String {
    format!("capabilities cannot be given up: {error}")
}
