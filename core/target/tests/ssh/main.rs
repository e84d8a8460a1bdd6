//! Machines over SSH, against servers of the test's own.

mod config;
mod host_keys;
mod login;
mod server;
mod work;
