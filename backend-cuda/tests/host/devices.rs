//! Devices that refuse: no driver, no room, no graphs.
#![cfg(feature = "runtime")]

use std::io::Write;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use backend_cuda::runtime::device::direct::{DirectEngine, DirectSolves};
use backend_cuda::runtime::device::emulator::Emulator;
use backend_cuda::runtime::device::gpu::{GpuDevice, probe};
use backend_cuda::runtime::device::sparse::{Allocate, SparseMatrix, SparseProducts};
use backend_cuda::runtime::device::{
    AsyncCopy, CompileOptions, CopyId, Device, DeviceProperties, DevicePtr, FunctionId, GraphId, Launch, MappedWords, ModuleId,
};
use backend_cuda::runtime::{CudaRuntime, FloatingPoint, KernelModule, Precision};
use equelle_runtime::grid::{Cartesian, Grid};
use equelle_runtime::params::Parameters;
use equelle_runtime::report::MessageFormat;
use equelle_runtime::report::event::KernelResources;
use equelle_runtime::session::{Options, Session};
use equelle_runtime::{CanonicalSet, EntityKind, EquelleRuntime, Error, ErrorKind, Extent, HostAccess, KernelBytes, KernelInfo, Program};

const ALL_CELLS: CanonicalSet = CanonicalSet::new(EntityKind::Cell, Extent::All);

#[test]
fn a_machine_without_a_gpu_is_an_error_not_a_panic() {
    // On a machine with a GPU all of it is there.
    if let Err(error) = GpuDevice::open() {
        assert_eq!(error.kind, ErrorKind::Backend);
        assert!(!error.message.is_empty() && error.hint.is_some());
        if let Err(no_driver) = probe::driver() {
            assert!(no_driver.message.contains("driver"), "{no_driver}");
            // Asked again, the answer is the same.
            assert_eq!(probe::driver(), Err(no_driver));
        }
        assert_eq!(backend_cuda::runtime::report().unwrap_err().kind, ErrorKind::Backend);
    }
}

#[test]
fn unused_buffers_of_other_sizes_make_room() {
    // The emulator has 4 GiB; its memory is not touched here, so that this costs nothing.
    let grid = Grid::cartesian(Cartesian::line(400_000_000, 1.0)).unwrap();
    let mut rt = crate::common::runtime(Rc::new(Emulator::new()), grid, &[]);
    let (cells, faces) = (rt.domain(ALL_CELLS).unwrap(), rt.domain(CanonicalSet::new(EntityKind::Face, Extent::All)).unwrap());
    let on_cells = rt.new_collection(&cells).unwrap();
    let error = rt.new_collection(&faces).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Backend);
    assert!(error.message.contains("AllFaces()") && error.message.contains("3.20 GB"), "{}", error.message);
    drop(on_cells);
    let before = rt.counters();
    let on_faces = rt.new_collection(&faces).unwrap();
    assert_eq!(rt.counters().allocations, before.allocations + 1);
    // Freed memory is handed out again.
    let address = on_faces.pointer();
    drop(on_faces);
    assert_eq!(rt.new_collection(&faces).unwrap().pointer(), address);
    assert_eq!(rt.counters().allocations, before.allocations + 1);
}

/// The emulator, except that it builds no graphs.
struct NoGraphs(Emulator);

impl SparseProducts for NoGraphs {
    unsafe fn product(&self, a: &SparseMatrix, b: &SparseMatrix, allocate: &mut Allocate<'_>) -> Result<SparseMatrix, Error> {
        // SAFETY: as the caller promises.
        unsafe { self.0.product(a, b, allocate) }
    }
}

impl DirectSolves for NoGraphs {
    unsafe fn direct_engine(&self) -> Result<Box<dyn DirectEngine>, String> {
        // SAFETY: as the caller promises.
        unsafe { self.0.direct_engine() }
    }
}

