//! Runs other programs: quietly while all is well, with everything they said when it is not.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

use crate::progress::Progress;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
        xtask.parent().expect("xtask lies inside the workspace").to_owned()
    })
}

/// The folder that cargo builds `profile` ("debug", "release") into.
pub(crate) fn built(profile: &str) -> Result<PathBuf> {
    let own = env::current_exe().context("where is the running xtask?")?;
    let target = own.ancestors().nth(2).context("xtask was not started by cargo")?;
    Ok(target.join(profile))
}

/// A program that starts in the workspace's folder.
pub(crate) fn program(name: &str) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Cargo, with `args`.
pub(crate) fn cargo<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = program("cargo");
    // `cargo run` describes xtask in the environment. Build scripts that watch these variables would run again
    // each time a build is started by hand and by xtask in turn.
    for (name, _) in env::vars_os() {
        let described = name.to_string_lossy();
        if described.starts_with("CARGO_PKG_") || described.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command.args(args);
    command
}

/// Runs `command`; its latest line is the news of `progress`.
///
/// The error holds all of its output.
pub(crate) fn run(command: &mut Command, progress: &Progress) -> Result<()> {
    run_with(command, |line| progress.news(line))
}

/// Runs `command` and shows each line of its output, standard error included, to `on_line`.
pub(crate) fn run_with(command: &mut Command, mut on_line: impl FnMut(&str)) -> Result<()> {
    let shown = shown(command);
    let (reader, writer) = std::io::pipe().context("no pipe")?;
    command.stderr(writer.try_clone().context("no pipe")?).stdout(writer);
    let mut child = command.spawn().with_context(|| format!("cannot run `{shown}`"))?;
    // The command holds our copies of the writing end: the output would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());

    let mut output = String::new();
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        on_line(&line);
        output.push_str(&line);
        output.push('\n');
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{output}`{shown}` failed, {status}");
    }
    Ok(())
}

/// The standard output of `command`.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let shown = shown(command);
    let output = command.output().with_context(|| format!("cannot run `{shown}`"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{said}`{shown}` failed, {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` printed no text"))
}

/// Where `name` is installed.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    // Debian keeps servers out of the path of ordinary users.
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
