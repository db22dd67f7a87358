//! Connecting to an endpoint.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use muxgate_core::Dial;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsStream;
use tokio_rustls::rustls::ClientConfig;

use crate::any::AnyTransport;
use crate::connect::connect;
use crate::endpoint::{Endpoint, HostPort};
use crate::stream::StreamTransport;
use crate::tls::{self, ClientTls};
use crate::token::Token;
use crate::websocket::{KEEPALIVE, WebSocketTransport};

/// Enough for a far gateway and a slow resolver; short enough for a person who waits.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects to an endpoint, again and again if need be.
#[derive(Debug, Clone)]
pub struct Dialer {
    endpoint: Endpoint,
    headers: HeaderMap,
    tls: Option<Arc<ClientConfig>>,
    timeout: Duration,
}

impl Dialer {
    /// A dialer for `endpoint`. If that is on TLS, reads the certificates: this blocks for some milliseconds.
    pub fn new(endpoint: Endpoint, tls: &ClientTls) -> io::Result<Self> {
        let secure = matches!(endpoint, Endpoint::Tls(_) | Endpoint::WebSocket { secure: true, .. });
        let tls = if secure { Some(tls.load()?) } else { None };
        Ok(Self { endpoint, headers: HeaderMap::new(), tls, timeout: CONNECT_TIMEOUT })
    }

    /// Sends `token` in the WebSocket upgrade. Other transports have no place for one, so that is an error.
    pub fn with_token(mut self, token: &Token) -> io::Result<Self> {
        let invalid = |text| io::Error::new(io::ErrorKind::InvalidInput, text);
        if !matches!(self.endpoint, Endpoint::WebSocket { .. }) {
            return Err(invalid("a token can only be sent over WebSocket: use ws:// or wss://"));
        }
        let mut value = HeaderValue::try_from(format!("Bearer {}", token.expose()))
            .map_err(|_| invalid("the token has characters that no token has"))?;
        value.set_sensitive(true);
        self.headers.insert(AUTHORIZATION, value);
        Ok(self)
    }

    /// Sets the time limit of a dial, from the name's resolution to the last handshake. 10 seconds by default.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Where this dialer connects to.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    async fn dial_unlimited(&self) -> io::Result<AnyTransport> {
        Ok(match &self.endpoint {
            Endpoint::Tcp(server) => AnyTransport::Tcp(StreamTransport::new(self.tcp(server).await?)),
            Endpoint::Tls(server) => AnyTransport::Tls(StreamTransport::new(self.tls(server).await?)),
            Endpoint::WebSocket { secure: false, server, path } => {
                AnyTransport::WebSocket(self.upgrade(self.tcp(server).await?, server, 80, path).await?)
            }
            Endpoint::WebSocket { secure: true, server, path } => {
                AnyTransport::SecureWebSocket(self.upgrade(self.tls(server).await?, server, 443, path).await?)
            }
            #[cfg(unix)]
            Endpoint::Unix(path) => {
                AnyTransport::Unix(StreamTransport::new(tokio::net::UnixStream::connect(path).await?))
            }
            #[cfg(not(unix))]
            Endpoint::Unix(_) => return Err(io::Error::new(io::ErrorKind::Unsupported, "no Unix sockets here")),
        })
    }

    async fn tcp(&self, server: &HostPort) -> io::Result<TcpStream> {
        let found = tokio::net::lookup_host((server.host.as_str(), server.port)).await?;
        let addrs: Vec<SocketAddr> = found.collect();
        let stream = connect(&addrs, self.timeout).await?;
        crate::tcp::tune(&stream)?;
        Ok(stream)
    }

    async fn tls(&self, server: &HostPort) -> io::Result<TlsStream<TcpStream>> {
        let config = self.tls.clone().ok_or_else(|| io::Error::other("no certificates were loaded"))?;
        tls::connect(self.tcp(server).await?, &server.host, config).await
    }

    async fn upgrade<S>(
        &self,
        io: S,
        server: &HostPort,
        usual_port: u16,
        path: &str,
    ) -> io::Result<WebSocketTransport<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let host = server.to_string();
        // As browsers write it; some proxies compare it with the bare name.
        let host = host.strip_suffix(&format!(":{usual_port}")).unwrap_or(&host);
        let transport = WebSocketTransport::connect(io, host, path, &self.headers).await?;
        Ok(transport.with_keepalive(KEEPALIVE))
    }
}

#[async_trait]
impl Dial for Dialer {
    type Transport = AnyTransport;

    async fn dial(&self) -> io::Result<AnyTransport> {
        timeout(self.timeout, self.dial_unlimited()).await.unwrap_or_else(|_| {
            let text = format!("{} did not answer within {} seconds", self.endpoint, self.timeout.as_secs_f32());
            Err(io::Error::new(io::ErrorKind::TimedOut, text))
        })
    }
}
