//! The one way to a destination: normalise, ask the policy, resolve, ask the policy again, dial what it judged.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use muxgate_core::{Destination, ReasonCode};
use muxgate_transport_native::connect;
use rustix::io::Errno;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::policy::target::{Host, Target, TargetError};
use crate::policy::{Denial, Policy};

/// Longest wait for a name. A resolver that has not answered by then has lost a packet or two.
const RESOLVE_LIMIT: Duration = Duration::from_secs(5);
/// Longest wait for a connection, over all addresses. Clients give an open 30 seconds in all.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Turns names into addresses.
pub trait Resolve {
    /// The addresses of `name`, best first. No time limit of its own.
    fn resolve(&self, name: &str, port: u16) -> impl Future<Output = io::Result<Vec<SocketAddr>>>;
}

/// The resolver of the operating system, with its hosts file and search domains.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((name, port)).await?.collect())
    }
}

/// Opens destinations under a policy. There is no other way from a client to a socket.
#[derive(Debug)]
pub struct Dialer<R = SystemResolver> {
    policy: Policy,
    resolver: R,
}

/// Why a destination was not opened: one answer for the client, the whole story for the operator.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The code for the client.
    pub reason: ReasonCode,
    /// A few words for the client, which tell nothing about the gateway's network.
    pub description: &'static str,
    /// What the operator gets to read.
    pub detail: String,
}

impl<R: Resolve> Dialer<R> {
    /// Dials under `policy`.
    pub fn new(policy: Policy, resolver: R) -> Self {
        Self { policy, resolver }
    }

    /// A connection to `destination`, with `TCP_NODELAY` set. Dropping the future gives up.
    pub async fn dial(&self, destination: &Destination) -> Result<TcpStream, Refusal> {
        let target = Target::new(destination.host(), destination.port()).map_err(Refusal::invalid)?;
        let addresses = self.checked_addresses(&target).await?;
        let stream = connect(&addresses, CONNECT_LIMIT).await.map_err(|error| Refusal::unreachable(&error))?;
        stream.set_nodelay(true).map_err(|error| Refusal::unreachable(&error))?;
        Ok(stream)
    }

    async fn checked_addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Refusal> {
        match &target.host {
            Host::Address(ip) => {
                let address = SocketAddr::new(*ip, target.port);
                self.policy.check_address(address).map_err(|denial| Refusal::denied(&denial))?;
                Ok(vec![address])
            }
            Host::Name(name) => {
                self.policy.check_name(name, target.port).map_err(|denial| Refusal::denied(&denial))?;
                self.permitted(&self.resolve(name, target.port).await?)
            }
        }
    }

    async fn resolve(&self, name: &str, port: u16) -> Result<Vec<SocketAddr>, Refusal> {
        match timeout(RESOLVE_LIMIT, self.resolver.resolve(name, port)).await {
            Ok(Ok(addresses)) if addresses.is_empty() => Err(Refusal::unresolvable("it has no address")),
            Ok(Ok(addresses)) => Ok(addresses),
            Ok(Err(error)) => Err(Refusal::unresolvable(error)),
            Err(_) => Err(Refusal::slow_name()),
        }
    }

    /// The addresses of a name that may be dialled; if there is none, why the first may not.
    fn permitted(&self, addresses: &[SocketAddr]) -> Result<Vec<SocketAddr>, Refusal> {
        let (permitted, denials): (Vec<_>, Vec<_>) = addresses
            .iter()
            .map(|&address| self.policy.check_resolved(address).map(|()| address))
            .partition(Result::is_ok);
        match denials.into_iter().find_map(Result::err) {
            Some(denial) if permitted.is_empty() => Err(Refusal::denied(&denial)),
            _ => Ok(permitted.into_iter().flatten().collect()),
        }
    }
}

impl Refusal {
    fn denied(denial: &Denial) -> Self {
        let description = "the log of the gateway says more (-v)";
        Self { reason: ReasonCode::NotAllowed, description, detail: denial.to_string() }
    }

