//! The file of token signing keys, apart from the seat store (T1): whoever restores an old store keeps the newest
//! keys, and whoever reads the store signs nothing.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use tidegate_control::fresh_seed;
use tidegate_token::KeySet;

use crate::failure::{Failure, OrSay, Outcome};
use crate::private_file;

/// `DIR/token-keys.json`.
#[derive(Clone, Debug)]
pub(crate) struct TokenKeys {
    path: PathBuf,
}

impl TokenKeys {
    pub(crate) fn in_dir(data: &Path) -> Self {
        Self { path: data.join("token-keys.json") }
    }

    /// Reads the keys, or makes the first one.
    pub(crate) fn read_or_make(&self) -> Outcome<KeySet> {
        match fs::read_to_string(&self.path) {
            Ok(text) => self.parse(&text),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let keys = KeySet::generate(fresh_seed(), unix_s());
                self.write(&keys)?;
                Ok(keys)
            }
            Err(error) => Err(Failure::new(format!("cannot read {}: {error}", self.path.display()))),
        }
    }

    /// Puts a new key in front; the one before verifies for `overlap_s` more seconds.
    pub(crate) fn rotate(&self, overlap_s: u64) -> Outcome<KeySet> {
        let keys = self.read_or_make()?.rotate(fresh_seed(), unix_s(), overlap_s);
        self.write(&keys)?;
        Ok(keys)
    }

    fn parse(&self, text: &str) -> Outcome<KeySet> {
        self.warn_if_others_may_read();
        KeySet::from_json(text).or_say(|| format!("cannot use {}", self.path.display()))
    }

    fn write(&self, keys: &KeySet) -> Outcome<()> {
        private_file::replace(&self.path, &keys.to_json()).or_say(|| format!("cannot write {}", self.path.display()))
    }

    fn warn_if_others_may_read(&self) {
        let mode = fs::metadata(&self.path).map_or(0, |meta| meta.permissions().mode());
        if mode & 0o077 != 0 {
            tracing::warn!(file = %self.path.display(), "others may read the token keys and sign with them; chmod 600");
        }
    }
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t1_keys_are_made_once_and_kept_private() {
        let dir = tempfile::tempdir().unwrap();
        let file = TokenKeys::in_dir(dir.path());
        let first = file.read_or_make().unwrap();
        assert_eq!(file.read_or_make().unwrap().signer(), first.signer());
        assert_eq!(fs::metadata(&file.path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn t1_a_rotated_key_signs_and_the_older_one_still_verifies() {
        let dir = tempfile::tempdir().unwrap();
        let file = TokenKeys::in_dir(dir.path());
        let first = file.read_or_make().unwrap();
        let rotated = file.rotate(600).unwrap();
        assert_ne!(rotated.signer(), first.signer());
        assert_eq!(file.read_or_make().unwrap().signer(), rotated.signer());
        let jwks = rotated.public().to_jwks(unix_s());
        assert!(jwks.contains(first.signer()) && jwks.contains(rotated.signer()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside the file");
    }

    #[test]
    fn t1_a_file_that_is_none_is_named_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let file = TokenKeys::in_dir(dir.path());
        fs::write(&file.path, "{").unwrap();
        let said = file.rotate(600).unwrap_err().to_string();
        assert!(said.contains("token-keys.json"), "{said}");
        assert_eq!(fs::read_to_string(&file.path).unwrap(), "{");
    }
}
