//! The checksum of a line: a JSON object has it as its last member, `"crc":"0a1b2c3d"`, over the object without it.
//!
//! Owns its form. It must never be trusted against anybody who wants to deceive: it tells of broken disks and of editors.

/// `,"crc":"` before the eight hexadecimal digits, and `"}` behind them.
const HEAD: &[u8] = b",\"crc\":\"";
const DIGITS: usize = 8;
const LENGTH: usize = HEAD.len() + DIGITS + 2;

/// Puts the checksum into the object that begins at `start` and ends the text; a value that is no object, or an empty
/// one, stays without.
pub fn close(text: &mut Vec<u8>, start: usize) {
    let object = &text[start..];
    if object.len() > 2 && object.ends_with(b"}") {
        let sum = sum(object);
        text.pop();
        text.extend_from_slice(HEAD);
        text.extend_from_slice(sum.as_bytes());
        text.extend_from_slice(b"\"}");
    }
}

/// Takes the checksum out of a line; false where it has none. A line that is not the one that was written stays as it is.
///
/// # Errors
/// What is wrong, where the line is not the one that was written.
pub fn open(line: &mut Vec<u8>) -> Result<bool, String> {
    let Some(at) = line.len().checked_sub(LENGTH).filter(|at| line[*at..].starts_with(HEAD)) else {
        return Ok(false);
    };
    let told = String::from_utf8_lossy(&line[at + HEAD.len()..at + HEAD.len() + DIGITS]).into_owned();
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&line[..at]);
    hasher.update(b"}");
    let found = format!("{:08x}", hasher.finalize());
    if found != told {
        return Err(format!("its checksum is {found}, and {told} was written: it was changed"));
    }
    line.truncate(at);
    line.push(b'}');
    Ok(true)
}

/// CRC-32 (ISO 3309), eight hexadecimal digits.
pub fn sum(bytes: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_the_published_checksum_and_comes_back_as_it_was() {
        assert_eq!(sum(b"123456789"), "cbf43926");
        for text in ["{\"a\":1}", "{\"a\":{\"crc\":\"00000000\"}}"] {
            let mut line = text.as_bytes().to_vec();
            close(&mut line, 0);
            assert!(serde_json::from_slice::<serde_json::Value>(&line).expect("JSON").get("crc").is_some());
            assert_eq!(open(&mut line), Ok(true));
            assert_eq!(line, text.as_bytes());
        }
        for text in ["7", "{}", "[1]"] {
            let mut line = text.as_bytes().to_vec();
            close(&mut line, 0);
            assert_eq!((open(&mut line), line.as_slice()), (Ok(false), text.as_bytes()));
        }
    }
}
