//! The client's end: sessions to one gateway.

pub mod forward;
pub mod pipe;

use std::env::VarError;
use std::io;

use muxgate_core::{Config, ConnectionError, Destination, DestinationError, Dial, Opener, client};
use muxgate_transport_native::tls::ClientTls;
use muxgate_transport_native::{Dialer, Token as Bearer, TokioClock};
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::timeout;

use crate::cli::ViaArgs;
use crate::escape::Printable;
use crate::exit::{Code, Failure};
use crate::logging::session_ended;
use crate::runtime;
use crate::token::{Token, TokenError};

/// Holds a token, where no file is wanted.
const TOKEN_VARIABLE: &str = "MUXGATE_TOKEN";

/// Makes sessions to the gateway that the command line names.
#[derive(Debug)]
pub struct SessionSource {
    dialer: Dialer,
    config: Config,
}

impl SessionSource {
    /// Checks what the command line says; does not connect yet.
    pub fn new(args: &ViaArgs) -> Result<Self, Failure> {
        let tls = ClientTls { ca_files: args.ca.clone(), identity: None };
        let usage = |error: io::Error| Failure::usage(format!("--via {}: {error}", args.via));
        let mut dialer = Dialer::new(args.via.clone(), &tls).map_err(usage)?;
        if let Some(token) = token(args)? {
            dialer = dialer.with_token(&Bearer::new(token.expose())).map_err(usage)?;
        }
        Ok(Self { dialer, config: args.session.config() })
    }

    /// Connects and starts a session on this thread. Dropping the future gives the attempt up.
    pub async fn connect(&self) -> Result<Session, Failure> {
        let transport = self.dialer.dial().await.map_err(|error| unreachable(&error))?;
        let (opener, connection) = client(transport, TokioClock::new(), self.config.clone());
        let connection = spawn_local(run(connection, opener.clone()));
        Ok(Session { opener, connection })
    }
}

async fn run(connection: impl Future<Output = Result<(), ConnectionError>>, opener: Opener) {
    // The opener knows the reason too, also of an end in good order.
    let _ = connection.await;
    session_ended(&opener.stats(), &opener.closed().await);
}

fn token(args: &ViaArgs) -> Result<Option<Token>, Failure> {
    let (source, token) = match &args.token_file {
        Some(path) if path.as_os_str() == "-" => ("--token-file -".to_owned(), Token::from_reader(io::stdin())),
        Some(path) => (format!("--token-file {}", path.display()), Token::from_file(path)),
        None => match std::env::var(TOKEN_VARIABLE) {
            Ok(text) => (TOKEN_VARIABLE.to_owned(), Token::new(&text)),
            Err(VarError::NotPresent) => return Ok(None),
            Err(VarError::NotUnicode(_)) => (TOKEN_VARIABLE.to_owned(), Err(TokenError::Characters)),
        },
    };
    token.map(Some).map_err(|error| Failure::usage(format!("{source}: {error}")))
}

fn unreachable(error: &io::Error) -> Failure {
    let code = match error.kind() {
        io::ErrorKind::PermissionDenied => Code::Unauthorised,
        _ => Code::Gateway,
    };
    Failure::new(code, format!("no session with the gateway: {}", Printable(&error.to_string())))
}

/// A session at work on this thread.
#[derive(Debug)]
pub struct Session {
    /// Opens its channels.
    pub opener: Opener,
    connection: JoinHandle<()>,
}

impl Session {
    /// Ends the session in good order, within [`runtime::CLOSE_LIMIT`].
    pub async fn close(self) {
        self.opener.close();
        if timeout(runtime::CLOSE_LIMIT, self.connection).await.is_err() {
            tracing::debug!("the gateway did not end the session in time");
        }
    }
}

/// A destination as users write it: `HOST:PORT`.
pub fn parse_destination(text: &str) -> Result<Destination, DestinationError> {
    format!("tcp://{}", text.strip_prefix("tcp://").unwrap_or(text)).parse()
}
