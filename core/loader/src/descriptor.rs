//! The unsafe edge: opening a library, reading its descriptor, calling across the boundary.
//!
//! Owns every use of a pointer that came from a plugin. It must never unload a library, and never trust a
//! field before it is checked.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::path::Path;
use std::ptr::addr_of;

use crossvisor_plugin::abi::{ABI_MAJOR, CallFn, Descriptor, EntryFn, MAGIC};
use crossvisor_plugin::limits::{MANIFEST_BYTES, REPLY_BYTES};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::Broken;

/// `RTLD_NODELETE` of Linux: the library stays mapped for the life of the process.
const RTLD_NODELETE: i32 = 0x1000;

/// A checked descriptor, split into what is used of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub manifest_json: &'static [u8],
    call: CallFn,
}

/// What came back from a call.
pub(crate) struct Returned {
    pub code: i32,
    pub reply: Vec<u8>,
    /// The reply did not fit into [`REPLY_BYTES`]; `reply` is not whole.
    pub too_long: bool,
}

/// Opens the library for good and reads the descriptor that the function `symbol` returns.
pub(crate) fn open(path: &Path, symbol: &str) -> Result<Entry, Broken> {
    let words = |error: libloading::Error| {
        std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string)
    };
    // SAFETY: initialisers of the library run; the person who put it there was checked to be its owner.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) }
        .map_err(|e| Broken::Open(words(e)))?;
    // SAFETY: the contract gives every symbol of this name this type.
    let entry: EntryFn =
        *unsafe { library.get::<EntryFn>(symbol) }.map_err(|_| Broken::Symbol(symbol.into()))?;
    std::mem::forget(library);
    read(entry)
}

/// Calls the entry function and checks what it returns.
pub(crate) fn read(entry: EntryFn) -> Result<Entry, Broken> {
    // SAFETY: the contract's entry function takes nothing and may be called at any time.
    let found = unsafe { entry() };
    if found.is_null() || !found.is_aligned() {
        return Err(Broken::NoDescriptor);
    }
    // SAFETY: the entry function returned a pointer to at least a magic number.
    let magic = unsafe { addr_of!((*found).magic).read() };
    if magic != MAGIC {
        return Err(Broken::Magic(magic));
    }
    // SAFETY: the magic says that the first three fields are there.
    let (size, major) =
        unsafe { (addr_of!((*found).struct_size).read(), addr_of!((*found).abi_major).read()) };
    if major != ABI_MAJOR {
        return Err(Broken::Abi(major));
    }
    if (size as usize) < size_of::<Descriptor>() {
        return Err(Broken::StructSize(size));
    }
    // SAFETY: all fields are there; the function pointer is read as an option because it may be null.
    let call = unsafe { addr_of!((*found).call).cast::<Option<CallFn>>().read() };
    let call = call.ok_or(Broken::NoCall)?;
    // SAFETY: as above.
    let (start, length) =
        unsafe { (addr_of!((*found).manifest_json).read(), addr_of!((*found).manifest_length).read()) };
    if start.is_null() || length > MANIFEST_BYTES {
        return Err(Broken::Manifest(format!("it is missing, or longer than {MANIFEST_BYTES} bytes")));
    }
    // SAFETY: the contract says that the manifest never changes and outlives the process.
    let manifest_json = unsafe { std::slice::from_raw_parts(start, length) };
    Ok(Entry { manifest_json, call })
}

struct Sink {
    reply: Vec<u8>,
    too_long: bool,
}

impl Entry {
    /// One request in, the bytes of one reply out.
    pub(crate) fn call(&self, request: &[u8]) -> Returned {
        let mut sink = Sink { reply: Vec::new(), too_long: false };
        // SAFETY: the request outlives the call, and `write` knows what the sink is.
        let code =
            unsafe { (self.call)(request.as_ptr(), request.len(), write, (&raw mut sink).cast::<c_void>()) };
        Returned { code, reply: sink.reply, too_long: sink.too_long }
    }
}

/// The host's sink: copies the bytes, or refuses them.
unsafe extern "C" fn write(sink: *mut c_void, bytes: *const u8, length: usize) -> i32 {
    // SAFETY: `sink` is the one that `Entry::call` gave, and the plugin uses it in that call only.
    let sink = unsafe { &mut *sink.cast::<Sink>() };
    if length == 0 {
        return 0;
    }
    sink.too_long |= length > REPLY_BYTES - sink.reply.len();
    if sink.too_long || bytes.is_null() {
        return 1;
    }
    // SAFETY: the plugin promises `length` readable bytes.
    sink.reply.extend_from_slice(unsafe { std::slice::from_raw_parts(bytes, length) });
    0
}
