//! Hostile and broken peers: what each input must get.
//!
//! Each test is named after its case (H1 to H35 of the list that the project keeps). The peer is a script; our side is the real
//! connection.

mod closing;
mod credit;
mod framing;
mod opening;
mod resources;
