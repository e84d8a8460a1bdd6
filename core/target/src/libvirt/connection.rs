//! A connection to a driver, and what keeps it alive.
//!
//! Owns the one event loop of this process. It must never wait for a driver without end.

use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use virt::connect::Connect;
use virt::error::Error;

use crate::TargetError;

/// How long a daemon may be away while it is restarted.
const RESTART: Duration = Duration::from_secs(5);
/// A connection over which nothing came for `KEEPALIVE_S` times `KEEPALIVES` seconds is dead.
const KEEPALIVE_S: i32 = 10;
const KEEPALIVES: u32 = 6;

/// One that the driver's daemon has cut is opened anew.
pub struct Connection {
    kept: Mutex<Connect>,
    uri: Uri,
}

/// A driver's URI.
struct Uri {
    /// For people.
    named: String,
    /// For libvirt.
    told: String,
    /// How long opening may take.
    patience: Duration,
}

impl Connection {
    /// # Errors
    /// [`TargetError::Libvirt`] when the driver cannot be opened, [`TargetError::Deadline`] when nobody answers.
    pub fn open(named: String, told: String, patience: Duration) -> Result<Self, TargetError> {
        start_event_loop()?;
        let uri = Uri { named, told, patience };
        Ok(Self { kept: Mutex::new(connect(&uri)?), uri })
    }

    /// Calls libvirt, and once more over a new connection when the old one turns out to have been cut: `call` must come
    /// to the same when it is done twice.
    pub fn ask<T>(&self, what: &str, call: impl Fn(&Connect) -> Result<T, Error>) -> Result<T, TargetError> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut used = kept().clone();
        let mut result = call(&used);
        if result.is_err() && !is_alive(&used) {
            let mut current = kept();
            // Another thread may have done so meanwhile.
            if !is_alive(&current) {
                *current = reconnect(&self.uri)?;
            }
            used = current.clone();
            drop(current);
            result = call(&used);
        }
        result.map_err(|e| failed(what, &e))
    }
}

/// Opens a connection on a thread of its own, which is left behind when nobody answers.
fn connect(uri: &Uri) -> Result<Connect, TargetError> {
    let what = format!("open {}", uri.named);
    let (sender, receiver) = mpsc::sync_channel(1);
    let told = uri.told.clone();
    std::thread::Builder::new()
        .name("libvirt opening".into())
        .spawn(move || {
            // Nobody waits any more: the connection is closed again.
            let _ = sender.send(Connect::open(Some(&told)));
        })
        .map_err(TargetError::io("start a thread"))?;
    let connect = match receiver.recv_timeout(uri.patience) {
        Ok(result) => result.map_err(|e| failed(&what, &e))?,
        Err(_) => return Err(TargetError::Deadline { what }),
    };
    // Drivers without a connection below them have nothing to keep alive.
    let _ = connect.set_keep_alive(KEEPALIVE_S, KEEPALIVES);
    Ok(connect)
}

/// Opens a connection again; a daemon that was restarted needs a moment.
fn reconnect(uri: &Uri) -> Result<Connect, TargetError> {
    let deadline = Instant::now() + RESTART;
    loop {
        match connect(uri) {
            Err(_) if Instant::now() < deadline => std::thread::sleep(RESTART / 10),
            result => return result,
        }
    }
}

fn is_alive(connect: &Connect) -> bool {
    connect.is_alive().unwrap_or(false)
}

/// Starts the event loop that libvirt's drivers need, once for the life of the process.
fn start_event_loop() -> Result<(), TargetError> {
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    let started = STARTED.get_or_init(|| {
        virt::error::clear_error_callback();
        virt::event::event_register_default_impl().map_err(|e| e.message().to_string())?;
        std::thread::Builder::new()
            .name("libvirt events".into())
            .spawn(|| {
                loop {
                    if virt::event::event_run_default_impl().is_err() {
                        std::thread::sleep(Duration::from_millis(100));
                    }
                }
            })
            .map(drop)
            .map_err(|e| e.to_string())
    });
    let what = || "start the event loop".to_string();
    started.clone().map_err(|message| TargetError::Libvirt { what: what(), message })
}

fn failed(what: impl Into<String>, error: &Error) -> TargetError {
    TargetError::Libvirt { what: what.into(), message: error.message().to_string() }
}
