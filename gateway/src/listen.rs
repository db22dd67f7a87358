//! Where to listen, and accepting without ever giving up.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Connections that the kernel holds for us; it cuts this to its own limit.
const BACKLOG: u32 = 4096;
/// The first pause after accepting failed. Doubles up to [`MAX_PAUSE`]: descriptors come back when sessions end.
const MIN_PAUSE: Duration = Duration::from_millis(5);
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// A local address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A TCP port on the addresses of a host.
    Tcp {
        /// A name or an address, without brackets.
        host: String,
        /// Zero lets the system choose.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

/// Why a text is no address to listen on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Neither `HOST:PORT` nor `unix:/PATH`.
    #[error("an address to listen on is HOST:PORT, such as 127.0.0.1:5000 or [::1]:5000, or unix:/PATH")]
    Form,
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        if let Some(path) = text.strip_prefix("unix:") {
            let valid = path.starts_with('/') && !path.contains('\0');
            return valid.then(|| Self::Unix(path.into())).ok_or(AddressError::Form);
        }
        let (host, port) = text.rsplit_once(':').ok_or(AddressError::Form)?;
        let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host = bare.unwrap_or(host);
        if host.is_empty() || (bare.is_none() && host.contains(':')) {
            return Err(AddressError::Form);
        }
        let port = port.parse().map_err(|_| AddressError::Form)?;
        Ok(Self::Tcp { host: host.to_owned(), port })
    }
}

impl Address {
    /// The socket addresses to listen on; none for a Unix socket.
    pub async fn resolve(&self) -> io::Result<Vec<SocketAddr>> {
        match self {
            Self::Unix(_) => Ok(Vec::new()),
            Self::Tcp { host, port } => {
                let addresses: Vec<_> = tokio::net::lookup_host((host.as_str(), *port)).await?.collect();
                if addresses.is_empty() { Err(io::ErrorKind::AddrNotAvailable.into()) } else { Ok(addresses) }
            }
        }
    }

    /// Whether only this machine can connect.
    pub async fn is_local(&self) -> io::Result<bool> {
        Ok(self.resolve().await?.iter().all(|address| address.ip().is_loopback()))
    }

