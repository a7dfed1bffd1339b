//! Registers of light kernels. How many a kernel needs is known when it is compiled.

use std::collections::BTreeMap;

use equelle_runtime::Error;

use super::nvrtc::{self, KernelRegisters};

/// Registers of a thread with the launch bounds `EQ_LIGHT` and `EQ_MIDDLE`.
const LIGHT: u32 = 32;
const MIDDLE: u32 = 48;

/// Bytes that a thread of a light kernel may spill. On an H100, explicit heat with 24 bytes is
/// faster than with 40 registers (1.13), diffusion of sixth order with 32 bytes slower (1.3).
const MAX_SPILLED_BYTES: u32 = 24;

/// Bytes of a register.
const REGISTER: u32 = 4;

/// Compiles kernels as [`nvrtc::compile`] does, once more with other launch bounds where light ones
/// spill, for which it takes twice the time. With the machine code: what each kernel takes.
///
/// # Errors
/// As for [`nvrtc::compile`].
pub fn compile(source: &str, arch: &str, options: &[String]) -> Result<(Vec<u8>, Vec<KernelRegisters>), Error> {
    let compiled = nvrtc::compile_with_resources(source, arch, options)?;
    match with_more_registers(source, &compiled.1) {
        Some(source) => nvrtc::compile_with_resources(&source, arch, options),
        None => Ok(compiled),
    }
}

/// The source with the launch bounds that its light kernels need, unless it has them.
fn with_more_registers(source: &str, kernels: &[KernelRegisters]) -> Option<String> {
    let spilling = kernels.iter().filter(|kernel| kernel.registers <= LIGHT && kernel.spill_stores > MAX_SPILLED_BYTES);
    let bounds: BTreeMap<&str, &str> = spilling
        .map(|kernel| {
            let wanted = kernel.registers + kernel.spill_stores / REGISTER;
            (kernel.kernel.as_str(), if wanted <= MIDDLE { "EQ_MIDDLE" } else { "EQ_HEAVY" })
        })
        .collect();
    let mut changed = false;
    let lines: Vec<String> = source
        .lines()
        .map(|line| {
            let name = line.split_once(" void EQ_LIGHT ").and_then(|(_, rest)| rest.split('(').next());
            match name.and_then(|name| bounds.get(name)) {
                Some(bounds) => {
                    changed = true;
                    line.replacen("EQ_LIGHT", bounds, 1)
                }
                None => line.to_owned(),
            }
        })
        .collect();
    changed.then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str, registers: u32, spill_stores: u32) -> KernelRegisters {
        KernelRegisters { kernel: name.to_owned(), registers, spill_stores, spill_loads: spill_stores }
    }

    #[test]
    fn light_kernels_that_spill_get_more_registers() {
        let head = |bounds: [&str; 5]| {
            let names = ["few", "some", "many", "heavy", "many_more"];
            let lines = bounds.iter().zip(names).map(|(bounds, name)| format!("extern \"C\" __global__ void {bounds} {name}(int n) {{}}"));
            lines.collect::<Vec<_>>().join("\n")
        };
        let source = head(["EQ_LIGHT", "EQ_LIGHT", "EQ_LIGHT", "EQ_HEAVY", "EQ_LIGHT"]);
        let found =
            [kernel("few", 32, 24), kernel("some", 32, 28), kernel("many", 32, 68), kernel("heavy", 64, 300), kernel("many_more", 32, 0)];
        let expected = head(["EQ_LIGHT", "EQ_MIDDLE", "EQ_HEAVY", "EQ_HEAVY", "EQ_LIGHT"]);
        assert_eq!(with_more_registers(&source, &found), Some(expected));
        // Nothing to do is not a second compilation.
        assert_eq!(with_more_registers(&source, &found[..1]), None);
        assert_eq!(with_more_registers(&source, &found[3..]), None);
    }
}
