//! Names of columns, and outputs that would share one.

use std::collections::BTreeMap;

use super::component::component;
use super::plan::OutputPlan;
use super::probe::Probe;
use crate::entity::EntityKind;
use crate::error::{Error, ErrorKind};
use crate::program::{OutputInfo, OutputKind, Program};

/// Names that single numbers cannot have: the first columns of the table, and the array from which
/// readers of VTK take the time.
pub const RESERVED: [&str; 3] = ["step", "time", "TimeValue"];

/// Checks, before anything is computed, that no two outputs of a program share a column of the
/// table or an array of a file of VTK on a grid of `dim` dimensions.
///
/// # Errors
/// `Data`, with both outputs.
pub(super) fn check(program: &Program, dim: usize, plan: &OutputPlan, probes: &[Probe]) -> Result<(), Error> {
    let formats = plan.formats;
    if let Some((at, probe)) = probes.iter().enumerate().find(|(at, probe)| probes[..*at].iter().any(|other| other.name == probe.name)) {
        let message = format!("the probe {} is given twice, the second time as number {}", probe.name, at + 1);
        return Err(Error::new(ErrorKind::Data, message).hint("give each point of `probe` once"));
    }
    let mut owners: BTreeMap<String, &OutputInfo> = BTreeMap::new();
    for output in program.outputs.iter().filter(|_| formats.has_step_files()) {
        for name in columns(output, dim, probes) {
            if RESERVED.contains(&name.as_str()) {
                return Err(shared(&name, program, "every run", &format!("the output `{}`", output.tag)));
            }
            match owners.get(&name) {
                Some(other) if other.tag != output.tag => {
                    return Err(shared(&name, program, &format!("the output `{}`", other.tag), &format!("the output `{}`", output.tag)));
                }
                Some(_) => {}
                None => {
                    owners.insert(name, output);
                }
            }
        }
    }
    let mut labels: BTreeMap<String, &OutputInfo> = BTreeMap::new();
    for output in program.outputs.iter().filter(|output| formats.vtu && output.kind.entities().is_some()) {
        let label = super::field::label(&output.tag, output.unit_in_names().map(|unit| &**unit)).into_owned();
        let other = *labels.entry(label.clone()).or_insert(output);
        if other.tag != output.tag {
            return Err(shared(&label, program, &format!("the output `{}`", other.tag), &format!("the output `{}`", output.tag)));
        }
    }
    Ok(())
}

/// The error for a name that two outputs have.
pub(super) fn shared(name: &str, program: &Program, first: &str, second: &str) -> Error {
    let message = format!("`{name}` would be two columns or arrays of program `{}`: of {first} and of {second}", program.name);
    Error::new(ErrorKind::Data, message)
        .hint("give the outputs other tags: the components of a Vector `v` are `v_x`, `v_y` and `v_z`, and at a probe `v_x(0.5 0.5)`")
}

fn columns(output: &OutputInfo, dim: usize, probes: &[Probe]) -> Vec<String> {
    let names =
        || (0..if output.kind.is_vector() { dim } else { 1 }).map(|axis| component(&output.tag, axis, output.kind.is_vector() && dim > 1));
    match output.kind {
        OutputKind::Number | OutputKind::Vector => names().collect(),
        OutputKind::Numbers(EntityKind::Cell) | OutputKind::Vectors(EntityKind::Cell) => {
            names().flat_map(|name| probes.iter().map(move |probe| name.clone() + &probe.name)).collect()
        }
        OutputKind::Numbers(EntityKind::Face | EntityKind::Edge | EntityKind::Vertex)
        | OutputKind::Vectors(EntityKind::Face | EntityKind::Edge | EntityKind::Vertex) => Vec::new(),
    }
}
