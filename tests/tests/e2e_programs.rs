//! Programs that people run through a tunnel, as they run them: ssh, iperf, PostgreSQL, and nginx in between.

use std::fs;
use std::net::{SocketAddr, TcpStream as StdTcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use muxgate_tests::process::{
    Curl, Destination, Forward, Gateway, HttpServer, Pattern, Program, ReservedPort, Sha256, code, digest_of,
    installed, muxgate, pipe, scenario,
};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// The user and group that own nothing.
const NOBODY: &str = "65534";

fn temporary() -> TempDir {
    tempfile::tempdir().expect("there is room for temporary files")
}

/// Runs a command that has to succeed, and returns its standard output.
async fn output(command: &mut Command) -> String {
    let output = command.kill_on_drop(true).stdin(Stdio::null()).output().await.expect("the program should start");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {}: {said}", command.as_std(), output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

async fn is_root() -> bool {
    output(Command::new("id").arg("-u")).await.trim() == "0"
}

/// An interactive program sends no line ends, and waits for the answer before it goes on.
#[tokio::test]
async fn a_pipe_holds_nothing_back() {
    scenario(async {
        let (echo, gateway) = (Destination::echo().await, Gateway::local().await);
        let mut pipe = pipe(gateway.url(), &[], &echo.address().to_string());
        let (mut input, mut output) = (pipe.stdin(), pipe.stdout());
        for byte in 0..100 {
            input.write_u8(byte).await.expect("the pipe is open");
            assert_eq!(output.read_u8().await.expect("the echo should arrive"), byte);
        }
        drop(input);
        assert_eq!(digest_of(output).await.expect("a pipe can be read").length, 0);
        assert_eq!(pipe.ended().await, code::SUCCESS);
    })
    .await;
}

/// An ssh server whose connections come from us, so that the kernel can choose the port.
struct Sshd {
    directory: TempDir,
    destination: Destination,
}

impl Sshd {
    async fn start(sshd: PathBuf) -> Self {
        if is_root().await {
            // The package's service makes it at boot.
            fs::create_dir_all("/run/sshd").expect("root may");
        }
        let directory = temporary();
        let path = directory.path().to_owned();
        for key in ["host", "user"] {
            let file = path.join(key);
            output(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(file)).await;
        }
        let config = format!(
            "HostKey {0}/host\nAuthorizedKeysFile {0}/user.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n",
            path.display()
        );
        fs::write(path.join("config"), config).expect("the directory is ours");
        let public = fs::read_to_string(path.join("host.pub")).expect("it was made");
        fs::write(path.join("known_hosts"), format!("gateway-test {public}")).expect("the directory is ours");
        let destination = Destination::start(move |stream| serve_ssh(sshd.clone(), path.join("config"), stream)).await;
        Self { directory, destination }
    }

    /// `ssh` to this server through `muxgate pipe`.
    async fn client(&self, via: &str, command: &str) -> Command {
        let file = |name| self.directory.path().join(name).display().to_string();
        let muxgate = muxgate(&[]);
        let proxy = format!("'{}' pipe %h:%p --via {via}", muxgate.as_std().get_program().display());
        let user = output(Command::new("id").arg("-un")).await;
        let mut ssh = Command::new("ssh");
        ssh.args(["-F", "none", "-o", "BatchMode=yes", "-o", "HostKeyAlias=gateway-test", "-o", "IdentitiesOnly=yes"]);
        ssh.args(["-o", &format!("UserKnownHostsFile={}", file("known_hosts")), "-i", &file("user")]);
        ssh.args(["-o", &format!("ProxyCommand={proxy}"), "-l", user.trim()]);
        ssh.args(["-p", &self.destination.address().port().to_string(), "127.0.0.1", command]);
        ssh.kill_on_drop(true).stderr(Stdio::inherit());
        ssh
    }
}

async fn serve_ssh(sshd: PathBuf, config: PathBuf, stream: tokio::net::TcpStream) -> std::io::Result<()> {
    let stream: StdTcpStream = stream.into_std()?;
    stream.set_nonblocking(false)?;
    let output: OwnedFd = stream.try_clone()?.into();
    let mut command = Command::new(sshd);
    command.arg("-i").arg("-f").arg(config).stdin(OwnedFd::from(stream)).stdout(output).stderr(Stdio::null());
    let mut child = command.kill_on_drop(true).spawn()?;
    // The command holds copies of the socket, which would keep the connection open.
    drop(command);
    child.wait().await.map(drop)
}

#[tokio::test]
async fn ssh_through_a_proxy_command() {
    let Some(sshd) = installed("sshd") else { return };
    scenario(async {
        let (sshd, gateway) = (Sshd::start(sshd).await, Gateway::local_on("ws").await);
        let greeting = sshd.client(gateway.url(), "echo hello; exit 7").await.output().await;
        let greeting = greeting.expect("ssh should start");
        assert_eq!((greeting.status.code(), greeting.stdout.as_slice()), (Some(7), &b"hello\n"[..]));

        let mut ssh = sshd.client(gateway.url(), "cat").await;
        let mut ssh = ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("ssh should start");
        let (input, output) = (ssh.stdin.take(), ssh.stdout.take());
        let (mut input, output) = input.zip(output).expect("both are pipes");
        let sent = Pattern::new(20_000_000);
        let pieces = sent.clone();
        let writing = async move {
            for piece in pieces {
                input.write_all(&piece).await.expect("ssh reads");
            }
        };
        let ((), received) = tokio::join!(writing, digest_of(output));
        assert_eq!(received.expect("a pipe can be read"), sent.digest());
        assert!(ssh.wait().await.expect("the process is ours to wait for").success());
    })
    .await;
}

/// swift-nio-http2 559, quinn 949: the same share for everybody.
#[tokio::test]
async fn iperf_gets_equal_shares() {
    scenario(async {
        let (port, gateway) = (ReservedPort::new(), Gateway::local().await);
        let listen = "exec iperf --server --bind 127.0.0.1 --port \"$0\" >&2";
        let server = Program::start(Command::new("sh").args(["-c", listen, &port.address().port().to_string()]));
        server.line("Server listening").await;
        let forward = Forward::start(gateway.url(), &[port.address()]).await;
        let through = forward.address().port().to_string();
        let mut client = Command::new("iperf");
        client.args(["--client", "127.0.0.1", "--port", &through, "--parallel", "10", "--time", "2"]);
        let report = output(client.args(["--reportstyle", "C"])).await;
        let shares: Vec<f64> = report.lines().filter_map(bytes_of_connection).collect();
        assert_eq!(shares.len(), 10, "{report}");
        assert!(jain(&shares) >= 0.99, "{shares:?}");
    })
    .await;
}

/// The bytes in a line of iperf's report; none if the line is the sum.
fn bytes_of_connection(line: &str) -> Option<f64> {
    let fields: Vec<_> = line.split(',').collect();
    fields.get(5).filter(|number| **number != "-1").and(fields.get(7)?.parse().ok())
}

/// Jain's index: 1 for equal shares, 1/n if one gets everything.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    #[expect(clippy::cast_precision_loss, reason = "there are ten")]
    let count = shares.len() as f64;
    sum * sum / (count * squares)
}

/// A database of its own, which does not run as root.
async fn postgres(directory: &Path, port: &ReservedPort) -> Program {
    fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).expect("the directory is ours");
    let data = directory.join("data");
    let mut init = unprivileged("initdb").await;
    output(init.args(["--auth", "trust", "--username", "test", "--no-sync", "--pgdata"]).arg(&data)).await;
    let mut command = unprivileged("postgres").await;
    command.arg("-D").arg(&data).args(["-p", &port.address().port().to_string()]);
    let server = Program::start(command.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]));
    server.line("ready to accept connections").await;
    server
}

