//! `crossvisor_plugin.h` in Rust: the frozen binary contract.

use std::ffi::c_void;

/// The contract's C header, for those who write plugins in C.
pub const HEADER: &str = include_str!("../include/crossvisor_plugin.h");

/// `"CVISGNv1"` read as a little-endian number.
pub const MAGIC: u64 = 0x3176_4e47_5349_5643;
pub const ABI_MAJOR: u16 = 1;
pub const ABI_MINOR: u16 = 0;

pub const CALL_OK: i32 = 0;
pub const CALL_INTERNAL: i32 = 1;
pub const CALL_SINK: i32 = 2;

/// Takes bytes of the reply; returns 0, or another value when the host takes no more.
pub type WriteFn = unsafe extern "C" fn(sink: *mut c_void, bytes: *const u8, length: usize) -> i32;

/// One request in, one reply out through the sink.
pub type CallFn =
    unsafe extern "C" fn(request: *const u8, length: usize, write: WriteFn, sink: *mut c_void) -> i32;

/// What the plugin's only symbol returns.
pub type EntryFn = unsafe extern "C" fn() -> *const Descriptor;

/// `struct crossvisor_plugin_v1`.
#[repr(C)]
pub struct Descriptor {
    pub magic: u64,
    pub struct_size: u32,
    pub abi_major: u16,
    pub abi_minor: u16,
    pub manifest_json: *const u8,
    pub manifest_length: usize,
    pub call: CallFn,
    pub reserved: [*mut c_void; 4],
}

// SAFETY: the contract says that a descriptor never changes and that `call` may be called from any thread.
unsafe impl Sync for Descriptor {}
// SAFETY: as above; a descriptor has no owner.
unsafe impl Send for Descriptor {}

const _: () = {
    assert!(std::mem::size_of::<Descriptor>() == 72);
    assert!(std::mem::offset_of!(Descriptor, magic) == 0);
    assert!(std::mem::offset_of!(Descriptor, struct_size) == 8);
    assert!(std::mem::offset_of!(Descriptor, abi_major) == 12);
    assert!(std::mem::offset_of!(Descriptor, abi_minor) == 14);
    assert!(std::mem::offset_of!(Descriptor, manifest_json) == 16);
    assert!(std::mem::offset_of!(Descriptor, manifest_length) == 24);
    assert!(std::mem::offset_of!(Descriptor, call) == 32);
    assert!(std::mem::offset_of!(Descriptor, reserved) == 40);
};

/// The symbol a plugin of this name exports.
#[must_use]
pub fn symbol(plugin: &str) -> String {
    format!("crossvisor_plugin_v1_{}", plugin.replace(['-', '.'], "_"))
}

/// The file name of a plugin of this name.
#[must_use]
pub fn file_name(plugin: &str) -> String {
    format!("libcrossvisor_{}.so", plugin.replace(['-', '.'], "_"))
}
