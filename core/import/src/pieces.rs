//! One file, asked of a plugin piece by piece.
//!
//! Owns how long pieces are and what becomes of what a plugin leaves of them.

use std::io::{self, Read};

use crossvisor_loader::{Plugin, PluginError};
use crossvisor_model::{Offer, Options};
use crossvisor_plugin::{ImportInput, ImportOutput, Imported, Refused};

use crate::Source;

/// The length of a first piece, in bytes: the reply to it is mostly much shorter than a reply may be, and what is made
/// of it stays in the processor's caches.
const FIRST: usize = 1 << 18;
/// The longest piece, in bytes.
const LONGEST: usize = 128 << 20;

/// The offer that reads the files.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    pub plugin: &'a Plugin,
    pub offer: &'a Offer,
    options: Options,
}

/// What was found in one piece. Lines are those of the file, from 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    pub results: Vec<Imported>,
    pub refused: Vec<Refused>,
}

impl<'a> Reader<'a> {
    /// The one that reads results of the kind `kind`: the offer of that name, where it imports.
    pub fn of(kind: &str, plugins: impl IntoIterator<Item = &'a Plugin>) -> Option<Self> {
        let offers = plugins.into_iter().flat_map(|p| p.manifest.offers.iter().map(move |offer| (p, offer)));
        let (plugin, offer) =
            offers.into_iter().find(|(_, offer)| offer.imports && offer.name.as_str() == kind)?;
        let defaults = offer.options.iter();
        let options = defaults.filter_map(|spec| Some((spec.name.clone(), spec.default.clone()?))).collect();
        Some(Self { plugin, offer, options })
    }

    /// Reads one file, called `file`, and hands on what is found as it is found. What the plugin cannot do is a
    /// refusal, and ends the file.
    ///
    /// # Errors
    /// Those of `take`, and when the file cannot be read.
    pub fn read<E: From<io::Error>>(
        &self,
        file: &str,
        from: impl Read,
        mut take: impl FnMut(Found) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut source = Source::new(from);
        let (mut wanted, mut shrunk, mut is_silent) = (FIRST, false, true);
        loop {
            let lines = source.lines();
            let refuse = |reason: String| Found::refused(lines + 1, reason);
            let Some((text, last)) = source.head(wanted, LONGEST)? else {
                return take(refuse(TOO_LONG.into()));
            };
            let length = text.len();
            if length == 0 && lines == 0 {
                return take(refuse("the file is empty".into()));
            }
            let input = ImportInput { file: file.into(), text: text.into(), last };
            let output = match self.plugin.import(&self.offer.name, &self.options, input) {
                Err(PluginError::TooLong { .. }) if wanted <= FIRST && text.lines().nth(1).is_some() => {
                    (wanted, shrunk) = (length / 2, true);
                    continue;
                }
                Err(error) => return take(refuse(error.to_string())),
                Ok(output) if !text.is_char_boundary(output.used) => {
                    let plugin = &self.plugin.manifest.name;
                    return take(refuse(format!("{plugin} used {} of {length} bytes", output.used)));
                }
                Ok(output) => output,
            };
            let used = output.used;
            is_silent &= output.results.is_empty() && output.refused.is_empty();
            take(Found::of(output, lines))?;
            match (last, used) {
                (true, _) if is_silent => {
                    let nothing = format!("nothing in the file looks like a result of {}", self.offer.name);
                    return take(Found::refused(1, nothing));
                }
                (true, _) => return Ok(()),
                (false, 0) if shrunk || wanted >= LONGEST => return take(refuse(TOO_LONG.into())),
                (false, 0) => wanted = length.saturating_mul(2).min(LONGEST),
                (false, _) => wanted = wanted.min(FIRST),
            }
            source.used(used);
        }
    }
}

const TOO_LONG: &str = "a line or a result is too long: leave it out of the file";

impl Found {
    fn of(output: ImportOutput, before: usize) -> Self {
        let ImportOutput { mut results, mut refused, .. } = output;
        results.iter_mut().for_each(|result| result.line += before);
        refused.iter_mut().for_each(|refused| refused.line += before);
        Self { results, refused }
    }

    fn refused(line: usize, reason: String) -> Self {
        Self { results: Vec::new(), refused: vec![Refused { line, reason }] }
    }
}
