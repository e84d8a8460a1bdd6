//! The processor's time-stamp counter.
//!
//! Owns the one instruction that needs `unsafe`; nothing else may be here.

#![allow(unsafe_code)]

/// Ticks since the processor was reset. The rate is fixed on today's processors, whatever their clock; under
/// virtualisation the hypervisor decides what is read.
pub fn now() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and it touches no memory.
    unsafe { core::arch::x86_64::_rdtsc() }
}
