//! Where the demo's connections go: a small HTTP server with a page and a large file, and its client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// The path of the large file.
pub(super) const FILE: &str = "/file";
const PIECE: usize = 256 * 1024;
/// Enough for a second or two: short transfers measure the start of a connection.
const FILE_BYTES: u64 = 4096 * PIECE as u64;
/// A request line that never ends must not fill the memory.
const HEAD_BYTES: u64 = 16 * 1024;
/// For a transfer that makes no progress.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves on a free port of loopback for as long as the process lives.
pub(super) fn start() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // A client that goes away is no concern of ours.
            thread::spawn(move || answer(connection).ok());
        }
    });
    Ok(address)
}

fn answer(mut connection: TcpStream) -> Result<()> {
    let mut head = BufReader::new(connection.try_clone()?.take(HEAD_BYTES)).lines();
    let request = head.next().transpose()?.unwrap_or_default();
    while head.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    match request.split(' ').nth(1) {
        Some("/") => {
            let page = format!("This page came through Muxgate. {FILE} has {FILE_BYTES} bytes.\n");
            respond(&mut connection, "200 OK", page.len() as u64)?;
            connection.write_all(page.as_bytes())?;
        }
        Some(FILE) => {
            respond(&mut connection, "200 OK", FILE_BYTES)?;
            let piece = vec![b'x'; PIECE];
            for _ in 0..FILE_BYTES / PIECE as u64 {
                connection.write_all(&piece)?;
            }
        }
        _ => respond(&mut connection, "404 Not Found", 0)?,
    }
    Ok(())
}

fn respond(connection: &mut TcpStream, status: &str, len: u64) -> std::io::Result<()> {
    write!(connection, "HTTP/1.1 {status}\r\nContent-Length: {len}\r\nConnection: close\r\n\r\n")
}

/// Fetches the file and returns the rate in Gbit/s.
pub(super) fn download(from: SocketAddr) -> Result<f64> {
    let started = Instant::now();
    let mut connection = TcpStream::connect(from)?;
    connection.set_read_timeout(Some(PATIENCE))?;
    write!(connection, "GET {FILE} HTTP/1.1\r\nHost: {from}\r\nConnection: close\r\n\r\n")?;
    let mut piece = vec![0; PIECE];
    let mut bytes = 0_u64;
    loop {
        match connection.read(&mut piece)? {
            0 => break,
            len => bytes += len as u64,
        }
    }
    if bytes < FILE_BYTES {
        bail!("it ended after {bytes} of {FILE_BYTES} bytes");
    }
    #[expect(clippy::cast_precision_loss, reason = "the rate is shown with one decimal")]
    let bits = (bytes * 8) as f64;
    Ok(bits / 1e9 / started.elapsed().as_secs_f64())
}
