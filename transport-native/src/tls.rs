//! TLS, as client and as server.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::stream::StreamTransport;

/// JMUX directly on TLS, of either end.
pub type TlsTransport = StreamTransport<TlsStream<TcpStream>>;

/// A certificate chain and its key, both in PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate, followed by the intermediate ones.
    pub cert_file: PathBuf,
    /// The private key, not encrypted.
    pub key_file: PathBuf,
}

impl Identity {
    fn load(&self) -> io::Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
        let key = PrivateKeyDer::from_pem_file(&self.key_file).map_err(|error| invalid(&self.key_file, error))?;
        Ok((certificates(&self.cert_file)?, key))
    }
}

/// What a client trusts and how it identifies itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientTls {
    /// PEM files with certificates that are trusted beside those of the system.
    pub ca_files: Vec<PathBuf>,
    /// A certificate for servers that ask for one.
    pub identity: Option<Identity>,
}

impl ClientTls {
    /// Reads the files and the system's certificates. Blocks for some milliseconds.
    pub fn load(&self) -> io::Result<Arc<ClientConfig>> {
        let mut roots = RootCertStore::empty();
        // A broken certificate in the system's store is no reason to refuse the others.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        for file in &self.ca_files {
            add_roots(&mut roots, file)?;
        }
        if roots.is_empty() {
            let text = "the system has no trusted certificates: install ca-certificates, or name a CA file";
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_root_certificates(roots);
        let config = match &self.identity {
            Some(identity) => {
                let (chain, key) = identity.load()?;
                let error = |error| invalid(&identity.cert_file, error);
                builder.with_client_auth_cert(chain, key).map_err(error)?
            }
            None => builder.with_no_client_auth(),
        };
        Ok(Arc::new(config))
    }
}

/// A server's configuration. With `client_ca` every client must show a certificate of that authority.
pub fn server_config(identity: &Identity, client_ca: Option<&Path>) -> io::Result<Arc<ServerConfig>> {
    let builder = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let builder = match client_ca {
        Some(file) => {
            let mut roots = RootCertStore::empty();
            add_roots(&mut roots, file)?;
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
            builder.with_client_cert_verifier(verifier.build().map_err(|error| invalid(file, error))?)
        }
        None => builder.with_no_client_auth(),
    };
    let (chain, key) = identity.load()?;
    let config = builder.with_single_cert(chain, key).map_err(|error| invalid(&identity.cert_file, error))?;
    Ok(Arc::new(config))
}

/// Makes the client's end of TLS; `host` is the name or address that the certificate must show.
pub async fn connect(stream: TcpStream, host: &str, config: Arc<ClientConfig>) -> io::Result<TlsStream<TcpStream>> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, format!("{host}: {error}")))?;
    let stream = TlsConnector::from(config).connect(name, stream).await?;
    Ok(stream.into())
}

/// Makes the server's end of TLS. The caller sets a time limit.
pub async fn accept(stream: TcpStream, config: Arc<ServerConfig>) -> io::Result<TlsStream<TcpStream>> {
    let stream = TlsAcceptor::from(config).accept(stream).await?;
    Ok(stream.into())
}

/// Named instead of installed for the process: a library must not decide for the program it is part of.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn add_roots(roots: &mut RootCertStore, file: &Path) -> io::Result<()> {
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| invalid(file, error))?;
    }
    Ok(())
}

fn certificates(file: &Path) -> io::Result<Vec<CertificateDer<'static>>> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    match certificates {
        Ok(certificates) if certificates.is_empty() => Err(invalid(file, "no certificate in this file")),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(invalid(file, error)),
    }
}

fn invalid(file: &Path, error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {error}", file.display()))
}
