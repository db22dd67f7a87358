//! TLS with certificates made for the test.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use muxgate_transport_native::tls::{self, ClientTls, Identity};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsStream;

use crate::support::tcp_pair;

/// An authority and certificates that it signed, in files.
pub(crate) struct Certificates {
    dir: TempDir,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Certificates {
    pub(crate) fn new() -> Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().map_err(Error::other)?;
        let authority = CertifiedIssuer::self_signed(params, key).map_err(Error::other)?;
        let dir = tempfile::tempdir()?;
        std::fs::write(dir.path().join("ca.pem"), authority.pem())?;
        Ok(Self { dir, authority })
    }

    /// A certificate for `name`, in two files.
    pub(crate) fn issue(&self, name: &str) -> Result<Identity> {
        let key = KeyPair::generate().map_err(Error::other)?;
        let params = CertificateParams::new([name.to_owned()]).map_err(Error::other)?;
        let cert = params.signed_by(&key, &self.authority).map_err(Error::other)?;
        let file = |kind| self.dir.path().join(format!("{name}.{kind}.pem"));
        let identity = Identity { cert_file: file("cert"), key_file: file("key") };
        std::fs::write(&identity.cert_file, cert.pem())?;
        std::fs::write(&identity.key_file, key.serialize_pem())?;
        Ok(identity)
    }

    pub(crate) fn ca_file(&self) -> std::path::PathBuf {
        self.dir.path().join("ca.pem")
    }

    /// A client that trusts the authority.
    pub(crate) fn client(&self) -> ClientTls {
        ClientTls { ca_files: vec![self.ca_file()], identity: None }
    }
}

type Pair = (TlsStream<TcpStream>, TlsStream<TcpStream>);

pub(crate) async fn tls_pair() -> Result<Pair> {
    let certificates = Certificates::new()?;
    handshake(&certificates.client(), &certificates.issue("localhost")?, None).await
}

async fn handshake(client: &ClientTls, server: &Identity, client_ca: Option<&Path>) -> Result<Pair> {
    let (near, far) = tcp_pair().await?;
    let (client, server) = (client.load()?, tls::server_config(server, client_ca)?);
    tokio::try_join!(tls::connect(near, "localhost", client), tls::accept(far, server))
}

#[tokio::test]
async fn the_name_must_match() -> Result<()> {
    let certificates = Certificates::new()?;
    let error = handshake(&certificates.client(), &certificates.issue("other.example")?, None).await;
    let error = error.expect_err("the certificate is for another name");
    assert!(error.to_string().contains("not valid for name"), "{error}");
    Ok(())
}

#[tokio::test]
async fn the_authority_must_be_known() -> Result<()> {
    let (trusted, other) = (Certificates::new()?, Certificates::new()?);
    let result = handshake(&trusted.client(), &other.issue("localhost")?, None).await;
    assert!(result.is_err());
    Ok(())
}

#[tokio::test]
async fn a_server_may_ask_for_a_certificate() -> Result<()> {
    let certificates = Certificates::new()?;
    let server = certificates.issue("localhost")?;
    let mut client = certificates.client();
    client.identity = Some(certificates.issue("client.example")?);
    let (_near, far) = handshake(&client, &server, Some(&certificates.ca_file())).await?;
    assert!(far.get_ref().1.peer_certificates().is_some_and(|chain| !chain.is_empty()));
    Ok(())
}

#[test]
fn a_broken_file_is_named() -> Result<()> {
    let certificates = Certificates::new()?;
    let mut identity = certificates.issue("localhost")?;
    identity.key_file = certificates.ca_file();
    let error = tls::server_config(&identity, None).expect_err("a certificate is no key");
    assert!(error.to_string().contains("ca.pem"), "{error}");
    let client = ClientTls { ca_files: vec!["missing.pem".into()], identity: None };
    let error = client.load().expect_err("there is no such file");
    assert!(error.to_string().contains("missing.pem"), "{error}");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    Ok(())
}
