//! A back-end is one crate and one line: this one, which `equellec` does not have, is registered
//! beside its own and used by every part of the driver.

use std::ffi::OsString;
use std::fs;

use equelle::registry;
use equelle_front::backend::forms::{ChosenForm, LoopForm};
use equelle_front::backend::{Availability, Backend, BackendError, DeviceKind, KernelNames, Scratch};
use equelle_front::cost::CostModel;
use equelle_front::ir::Module;
use equelle_front::verify::Verified;
use equellec::{cli, doctor};

/// Lists the kernels of a program, and generates no code.
#[derive(Debug)]
struct Listing;

impl Backend for Listing {
    fn name(&self) -> &'static str {
        "listing"
    }

    fn description(&self) -> &'static str {
        "Lists of kernels"
    }

    fn listing(&self) -> (&'static str, &'static str) {
        ("kernels", ".txt")
    }

    fn device_kind(&self) -> DeviceKind {
        DeviceKind::Gpu
    }

    fn availability(&self) -> Availability {
        Availability { runs: false, found: vec!["no device".to_owned(), "nor a driver".to_owned()] }
    }

    fn files(&self, module: &Verified) -> Result<Vec<(String, String)>, BackendError> {
        let names = KernelNames::for_module(module.module());
        let lines = names.iter().map(|names| format!("{}\n", names.method)).collect();
        Ok(vec![("src/kernels.txt".to_owned(), lines)])
    }

    /// It goes through lists alone.
    fn forms(&self, module: &Verified) -> Result<Vec<ChosenForm>, BackendError> {
        Ok(vec![ChosenForm::new(LoopForm::List); module.module().kernels.len()])
    }

    /// Nothing is stored that can be computed again.
    fn costs(&self) -> CostModel {
        CostModel { recompute: 1_000_000, ..CostModel::default() }
    }

    /// More than any other back-end.
    fn scratch(&self, module: &Module) -> Vec<Scratch> {
        vec![Scratch { of_faces: 77, of_cells: 0 }; module.kernels.len()]
    }
}

const BACKENDS: registry::Registry = &[registry::BACKENDS[0], registry::BACKENDS[1], &Listing];

const HEAT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/heat_explicit_3d/heat_explicit_3d.equelle");

fn run(words: &[&str]) -> bool {
    let words = ["equellec"].iter().chain(words).map(OsString::from);
    cli::run_with(BACKENDS, &["equellec".into()], words) == 0
}

#[test]
fn packages_have_its_files_and_its_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let package = |backends: &str| {
        let folder = folder.path().join(backends);
        assert!(run(&[HEAT, "--backend", backends, "-o", folder.to_str().expect("a path")]), "{backends}");
        move |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let (serial, both, own) = (package("serial"), package("serial,listing"), package("listing"));
    assert_eq!(both("src/kernels.txt"), "compute_minus_itrans\ncompute_btrans_direction\ncompute_u\ncompute_max_u\n");
    let (manifest, main) = (both("Cargo.toml"), both("src/main.rs"));
    assert!(manifest.contains("\nbackend-listing = { path = ") && manifest.contains("\nbackend-serial = "), "{manifest}");
    assert!(main.contains("name: \"listing\"") && main.contains("backend_listing::runtime::run("), "{main}");
    // The plan of memory is that of the back-end which needs most.
    let most = "general: Buffers::new([77, ";
    assert!(!serial("src/lib.rs").contains(most) && both("src/lib.rs").contains(most), "{}", both("src/lib.rs"));
    // Its costs count where it is the first: kernels are others.
    assert_eq!(serial("src/kernels.rs"), both("src/kernels.rs"));
    assert_ne!(own("src/kernels.rs"), both("src/kernels.rs"));
}

#[test]
fn the_command_line_knows_it() {
    assert!(run(&["emit", "kernels", HEAT]));
    assert!(!run(&["run", HEAT, "--interpret", "--backend", "listing"]));
    let help = cli::args::command(BACKENDS).render_long_help().to_string();
    assert!(help.contains("- listing: Lists of kernels") && help.contains("cuda, kernels, manifest"), "{help}");
    let own = cli::args::command(registry::BACKENDS).render_long_help().to_string();
    assert!(!own.contains("listing"), "{own}");
}

#[test]
fn doctor_lists_it() {
    let report = doctor::examine(BACKENDS).text;
    let expected = "listing    no device\n           programs for listing can be built here, but not run\n           nor a driver\n";
    assert!(report.ends_with(expected), "{report}");
}