impl Device for NoGraphs {
    fn properties(&self) -> &DeviceProperties {
        self.0.properties()
    }
    fn load(&self, module: &KernelModule, options: CompileOptions) -> Result<ModuleId, Error> {
        self.0.load(module, options)
    }
    fn function(&self, module: ModuleId, name: &str) -> Result<FunctionId, Error> {
        self.0.function(module, name)
    }
    fn allocate(&self, bytes: u64) -> Result<Option<DevicePtr>, Error> {
        self.0.allocate(bytes)
    }
    fn memory(&self) -> Result<(u64, u64), Error> {
        self.0.memory()
    }
    unsafe fn free(&self, memory: DevicePtr) {
        // SAFETY: the caller's promise.
        unsafe { self.0.free(memory) }
    }
    unsafe fn upload(&self, to: DevicePtr, bytes: &[u8]) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.0.upload(to, bytes) }
    }
    unsafe fn download(&self, from: DevicePtr, bytes: &mut [u8]) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.0.download(from, bytes) }
    }
    fn mapped_words(&self, count: usize) -> Result<Rc<dyn MappedWords>, Error> {
        self.0.mapped_words(count)
    }
    fn is_idle(&self) -> Result<bool, Error> {
        self.0.is_idle()
    }
    unsafe fn copy_to_host_async(&self, pieces: &[(DevicePtr, usize)]) -> Result<Option<AsyncCopy>, Error> {
        // SAFETY: the caller's promise.
        unsafe { self.0.copy_to_host_async(pieces) }
    }
    fn await_copy(&self, copy: CopyId) -> Result<(), Error> {
        self.0.await_copy(copy)
    }
    unsafe fn launch(&self, launch: &Launch) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.0.launch(launch) }
    }
    unsafe fn build_graph(&self, _: &[Launch]) -> Result<GraphId, Error> {
        Err(Error::new(ErrorKind::Backend, "graphs are not supported"))
    }
    unsafe fn launch_graph(&self, _: GraphId) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Backend, "there is no graph"))
    }
    unsafe fn time_launches(&self, _: &[Launch]) -> Result<Option<Vec<f64>>, Error> {
        Ok(None)
    }
    fn copy_bandwidth(&self) -> Option<f64> {
        None
    }
    fn resources(&self, _: FunctionId, _: u32) -> Option<KernelResources> {
        None
    }
    fn free_graph(&self, _: GraphId) {}
    fn synchronise(&self) -> Result<(), Error> {
        self.0.synchronise()
    }
}

const DOUBLING: KernelModule = KernelModule::constant(
    "doubling",
    "extern \"C\" __global__ void twice(const EqSpace space, const double* u, double* out) {\n\
             const EqEntity k = eq_index();\n\
             if (k < space.size) out[k] = 2.0 * u[k];\n\
             }\n",
    FloatingPoint::Strict,
);

/// Doubles the numbers of three cells once for each of `steps`. With `timed`, calls are timed, and
/// each round reads the numbers, so that it is a sequence of launches of its own.
fn ten_doublings(rt: &mut CudaRuntime, timed: Option<&'static KernelInfo>) -> Vec<f64> {
    let cells = rt.domain(ALL_CELLS).unwrap();
    let mut u = rt.scalar_collection(&cells, vec![1.0, -3.0, 0.5]).unwrap();
    let sequence = rt.input_sequence("steps").unwrap();
    let mut steps = rt.begin_loop(&sequence).unwrap();
    while rt.next(&mut steps).unwrap().is_some() {
        let out = rt.new_collection(&cells).unwrap();
        let space = rt.space(&cells).unwrap();
        let call = match timed {
            None => rt.call(&DOUBLING, "twice"),
            Some(info) => rt.call_over(&DOUBLING, info, "twice", cells.len()),
        };
        let call = call.unwrap().arg(space).arg(u.pointer()).arg(out.pointer());
        rt.launch_over(call, cells.len()).unwrap();
        u = out;
        if timed.is_some() {
            rt.values(&u).unwrap();
        }
    }
    rt.values(&u).unwrap()
}

#[test]
fn without_graphs_the_numbers_are_the_same() {
    if !crate::common::host_compiler() {
        return;
    }
    let path = std::env::temp_dir().join(format!("equelle-no-graphs-{}.txt", std::process::id()));
    std::fs::write(&path, "1 ".repeat(10)).unwrap();
    let parameters = [format!("steps_filename={}", path.display())];
    let grid = Grid::cartesian(Cartesian::line(3, 1.0)).unwrap();
    let mut rt = crate::common::runtime(Rc::new(NoGraphs(Emulator::new())), grid, &parameters);
    let doubled = ten_doublings(&mut rt, None);
    let _ = std::fs::remove_file(&path);
    assert_eq!(doubled, [1024.0, -3072.0, 512.0]);
    assert_eq!(rt.counters().graphs, 0);
    rt.finish().unwrap();
}

/// Modules of one name and length that are gone before the next one is called: none gets the kernel
/// of another one at its address.
#[test]
fn modules_that_come_and_go_are_told_apart() {
    for device in crate::common::devices() {
        let grid = Grid::cartesian(Cartesian::line(3, 1.0)).unwrap();
        let mut rt = crate::common::runtime(device, grid, &[]);
        let cells = rt.domain(ALL_CELLS).unwrap();
        let u = rt.scalar_collection(&cells, vec![1.0, -3.0, 0.5]).unwrap();
        for factor in 3..7 {
            let source = DOUBLING.source.replace("2.0", &format!("{factor}.0"));
            let module = KernelModule { name: "scaling".into(), source: source.into(), floating_point: FloatingPoint::Strict };
            let out = rt.new_collection(&cells).unwrap();
            let space = rt.space(&cells).unwrap();
            let call = rt.call(&module, "twice").unwrap().arg(space).arg(u.pointer()).arg(out.pointer());
            rt.launch_over(call, cells.len()).unwrap();
            assert_eq!(rt.values(&out).unwrap(), [1.0, -3.0, 0.5].map(|value| f64::from(factor) * value));
        }
        rt.finish().unwrap();
    }
}

