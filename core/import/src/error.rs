//! Why files could not be imported.

use crossvisor_model::NameError;
use crossvisor_store::StoreError;
use thiserror::Error;

/// What ends an import; a part of a file that is no result does not.
#[derive(Debug, Error)]
pub enum ImportError {
    #[error("the file cannot be read to its end: {0}")]
    Read(#[from] std::io::Error),
    #[error(
        "the files have {found} machines, which are more than --guests says: each is a guest of the --host"
    )]
    Guests { found: usize },
    #[error("a name for the run was not accepted: {0}")]
    Name(#[from] NameError),
    #[error(transparent)]
    Store(#[from] StoreError),
}
