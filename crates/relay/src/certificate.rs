//! What the relay shows of itself: a certificate of its own, or one made for development.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_lc_rs::digest::{SHA256, digest};
use data_encoding::HEXLOWER;
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A certificate chain with its key.
#[derive(Debug)]
pub(crate) struct Certificate {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// Browsers take a certificate made for development by this hash; `None` for one that an authority signed.
    pub(crate) sha256: Option<String>,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// One of the two files is named and the other is not.
    #[error("[relay] certificate and private_key belong together: name both files, or none for development")]
    HalfNamed,
    /// A file.
    #[error("{}: {error}; it must hold PEM", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: rustls::pki_types::pem::Error,
    },
    /// The chain and the key do not go together, or cannot be used.
    #[error("[relay] certificate cannot be used: {0}")]
    Unusable(rustls::Error),
    /// A certificate for development could not be made.
    #[error("no certificate could be made: {0}")]
    NotMade(#[from] rcgen::Error),
}

impl Certificate {
    /// Reads the files, or makes one for development.
    pub(crate) fn of(certificate: Option<&Path>, key: Option<&Path>) -> Result<Self, CertificateError> {
        match (certificate, key) {
            (Some(certificate), Some(key)) => Self::read(certificate, key),
            (None, None) => Self::make(SystemTime::now()),
            (Some(_), None) | (None, Some(_)) => Err(CertificateError::HalfNamed),
        }
    }

    fn read(certificate: &Path, key: &Path) -> Result<Self, CertificateError> {
        let wrong = |file: &Path| {
            let file = file.to_owned();
            move |error| CertificateError::File { file, error }
        };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(wrong(certificate))?;
        let key = PrivateKeyDer::from_pem_file(key).map_err(wrong(key))?;
        Ok(Self { chain, key, sha256: None })
    }

    /// What `serverCertificateHashes` of browsers asks for: ECDSA on P-256, and at most 14 days.
    fn make(now: SystemTime) -> Result<Self, CertificateError> {
        let key = KeyPair::generate()?;
        let mut params =
            CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned()])?;
        params.not_before = (now - CLOCKS_APART).into();
        params.not_after = (now + DEVELOPMENT_LIFE).into();
        let certificate = params.self_signed(&key)?;
        let der = certificate.der().clone();
        let sha256 = HEXLOWER.encode(digest(&SHA256, &der).as_ref());
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        Ok(Self { chain: vec![der], key, sha256: Some(sha256) })
    }

    /// TLS 1.3 with these protocols, as QUIC has it.
    pub(crate) fn tls(&self, protocols: &[&str]) -> Result<rustls::ServerConfig, CertificateError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .and_then(|config| config.with_no_client_auth().with_single_cert(self.chain.clone(), self.key.clone_key()))
            .map_err(CertificateError::Unusable)?;
        config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        Ok(config)
    }
}

/// A certificate made for development is good for so long: browsers take 14 days at most, from its beginning.
const DEVELOPMENT_LIFE: Duration = Duration::from_secs(13 * 24 * 3600);

/// A browser on another machine may be behind by this much.
const CLOCKS_APART: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e14_a_certificate_for_development_has_the_hash_of_what_is_shown() {
        let made = Certificate::of(None, None).unwrap();
        let hash = HEXLOWER.encode(digest(&SHA256, &made.chain[0]).as_ref());
        assert_eq!(made.sha256.as_deref(), Some(hash.as_str()));
        assert_eq!(made.tls(&["h3"]).unwrap().alpn_protocols, [b"h3"]);
        assert!(DEVELOPMENT_LIFE + CLOCKS_APART <= Duration::from_secs(14 * 24 * 3600));
    }

    #[test]
    fn o3_a_certificate_without_its_key_is_refused_with_advice() {
        let said = Certificate::of(Some(Path::new("c.pem")), None).unwrap_err().to_string();
        assert!(said.contains("name both"), "{said}");
        let said = Certificate::of(Some(Path::new("/none.pem")), Some(Path::new("/none"))).unwrap_err().to_string();
        assert!(said.starts_with("/none.pem: "), "{said}");
    }
}
