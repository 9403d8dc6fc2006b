//! Whom the relay believes when it connects to somebody.

use std::sync::Arc;

use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};

/// Certificates that a public authority signed.
pub(crate) fn public(versions: &[&'static SupportedProtocolVersion]) -> ClientConfig {
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("the provider has these versions")
        .with_root_certificates(roots)
        .with_no_client_auth()
}
