//! Errors as JavaScript sees them: an `Error` with a `code`, and what is known about the WebSocket's end.

use js_sys::{Error, Reflect};
use muxgate_core::{ConnectionError, DestinationError, OpenError, ReadError, ReasonCode, WriteError};
use wasm_bindgen::prelude::*;

use crate::socket::SocketError;

/// What `code` says about an error. The package's type `SocketErrorCode` lists them all.
pub(crate) trait Failure: std::error::Error {
    fn code(&self) -> &'static str;

    /// What the WebSocket said, if that was the cause.
    fn socket(&self) -> Option<&SocketError> {
        None
    }
}

pub(crate) fn to_js(failure: &impl Failure) -> JsValue {
    let error = Error::new(&failure.to_string());
    set(&error, "code", failure.code());
    if let Some(SocketError::Closed { code, reason }) = failure.socket() {
        set(&error, "closeCode", *code);
        set(&error, "closeReason", reason);
    }
    error.into()
}

/// Sets a property of an object of ours, which cannot fail.
pub(crate) fn set(object: &JsValue, name: &str, value: impl Into<JsValue>) {
    let _ = Reflect::set(object, &name.into(), &value.into());
}

/// An open was given up by its caller.
#[derive(Debug, thiserror::Error)]
#[error("the connection was given up before it was open")]
pub(crate) struct Aborted;

impl Failure for Aborted {
    fn code(&self) -> &'static str {
        "ABORTED"
    }
}

impl Failure for DestinationError {
    fn code(&self) -> &'static str {
        "INVALID_ADDRESS"
    }
}

impl Failure for OpenError {
    fn code(&self) -> &'static str {
        match self {
            Self::Refused { reason, .. } => reason_code(*reason),
            Self::TimedOut => "OPEN_TIMED_OUT",
            Self::TooManyChannels => "TOO_MANY_CONNECTIONS",
            Self::Connection(error) => error.code(),
        }
    }

    fn socket(&self) -> Option<&SocketError> {
        if let Self::Connection(error) = self { error.socket() } else { None }
    }
}

impl Failure for ReadError {
    fn code(&self) -> &'static str {
        match self {
            Self::Protocol(_) => "PROTOCOL_ERROR",
            Self::Connection(error) => error.code(),
        }
    }

    fn socket(&self) -> Option<&SocketError> {
        if let Self::Connection(error) = self { error.socket() } else { None }
    }
}

impl Failure for WriteError {
    fn code(&self) -> &'static str {
        match self {
            Self::Stopped => "CONNECTION_CLOSED",
            Self::Finished => "WRITE_AFTER_END",
            Self::Connection(error) => error.code(),
        }
    }

    fn socket(&self) -> Option<&SocketError> {
        if let Self::Connection(error) = self { error.socket() } else { None }
    }
}

impl Failure for ConnectionError {
    fn code(&self) -> &'static str {
        match self {
            Self::Transport(_) | Self::UnexpectedEof => "TUNNEL_FAILED",
            Self::Frame(_) | Self::Protocol(_) => "PROTOCOL_ERROR",
            Self::PeerClosed | Self::Closed => "TUNNEL_CLOSED",
        }
    }

    fn socket(&self) -> Option<&SocketError> {
        let Self::Transport(error) = self else { return None };
        error.get_ref()?.downcast_ref()
    }
}

fn reason_code(reason: ReasonCode) -> &'static str {
    match reason {
        ReasonCode::NotAllowed => "NOT_ALLOWED",
        ReasonCode::NetworkUnreachable => "NETWORK_UNREACHABLE",
        ReasonCode::HostUnreachable => "HOST_UNREACHABLE",
        ReasonCode::ConnectionRefused => "CONNECTION_REFUSED",
        ReasonCode::TtlExpired => "TTL_EXPIRED",
        ReasonCode::AddressTypeNotSupported => "ADDRESS_TYPE_NOT_SUPPORTED",
        ReasonCode::GeneralFailure | ReasonCode::Other(_) => "GENERAL_FAILURE",
    }
}