    /// Opens a listener for each socket address.
    pub async fn bind(&self) -> io::Result<Vec<Listener>> {
        match self {
            Self::Unix(path) => Ok(vec![bind_unix(path)?]),
            Self::Tcp { .. } => bind_each(self.resolve().await?),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// `localhost` has an IPv6 address even where IPv6 is switched off: one address that the machine has is enough.
fn bind_each(addresses: Vec<SocketAddr>) -> io::Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    let mut missing = None;
    for address in addresses {
        match bind_tcp(address) {
            Ok(listener) => listeners.push(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    match missing {
        Some(error) if listeners.is_empty() => Err(error),
        _ => Ok(listeners),
    }
}

fn bind_tcp(address: SocketAddr) -> io::Result<Listener> {
    let socket = match address {
        SocketAddr::V4(_) => tokio::net::TcpSocket::new_v4()?,
        SocketAddr::V6(_) => tokio::net::TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG).map(Listener::Tcp)
}

/// A socket for this user only. One that a dead process left behind is replaced, a live one is not.
fn bind_unix(path: &Path) -> io::Result<Listener> {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    if is_socket && std::os::unix::net::UnixStream::connect(path).is_err() {
        std::fs::remove_file(path)?;
    }
    // Nobody can connect before `listen`, so there is no moment at which the permissions are too wide.
    let socket = tokio::net::UnixSocket::new_stream()?;
    socket.bind(path)?;
    let path = OwnedPath(path.to_owned());
    std::fs::set_permissions(&path.0, std::fs::Permissions::from_mode(0o600))?;
    Ok(Listener::Unix(socket.listen(BACKLOG)?, path))
}

/// Removes the file of a Unix socket with its listener.
#[derive(Debug)]
pub struct OwnedPath(PathBuf);

impl Drop for OwnedPath {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::debug!("cannot remove {}: {error}", self.0.display());
        }
    }
}

/// An open listener.
#[derive(Debug)]
pub enum Listener {
    /// TCP.
    Tcp(TcpListener),
    /// A Unix socket, and the path to clean up.
    Unix(UnixListener, OwnedPath),
}

/// An accepted connection.
#[derive(Debug)]
pub enum Socket {
    /// TCP.
    Tcp(TcpStream),
    /// A Unix socket.
    Unix(UnixStream),
}

impl Socket {
    /// Where the other end is; a Unix socket is nowhere.
    #[must_use]
    pub fn peer_ip(&self) -> Option<IpAddr> {
        match self {
            Self::Tcp(stream) => stream.peer_addr().ok().map(|address| address.ip()),
            Self::Unix(_) => None,
        }
    }
}

impl Listener {
    /// The address in use, with the port that the system chose.
    pub fn local_address(&self) -> io::Result<Address> {
        match self {
            Self::Unix(_, path) => Ok(Address::Unix(path.0.clone())),
            Self::Tcp(listener) => {
                let address = listener.local_addr()?;
                Ok(Address::Tcp { host: address.ip().to_string(), port: address.port() })
            }
        }
    }

    /// The next connection. Errors are logged and waited out: running out of descriptors must not end a listener.
    /// Cancel safe.
    pub async fn accept(&self) -> Socket {
        let mut pause = MIN_PAUSE;
        loop {
            match self.try_accept().await {
                Ok(socket) => return socket,
                Err(error) if is_of_one_connection(&error) => tracing::debug!("accepting: {error}"),
                Err(error) => {
                    tracing::warn!("accepting failed, next try in {pause:?}: {error}");
                    tokio::time::sleep(pause).await;
                    pause = MAX_PAUSE.min(pause * 2);
                }
            }
        }
    }

    async fn try_accept(&self) -> io::Result<Socket> {
        match self {
            Self::Unix(listener, _) => Ok(Socket::Unix(listener.accept().await?.0)),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }
}

/// The client was gone before it was accepted: nothing to wait for.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, InvalidInput, NotConnected};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | InvalidInput | NotConnected)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use super::*;

    fn parse(text: &str) -> Result<String, AddressError> {
        text.parse::<Address>().map(|address| address.to_string())
    }

    #[test]
    fn addresses() {
        for text in ["127.0.0.1:5000", "[::1]:5000", "localhost:0", "unix:/run/a=b.sock"] {
            assert_eq!(parse(text).as_deref(), Ok(text));
        }
        for text in ["", "5000", ":5000", "::1:5000", "[::1]", "a:65536", "a:", "unix:relative", "unix:"] {
            assert_eq!(parse(text), Err(AddressError::Form), "{text}");
        }
    }

    async fn is_local(text: &str) -> bool {
        text.parse::<Address>().unwrap().is_local().await.unwrap()
    }

    #[tokio::test]
    async fn local_means_loopback_or_unix() {
        assert!(is_local("127.0.0.1:1").await && is_local("[::1]:1").await && is_local("127.9.9.9:1").await);
        assert!(is_local("unix:/run/x").await && is_local("localhost:1").await);
        assert!(!is_local("0.0.0.0:1").await && !is_local("[::]:1").await && !is_local("192.0.2.1:1").await);
    }

    #[tokio::test]
    async fn a_unix_socket_is_private_cleaned_up_and_replaced_when_stale() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("socket");
        let address = Address::Unix(path.clone());

        // A process that died leaves its file.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let listeners = address.bind().await.unwrap();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        assert_eq!(address.bind().await.unwrap_err().kind(), io::ErrorKind::AddrInUse, "a live one stays");
        drop(listeners);
        assert!(!path.exists());

        std::fs::write(&path, "a file of somebody").unwrap();
        assert!(address.bind().await.is_err());
        assert!(path.exists());
    }

    #[tokio::test]
    async fn a_tcp_listener_says_its_port() {
        let listeners = "127.0.0.1:0".parse::<Address>().unwrap().bind().await.unwrap();
        let Address::Tcp { port, .. } = listeners[0].local_address().unwrap() else { unreachable!() };
        let connect = TcpStream::connect(("127.0.0.1", port));
        let (socket, client) = tokio::join!(listeners[0].accept(), connect);
        assert!(matches!(socket, Socket::Tcp(stream) if stream.nodelay().unwrap()));
        client.unwrap();
    }
}
