//! What relays show the control of their fleet: `DIR/relay-secret`, made at the first start, or given.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::failure::{Failure, OrSay, Outcome};
use crate::private_file;
use crate::secret::SecretKey;

/// The secret that was given, else the directory's own.
pub(crate) fn of(data: &Path, given: Option<&SecretKey>) -> Outcome<SecretKey> {
    if let Some(secret) = given {
        return Ok(secret.clone());
    }
    let path = data.join("relay-secret");
    match fs::read_to_string(&path) {
        Ok(text) => {
            let wrong = |said| Failure::new(format!("cannot use {}: {said}", path.display()));
            text.trim().parse().map_err(|said: String| wrong(said).hint("remove it, and another one is made"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let secret = SecretKey::generate();
            let written = private_file::replace(&path, &format!("{}\n", secret.expose()));
            written.or_say(|| format!("cannot write {}", path.display()))?;
            Ok(secret)
        }
        Err(error) => Err(Failure::new(format!("cannot read {}: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn e12_a_secret_is_made_once_kept_private_and_overridden_by_one_that_is_given() {
        let dir = tempfile::tempdir().unwrap();
        let made = of(dir.path(), None).unwrap();
        assert_eq!(of(dir.path(), None).unwrap(), made);
        let file = dir.path().join("relay-secret");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let given = SecretKey::generate();
        assert_eq!(of(dir.path(), Some(&given)).unwrap(), given);
        fs::write(&file, "short\n").unwrap();
        assert!(of(dir.path(), None).unwrap_err().to_string().contains("16 to 200"));
    }
}