async fn unprivileged(program: &str) -> Command {
    let program = installed(program).expect("the database is installed");
    if !is_root().await {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"]).arg(program);
    command
}

#[tokio::test]
async fn postgresql_answers_a_large_query() {
    if ["initdb", "postgres", "psql"].map(installed).iter().any(Option::is_none) {
        return;
    }
    scenario(async {
        let (directory, port, gateway) = (temporary(), ReservedPort::new(), Gateway::local_on("ws").await);
        let mut server = postgres(directory.path(), &port).await;
        let forward = Forward::start(gateway.url(), &[port.address()]).await;
        let query = "COPY (SELECT i, lpad(i::text, 30, '0') FROM generate_series(1, 500000) i) TO STDOUT";
        let mut psql = Command::new("psql");
        psql.args(["--no-psqlrc", "--host", "127.0.0.1", "--port", &forward.address().port().to_string()]);
        let rows = output(psql.args(["--username", "test", "--command", query, "postgres"])).await;
        let mut expected = Sha256::default();
        (1..=500_000).for_each(|i| expected.update(format!("{i}\t{i:030}\n").as_bytes()));
        assert_eq!(digest_of(rows.as_bytes()).await.expect("memory can be read"), expected.finish());
        server.terminate();
        assert_eq!(server.ended().await, code::SUCCESS);
    })
    .await;
}

/// nginx in front of `gateway`: `/jet/jmux` is passed on as the manual says, `/plain` without the upgrade.
async fn nginx(nginx: PathBuf, directory: &Path, gateway: &str) -> (Program, SocketAddr, ReservedPort) {
    let port = ReservedPort::new();
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let paths = kinds.map(|kind| format!("{kind}_temp_path {kind};")).join("\n");
    let config = format!(
        "daemon off; master_process off; pid pid; error_log stderr notice; events {{}}
        http {{ access_log off; {paths}
            server {{
                listen {};
                location /jet/jmux {{
                    proxy_pass http://{gateway};
                    proxy_http_version 1.1;
                    proxy_set_header Upgrade $http_upgrade;
                    proxy_set_header Connection \"upgrade\";
                }}
                location /plain {{ proxy_pass http://{gateway}/jet/jmux; }}
            }}
        }}",
        port.address()
    );
    fs::write(directory.join("config"), config).expect("the directory is ours");
    let mut command = Command::new(nginx);
    command.args(["-e", "stderr", "-c", "config", "-p"]).arg(directory);
    let program = Program::start(&mut command);
    program.line("epoll").await;
    (program, port.address(), port)
}

/// wstunnel 365: through a reverse proxy it works, or says why it does not.
#[tokio::test]
async fn nginx_as_a_reverse_proxy() {
    let Some(program) = installed("nginx") else { return };
    scenario(async {
        let (server, directory, mut gateway) = (HttpServer::start().await, temporary(), Gateway::local_on("ws").await);
        let (_nginx, front, _port) = nginx(program, directory.path(), gateway.authority()).await;
        let forward = Forward::start(&format!("ws://{front}"), &[server.address()]).await;
        let curl = Curl::start(&["--fail", &format!("http://{}/20000000", forward.address())]);
        assert_eq!(curl.digest().await, (code::SUCCESS, Pattern::new(20_000_000).digest()));

        let destination = server.address().to_string();
        let mut without_upgrade = pipe(&format!("ws://{front}/plain"), &[], &destination);
        assert_eq!(without_upgrade.ended().await, code::GATEWAY);
        assert!(without_upgrade.said().contains("proxy"), "{}", without_upgrade.said());

        gateway.kill().await;
        let mut without_gateway = pipe(&format!("ws://{front}"), &[], &destination);
        assert_eq!(without_gateway.ended().await, code::GATEWAY);
        assert!(without_gateway.said().contains("(HTTP 502)"), "{}", without_gateway.said());
    })
    .await;
}
