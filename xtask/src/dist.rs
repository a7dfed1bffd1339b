//! `cargo xtask dist`: an archive of the compiler for people without this repository, tried in an
//! empty folder; and the [`wheel`] of the Python package.

mod wheel;

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tools::{self, Failure, cargo, root};

/// Shells with completions in the archive, and the names of the scripts.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "equellec.bash"), ("zsh", "_equellec"), ("fish", "equellec.fish")];
/// Verbs with a manual page of their own.
const PAGES: [&str; 7] = ["run", "build", "compare", "sweep", "plot", "check", "explain"];
/// Files of the repository in the archive.
const FILES: [&str; 6] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "equelle-plot/fonts/LICENSE-DejaVu",
    "examples/heat_explicit_2d/heat_explicit_2d.equelle",
];

/// Builds the archive `target/dist/equellec-VERSION-TARGET.tar.gz` and checks it.
pub(crate) fn make() -> Result<(), Failure> {
    tools::run(cargo().args(["build", "--release", "--locked", "--package", "equellec", "--config", "profile.release.strip=true"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    let program = target.join("release").join(format!("equellec{}", std::env::consts::EXE_SUFFIX));
    let name = format!("equellec-{}-{}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS);
    let dist = target.join("dist");
    let folder = dist.join(&name);
    tools::empty_folder(&folder)?;
    copy(&program, &folder.join("bin").join(program.file_name().unwrap_or_default()))?;
    for file in FILES {
        copy(&root().join(file), &folder.join(file.rsplit('/').next().unwrap_or(file)))?;
    }
    for file in tools::tracked_files(&["json", "el", "md"])?.iter().filter(|file| file.starts_with("editors/")) {
        copy(&root().join(file), &folder.join(file))?;
    }
    tools::write(&folder.join("man/equellec.1"), &printed(&program, &["man"])?)?;
    for verb in PAGES {
        tools::write(&folder.join(format!("man/equellec-{verb}.1")), &printed(&program, &["man", verb])?)?;
    }
    for (shell, file) in COMPLETIONS {
        tools::write(&folder.join("completions").join(file), &printed(&program, &["completions", shell])?)?;
    }
    let archive = format!("{name}.tar.gz");
    tools::run(Command::new("tar").current_dir(&dist).args(["--create", "--gzip", "--file", &archive, &name]))?;
    check(&dist.join(&archive), &name)?;
    eprintln!("xtask: wrote {}", dist.join(&archive).display());
    wheel::make(&dist)
}

/// Unpacks the archive in an empty folder, and runs what is in it with an empty cache.
fn check(archive: &Path, name: &str) -> Result<(), Failure> {
    let scratch = archive.with_file_name("check");
    tools::empty_folder(&scratch)?;
    tools::run(Command::new("tar").current_dir(&scratch).arg("--extract").arg("--file").arg(archive))?;
    let folder = scratch.join(name);
    let program = folder.join("bin").join(format!("equellec{}", std::env::consts::EXE_SUFFIX));
    let run = |words: &[&str]| {
        let mut command = Command::new(&program);
        tools::run(command.current_dir(&folder).env("EQUELLE_CACHE_DIR", scratch.join("cache")).args(words))
    };
    run(&["--version"])?;
    run(&["check", "heat_explicit_2d.equelle"])?;
    let data = ["u_initial=0", "dirichlet_boundary_set=x-", "dirichlet_val=1", "timesteps=3*0.1", "nx=8", "output_to_file=false"];
    run(&[&["run", "--interpret", "--quiet", "heat_explicit_2d.equelle"], &data[..]].concat())?;
    run(&["heat_explicit_2d.equelle", "-o", "heat-sim"])?;
    examples_without_cargo(&program, &scratch)?;
    for file in ["man/equellec.1", "man/equellec-run.1", "completions/equellec.bash", "editors/equelle-mode.el", "LICENSE-MIT"] {
        if fs::metadata(folder.join(file)).map_or(0, |data| data.len()) == 0 {
            return Err(format!("`{file}` is not in the archive"));
        }
    }
    fs::remove_dir_all(&scratch).map_err(|error| format!("cannot remove `{}`: {error}", scratch.display()))
}

/// Runs every example where there is no cargo, and nothing has been built.
fn examples_without_cargo(program: &Path, scratch: &Path) -> Result<(), Failure> {
    for example in tools::examples()? {
        let folder = root().join("examples").join(&example.name);
        let mut command = Command::new(program);
        command.arg("run").arg(folder.join(format!("{}.equelle", example.name))).arg(folder.join("case.param"));
        command.arg(format!("output_dir={}", scratch.join(&example.name).display()));
        command.env_clear().env("PATH", scratch.join("nothing")).env("EQUELLE_CACHE_DIR", scratch.join("cache"));
        let output = command.output().map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
        if !output.status.success() {
            return Err(format!("`{}` fails without cargo:\n{}", example.name, String::from_utf8_lossy(&output.stderr)));
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let made = to.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::copy(from, to).map(drop)).map_err(|error| format!("cannot copy `{}`: {error}", from.display()))
}

/// Returns the compiler's output.
fn printed(program: &Path, words: &[&str]) -> Result<String, Failure> {
    let output = Command::new(program).args(words).output().map_err(|error| format!("{} cannot be run: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("equellec {} failed: {}", words.join(" "), output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("equellec {} prints no text: {error}", words.join(" ")))
}