    fn invalid(error: TargetError) -> Self {
        let reason = match error {
            TargetError::Zone => ReasonCode::AddressTypeNotSupported,
            _ => ReasonCode::GeneralFailure,
        };
        Self { reason, description: "not a valid destination", detail: error.to_string() }
    }

    fn unresolvable(error: impl fmt::Display) -> Self {
        let description = "the name does not resolve";
        Self { reason: ReasonCode::HostUnreachable, description, detail: format!("{description}: {error}") }
    }

    fn slow_name() -> Self {
        let description = "the name was not resolved in time";
        Self { reason: ReasonCode::TtlExpired, description, detail: description.to_owned() }
    }

    fn unreachable(error: &io::Error) -> Self {
        let (reason, description) = reason_of(error);
        Self { reason, description, detail: error.to_string() }
    }
}

/// What a client is told about a connection that failed.
fn reason_of(error: &io::Error) -> (ReasonCode, &'static str) {
    use io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable, TimedOut};
    if error.raw_os_error() == Some(Errno::AFNOSUPPORT.raw_os_error()) {
        return (ReasonCode::AddressTypeNotSupported, "the gateway has no such kind of address");
    }
    if [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error())) {
        return (ReasonCode::GeneralFailure, "the gateway has as many connections as it may: try again later");
    }
    match error.kind() {
        ConnectionRefused => (ReasonCode::ConnectionRefused, "the destination refused the connection"),
        HostUnreachable => (ReasonCode::HostUnreachable, "the host is unreachable"),
        // Without a route for the family there is no local address to start from either.
        NetworkUnreachable | AddrNotAvailable => (ReasonCode::NetworkUnreachable, "the network is unreachable"),
        TimedOut => (ReasonCode::TtlExpired, "the destination did not answer in time"),
        _ => (ReasonCode::GeneralFailure, "the gateway cannot connect"),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failure fails the test")]
    use std::cell::RefCell;

    use tokio::net::TcpListener;

    use super::*;

    /// Answers from a list, one answer for each call, and remembers what it was asked.
    #[derive(Default)]
    struct Scripted {
        answers: RefCell<Vec<io::Result<Vec<SocketAddr>>>>,
        asked: RefCell<Vec<String>>,
    }

    impl Resolve for Scripted {
        async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
            self.asked.borrow_mut().push(format!("{name}:{port}"));
            let answer = self.answers.borrow_mut().pop();
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        }
    }

    fn dialer(allow: &[&str], answers: Vec<io::Result<Vec<SocketAddr>>>) -> Dialer<Scripted> {
        let allow = allow.iter().map(|rule| rule.parse().unwrap()).collect();
        let resolver = Scripted { answers: RefCell::new(answers), asked: RefCell::default() };
        Dialer::new(Policy::new(allow, Vec::new()), resolver)
    }

    async fn refusal(dialer: &Dialer<Scripted>, host: &str, port: u16) -> Refusal {
        dialer.dial(&Destination::tcp(host, port).unwrap()).await.unwrap_err()
    }

    async fn local_listener() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    #[tokio::test]
    async fn dials_what_is_allowed_in_any_spelling() {
        let (_listener, address) = local_listener().await;
        let dialer = dialer(&["127.0.0.1"], Vec::new());
        for host in ["127.0.0.1", "0x7f.1", "2130706433", "127.0.0.1."] {
            let stream = dialer.dial(&Destination::tcp(host, address.port()).unwrap()).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), address, "{host}");
            assert!(stream.nodelay().unwrap());
        }
    }

    #[tokio::test]
    async fn a_denied_name_is_not_looked_up() {
        let dialer = dialer(&["*.internal"], Vec::new());
        assert_eq!(refusal(&dialer, "secret.exfiltrated.example", 443).await.reason, ReasonCode::NotAllowed);
        assert!(dialer.resolver.asked.borrow().is_empty());
    }

    #[tokio::test]
    async fn a_name_that_points_inside_is_denied() {
        let inside = ["127.0.0.1:443", "10.0.0.1:443", "169.254.169.254:443", "[::1]:443", "[::ffff:127.0.0.1]:443"];
        for address in inside {
            let dialer = dialer(&["*"], vec![Ok(vec![address.parse().unwrap()])]);
            let refusal = refusal(&dialer, "REBIND.example.", 443).await;
            assert_eq!(refusal.reason, ReasonCode::NotAllowed, "{address}");
            assert!(!refusal.description.contains(address), "the client does not learn the address");
            assert_eq!(*dialer.resolver.asked.borrow(), ["rebind.example:443"]);
        }
    }

    #[tokio::test]
    async fn the_address_that_was_judged_is_the_one_dialled() {
        let (_listener, address) = local_listener().await;
        // A second look-up would give another answer: there must be none.
        let answers = vec![Ok(vec!["169.254.169.254:80".parse().unwrap()]), Ok(vec![address])];
        let dialer = dialer(&["a.example", "127.0.0.1"], answers);
        let stream = dialer.dial(&Destination::tcp("a.example", address.port()).unwrap()).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), address);
        assert_eq!(dialer.resolver.answers.borrow().len(), 1);
    }

    #[tokio::test]
    async fn denied_addresses_of_a_name_are_left_out() {
        let (_listener, address) = local_listener().await;
        let denied = SocketAddr::new("10.255.255.1".parse().unwrap(), address.port());
        let dialer = dialer(&["a.example", "127.0.0.1"], vec![Ok(vec![denied, address])]);
        let stream = dialer.dial(&Destination::tcp("a.example", address.port()).unwrap()).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), address);
    }

    #[tokio::test]
    async fn true_reasons() {
        let (listener, address) = local_listener().await;
        drop(listener);
        let answers = vec![Ok(Vec::new()), Err(io::Error::other("name not known"))];
        let dialer = dialer(&["*", "127.0.0.1"], answers);
        assert_eq!(refusal(&dialer, "127.0.0.1", address.port()).await.reason, ReasonCode::ConnectionRefused);
        for _ in 0..2 {
            assert_eq!(refusal(&dialer, "nowhere.example", 80).await.reason, ReasonCode::HostUnreachable);
        }
        assert_eq!(refusal(&dialer, "1.2.3.4.5", 80).await.reason, ReasonCode::GeneralFailure);
    }

    #[tokio::test(start_paused = true)]
    async fn a_resolver_that_hangs_is_waited_for_so_long() {
        let dialer = dialer(&["*"], Vec::new());
        let start = tokio::time::Instant::now();
        assert_eq!(refusal(&dialer, "slow.example", 80).await.reason, ReasonCode::TtlExpired);
        assert_eq!(start.elapsed(), RESOLVE_LIMIT);
    }

    #[test]
    fn errors_of_the_system_keep_their_meaning() {
        use rustix::io::Errno;
        let reason = |errno: Errno| reason_of(&io::Error::from_raw_os_error(errno.raw_os_error())).0;
        assert_eq!(reason(Errno::CONNREFUSED), ReasonCode::ConnectionRefused);
        assert_eq!(reason(Errno::NETUNREACH), ReasonCode::NetworkUnreachable);
        assert_eq!(reason(Errno::HOSTUNREACH), ReasonCode::HostUnreachable);
        assert_eq!(reason(Errno::TIMEDOUT), ReasonCode::TtlExpired);
        assert_eq!(reason(Errno::AFNOSUPPORT), ReasonCode::AddressTypeNotSupported);
        assert_eq!(reason(Errno::ADDRNOTAVAIL), ReasonCode::NetworkUnreachable);
        assert_eq!(reason(Errno::MFILE), ReasonCode::GeneralFailure);
        let (_, description) = reason_of(&io::Error::from_raw_os_error(Errno::MFILE.raw_os_error()));
        assert!(description.contains("try again later"), "{description}");
    }
}
