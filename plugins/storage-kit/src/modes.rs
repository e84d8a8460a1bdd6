//! Cache and I/O mode of a volume, as options.

use crossvisor_plugin::Failure;
use crossvisor_plugin::model::{OptionKind, OptionSpec};
use crossvisor_plugin::sdk::Chosen;
use serde_json::json;

/// One of these words.
#[must_use]
pub fn choice(of: &[&str]) -> OptionKind {
    OptionKind::Choice { of: of.iter().map(ToString::to_string).collect() }
}

/// The options `cache` and `io`.
#[must_use]
pub fn options() -> [OptionSpec; 2] {
    let caches = choice(&["none", "writeback", "writethrough", "directsync", "unsafe"]);
    let ios = choice(&["native", "threads", "io_uring"]);
    [
        OptionSpec::new("cache", caches, json!("none"), "host page cache mode of the disk"),
        OptionSpec::new(
            "io",
            ios,
            None,
            "asynchronous I/O mode; unset: native where the cache mode allows it, else threads",
        ),
    ]
}

/// Cache and I/O mode as chosen. Linux native AIO goes with the modes that open the disk with `O_DIRECT`, and only with
/// those.
///
/// # Errors
/// [`Failure`] where the two exclude each other.
pub fn modes(chosen: &Chosen) -> Result<(String, String), Failure> {
    let cache = chosen.word("cache").unwrap_or("none");
    let direct = matches!(cache, "none" | "directsync");
    let io = chosen.word("io").unwrap_or(if direct { "native" } else { "threads" });
    if io == "native" && !direct {
        return Err(Failure::new(format!(
            "io: native needs cache: none or directsync, not {cache}; choose one of these, or io: threads"
        )));
    }
    Ok((cache.into(), io.into()))
}