static TWICE: KernelInfo = KernelInfo {
    name: "twice",
    lines: &[3],
    set: Some(ALL_CELLS),
    bytes: KernelBytes { general: [24; 3], cartesian: [16; 3] },
    takes_joined_sides: false,
    halo_layers: 0,
};

/// The profile counts all ten sequences of launches, of which two are timed.
#[test]
fn a_profile_has_all_calls_of_each_kernel_and_its_bytes() {
    for device in crate::common::devices() {
        let (stderr, dir) = (Buffer::default(), std::env::temp_dir());
        let path = dir.join(format!("equelle-profile-{}.txt", std::process::id()));
        std::fs::write(&path, "1 ".repeat(10)).unwrap();
        let parameters = Parameters::from_words(&[format!("steps_filename={}", path.display())]).unwrap();
        let grid = Grid::cartesian(Cartesian::line(3, 1.0)).unwrap();
        let stream = Box::new(stderr.clone());
        let options = Options { profile: true, quiet: true, format: MessageFormat::Json, stderr: stream, ..Options::silent() };
        let session = Session::on_grid(Program::named("test"), parameters, grid, options).unwrap();
        let mut rt = CudaRuntime::with_precision(session, Rc::clone(&device), Precision::Double).unwrap();
        let doubled = ten_doublings(&mut rt, Some(&TWICE));
        let _ = std::fs::remove_file(&path);
        assert_eq!(doubled, [1024.0, -3072.0, 512.0]);
        rt.finish().unwrap();
        let text = stderr.text();
        let profile = text.lines().find(|line| line.contains(r#""event":"profile""#)).unwrap_or_else(|| panic!("{text}"));
        // Three cells of 16 bytes in ten rounds.
        let of_kernel =
            profile.find(r#""name":"twice","lines":[3],"form":"threads","calls":10,"seconds":"#).unwrap_or_else(|| panic!("{profile}"));
        assert!(profile[of_kernel..].contains(r#""bytes":480"#), "{profile}");
        let seconds = profile[of_kernel..].split(r#""seconds":"#).nth(1).and_then(|rest| rest.split(',').next());
        let seconds: f64 = seconds.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{profile}"));
        assert!(seconds > 0.0 && seconds < 1.0, "{profile}");
        assert!(profile.contains(r#""rounds":10,"#), "{profile}");
        // The emulator has no registers.
        let emulated = device.resources(FunctionId(0), 256).is_none();
        assert_eq!(profile[of_kernel..].contains(r#""registers":null,"local_bytes":null,"occupancy":null"#), emulated, "{profile}");
        // The window of the loop is a kernel of the runtime, without bytes.
        assert!(profile.contains(r#""name":"equelle_loop_window","lines":[],"#), "{profile}");
    }
}

/// A stream that the test reads.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

const DIVIDING: KernelModule = KernelModule::constant(
    "dividing",
    "extern \"C\" __global__ void divide(const EqSpace space, const double* a, const double* b, double* out) {\n\
             const EqEntity k = eq_index();\n\
             if (k < space.size) out[k] = eq_divide(a[k], b[k]);\n\
             }\n",
    FloatingPoint::Strict,
);

/// Every pair of zeros, infinities, what is not a number, and numbers from the least to the
/// largest.
#[test]
fn divisions_are_those_of_ieee_bit_for_bit() {
    let magnitudes = [0.0, f64::from_bits(1), 1e-310, f64::MIN_POSITIVE, 1e-200, 0.3, 1.0, 9.81, 1e200, f64::MAX, f64::INFINITY, f64::NAN];
    let numbers: Vec<f64> = magnitudes.iter().flat_map(|&x| [x, -x]).collect();
    let pairs: Vec<(f64, f64)> = numbers.iter().flat_map(|&a| numbers.iter().map(move |&b| (a, b))).collect();
    for device in crate::common::devices() {
        let mut rt = crate::common::runtime(device, Grid::cartesian(Cartesian::line(pairs.len(), 1.0)).unwrap(), &[]);
        let cells = rt.domain(ALL_CELLS).unwrap();
        let (a, b) = pairs.iter().copied().unzip();
        let (a, b) = (rt.scalar_collection(&cells, a).unwrap(), rt.scalar_collection(&cells, b).unwrap());
        let out = rt.new_collection(&cells).unwrap();
        let space = rt.space(&cells).unwrap();
        let call = rt.call(&DIVIDING, "divide").unwrap().arg(space).arg(a.pointer()).arg(b.pointer()).arg(out.pointer());
        rt.launch_over(call, cells.len()).unwrap();
        for ((a, b), found) in pairs.iter().zip(rt.values(&out).unwrap()) {
            let expected = a / b;
            assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(), "{a:e} / {b:e} is {found:e}");
        }
    }
}
