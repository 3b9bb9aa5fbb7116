//! `memory_free`, a tool that is written in Rust.

use climax::call::arguments::Bound;
use climax::call::native::{BoxFuture, Native};

/// Reports the memory of this machine.
pub struct Free;

impl Native for Free {
    fn call<'a>(&'a self, arguments: &'a Bound<'a>) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let info = std::fs::read_to_string("/proc/meminfo").map_err(|error| format!("/proc/meminfo: {error}"))?;
            let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
            let available_kb = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.parse::<u64>().ok());
            let available_kb = available_kb.ok_or("/proc/meminfo has no line MemAvailable")?;
            // The config has a default and an `enum`, so the value is one of three.
            let unit = arguments.get("unit").map(ToString::to_string).unwrap_or_default();
            let kb_per_unit = match unit.as_str() {
                "GB" => 1 << 20,
                "MB" => 1 << 10,
                _ => 1,
            };
            Ok(format!("{} {unit}", available_kb / kb_per_unit))
        })
    }
}
