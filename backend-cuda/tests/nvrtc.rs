//! Compiles kernels with NVRTC. Needs the library, no GPU; without it these tests pass unless
//! `EQUELLE_NVRTC=required`. An executable of its own, which `cargo xtask cuda-host-tests` starts
//! with the path of the library.
#![cfg(feature = "runtime")]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use backend_cuda::runtime::device::gpu::nvrtc::KernelRegisters;
use backend_cuda::runtime::device::gpu::{nvrtc, probe, registers};
use backend_cuda::runtime::kernels::{OWN_MODULES, PRELUDE};
use backend_cuda::runtime::{KernelModule, KernelText, Precision};
use equelle_runtime::{Error, ErrorKind};

fn missing() -> bool {
    match probe::nvrtc() {
        Ok(()) => false,
        Err(error) => {
            assert_ne!(std::env::var("EQUELLE_NVRTC").as_deref(), Ok("required"), "{error}");
            assert_eq!(error.kind, ErrorKind::Backend);
            assert!(error.message.contains("libnvrtc"), "{error}");
            assert!(error.hint.is_some());
            true
        }
    }
}

/// Compiles a text for a target.
type Compilation = Box<dyn Fn() -> Result<Vec<u8>, Error> + Send + Sync>;

#[test]
fn kernels_compile_for_every_dimension() {
    if missing() {
        return;
    }
    let by_hand = [include_str!("heat_by_hand/kernels.cu"), include_str!("numbering/kernels.cu")];
    let mut compilations: Vec<Compilation> = Vec::new();
    for arch in ["sm_80", "sm_90", "sm_100"] {
        for source in OWN_MODULES.map(|module| module.source).into_iter().chain(by_hand.map(KernelText::Constant)) {
            // Most texts are the same in each dimension.
            for dim in if source.contains("DIM") { 1..=3 } else { 3..=3 } {
                let source = source.to_string();
                compilations.push(Box::new(move || nvrtc::compile_with_nvrtc(&source, arch, dim)));
            }
        }
        // In single precision those of collections, and those that are of singles in any program.
        let is_single = |module: &KernelModule| module.precision(Precision::Single) == Precision::Single;
        for module in OWN_MODULES.into_iter().filter(is_single) {
            let source = module.full_source();
            compilations.push(Box::new(move || nvrtc::compile(&source, arch, &["-DDIM=3".to_owned(), "-DEQ_SINGLE=1".to_owned()])));
        }
    }
    // Offsets of 64 bits, for grids with very many faces.
    let wide = format!("{PRELUDE}\n{}", include_str!("heat_by_hand/kernels.cu"));
    compilations.push(Box::new(move || nvrtc::compile(&wide, "sm_90", &["-DDIM=3".to_owned(), "-DEQ_WIDE_OFFSETS=1".to_owned()])));
    let next = AtomicUsize::new(0);
    let compile_some = || {
        while let Some(compile) = compilations.get(next.fetch_add(1, Ordering::Relaxed)) {
            assert_eq!(&compile().unwrap()[..4], b"\x7fELF", "machine code is an ELF file");
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(compile_some);
        }
    });
}

const CONTRACTIBLE: &str =
    "extern \"C\" __global__ void k(const double* a, double* out) { const int i = threadIdx.x; out[i] = a[i] * a[i + 1] + a[i + 2]; }";

#[test]
fn strict_kernels_contract_nothing() {
    if missing() {
        return;
    }
    let ptx = |options: &[String]| String::from_utf8(nvrtc::compile(CONTRACTIBLE, "compute_90", options).unwrap()).unwrap();
    let strict = ptx(&[]);
    assert!(strict.contains("mul.rn.f64") && strict.contains("add.rn.f64") && !strict.contains("fma.rn.f64"), "{strict}");
    assert!(strict.ends_with('\0'), "the driver takes PTX as a C string");
    assert!(ptx(&["--fmad=true".to_owned()]).contains("fma.rn.f64"));
}

#[test]
fn kernels_that_do_not_compile_are_an_error_with_the_compilers_words() {
    if missing() {
        return;
    }
    let error =
        nvrtc::compile_with_nvrtc("\nextern \"C\" __global__ void k(double* out) { out[0] = undeclared; }", "sm_90", 2).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Backend);
    assert!(error.message.contains("kernels.cu(2)") && error.message.contains("undeclared"), "{}", error.message);
    assert!(!error.message.contains("warning"), "nothing but the error: {}", error.message);
}

/// The second kernel of a program, and what is said of it: its name, and the lines that it was made
/// of.
#[test]
fn kernels_that_do_not_compile_are_named_with_their_lines() {
    if missing() {
        return;
    }
    let error = nvrtc::compile(&crate::common::BROKEN.full_source(), "sm_90", &["-DDIM=2".to_owned()]).unwrap_err();
    crate::common::names_the_broken_kernel(&crate::common::BROKEN.with_kernel(error));
}

#[test]
fn devices_that_nvrtc_does_not_know() {
    if missing() {
        return;
    }
    assert_eq!(nvrtc::target(90).unwrap(), "sm_90");
    // A device of the future runs the newest text there is.
    let future = nvrtc::target(9990).unwrap();
    assert!(future.starts_with("compute_1"), "{future}");
    nvrtc::compile_with_nvrtc(CONTRACTIBLE, &future, 3).unwrap();
    // Kepler, of 2012.
    assert_eq!(nvrtc::target(30).unwrap_err().kind, ErrorKind::Backend);
}

/// A sum over all values that a cell has loaded before: `count` doubles wait in registers.
fn waiting(name: &str, count: usize) -> String {
    let loads: String = (0..count).map(|k| format!("const double v{k} = a[i + {k}];\n")).collect();
    let squares: String = (0..count).map(|k| format!(" + v{k} * v{}", count - 1 - k)).collect();
    let roots: String = (0..count).map(|k| format!(" + sqrt(v{k})")).collect();
    format!(
        "extern \"C\" __global__ void EQ_LIGHT {name}(const double* a, double* out) {{\n\
         const int i = threadIdx.x;\n{loads}out[i] = 0.0{squares};\nout[i + 1] = 0.0{roots};\n}}\n"
    )
}

#[test]
fn light_kernels_that_spill_are_compiled_with_more_registers() {
    if missing() {
        return;
    }
    let source = format!("{PRELUDE}\n{}{}", waiting("few", 4), waiting("many", 24));
    let options = ["-DDIM=3".to_owned()];
    let (_, at_first) = nvrtc::compile_with_resources(&source, "sm_90", &options).unwrap();
    let (_, at_last) = registers::compile(&source, "sm_90", &options).unwrap();
    let of = |kernels: &[KernelRegisters], name: &str| {
        kernels.iter().find(|kernel| kernel.kernel == name).cloned().unwrap_or_else(|| panic!("`{name}` is not in {kernels:?}"))
    };
    assert_eq!(of(&at_first, "few"), of(&at_last, "few"));
    let (spilling, roomy) = (of(&at_first, "many"), of(&at_last, "many"));
    assert!(spilling.registers == 32 && spilling.spill_stores > 40, "{spilling:?}");
    assert!(roomy.registers > 32 && roomy.spill_stores < spilling.spill_stores / 4, "{roomy:?}");
}
