//! Carries the static program `crossvisor-probe`, ready to be put on a machine.
//!
//! Owns the built program and nothing else: what it does is in `main.rs` and the modules beside it. It must
//! never run anything.
//!
//! # Verbs
//! `crossvisor-probe gate -- ARGV…` holds a program at the start line; it speaks this protocol, one line each,
//! on its standard output, where the program's own output goes as well:
//!
//! | line | when |
//! |---|---|
//! | `@crossvisor ready` | the gate waits for a line on its standard input |
//! | `@crossvisor clock mono=<ns> real=<ns>` | the line was `clock`; the gate waits for the next |
//! | `@crossvisor go mono=<ns> real=<ns>` | any other line came, and with the words `at=<ns>` in it that `mono` as well; the program is started right after this |
//! | `@crossvisor end mono=<ns> real=<ns> exit=<code>` | the program ended |
//! | `@crossvisor end mono=<ns> real=<ns> signal=<number>` | the program was ended by a signal |
//! | `@crossvisor fail <message>` | instead of an end line: the program cannot be started |
//!
//! Keep its standard input open until the end line: the end of it means that the controller is gone.
//!
//! `mono` is nanoseconds since the gate started, by the machine's monotonic clock; `real` is nanoseconds since
//! 1970, by its wall clock. One newline before `@crossvisor end` and `@crossvisor fail` belongs to the protocol,
//! so a program that ends without one stays separable. Exit codes of the gate: 0 after an end line, 3 when its input
//! ended before such a line came, 4 when its input or output was closed while the program ran (the program's process group is
//! killed), 127 after a fail line, 2 for wrong usage.
//!
//! `crossvisor-probe sample --interval SECONDS` prints readings of the kernel's files until its standard input ends: a line
//! `@crossvisor at mono=<ns> real=<ns>`, then those lines that have changed since the reading before, each after the name
//! of its file: `stat`, `diskstats`, `net/dev`, `meminfo`, `pressure/memory`, `pressure/io` (below `/proc`), and
//! `cpu0/thermal_throttle/core_throttle_count` … (below `/sys/devices/system/cpu`). The last reading is taken at the end.
//! `crossvisor-probe follow -- ARGV…` runs a program until its standard input ends, and puts such lines of times before
//! what the program prints at once.
//!
//! `crossvisor-probe pi --digits N [--repeat R]` computes N decimals of pi R times and prints one line of JSON:
//! `{"digits":N,"repeat":R,"cycles":C,"wall_s":S,"each":[{"cycles":C,"wall_s":S},…],"tail":"<last ten decimals>",
//! "fnv64":"<hash of all decimals>","ok":true}`. `cycles` (time-stamp counter) and `wall_s` are the sums over `each`.
//! `ok` is false where a repetition differs from the first or a decimal differs from the published ones.
//!
//! `crossvisor-probe cpu --limit N --repeat R` adds i + j for all i and j below N, and
//! `crossvisor-probe memread|memwrite --size BYTES --repeat R` reads or writes the elements of 4 bytes of a data set,
//! each visit far from the one before. They print one line of JSON of the same form, with `"job":"cpu","limit":N` or
//! `"job":"memread","size":BYTES,"touch_s":S` at its head; `touch_s` is what the first write to the data set took, its
//! page faults. `ok` is false where a sum or an element is not what it must be.
//!
//! `crossvisor-probe tree make --files N --copies C --folder PATH` makes C equal trees of N files, and `tree copy` with the
//! same options copies them at once with `cp -a` and prints `{"job":"tree","files":N,"copies":C,"bytes":B,"wall_s":S,
//! "synced_s":S,"each_s":[S,…],"ok":true}`: the bytes of one tree, when the last copy ended, when all was on the disk, and
//! when each copy ended. `ok` is false where a copy has not the files and bytes of its tree.

/// The program: a static executable for the machine this library was built for.
pub static BINARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/crossvisor-probe"));

#[cfg(test)]
mod tests {
    use super::BINARY;

    /// An ELF program header of type 3 (`PT_INTERP`) names a dynamic loader; a static program has none.
    #[test]
    fn the_program_is_static() {
        assert_eq!(&BINARY[..4], b"\x7fELF");
        let number = |at: usize, bytes: usize| {
            BINARY[at..at + bytes].iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte))
        };
        let (table, entry, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
        assert!(count > 0);
        assert!((0..count).all(|index| number(table + index * entry, 4) != 3), "needs a dynamic loader");
    }
}
