//! Costs of operations on this GPU: `cargo xtask cost-model --target cuda` prints the table of
//! `backend-cuda/src/codegen/costs.rs`, relative to an addition.

use backend_cuda::runtime::device::gpu::GpuDevice;
use backend_cuda::runtime::device::{CompileOptions, Device, DevicePtr, Launch, LaunchShape, ModuleId};
use backend_cuda::runtime::{FloatingPoint, KernelModule, Precision};
use equelle_runtime::Error;
use equelle_runtime::math::table::{Interpolation, Outside, Table};

const KERNELS: KernelModule = KernelModule::constant("costs", include_str!("costs.cu"), FloatingPoint::Strict);
/// `EDGE` of the kernels.
const EDGE: u32 = 256;
const CELLS: u32 = EDGE * EDGE * EDGE;
/// Operations of a chain for each element.
const OPERATIONS: f64 = 4.0 * 64.0;
const THREADS: u32 = 256;
/// Number of launches; the fastest one counts.
const LAUNCHES: usize = 20;

/// A device with kernels and their arguments.
struct Bench {
    device: GpuDevice,
    module: ModuleId,
    arguments: Vec<u64>,
}

impl Bench {
    /// Seconds of a kernel for each element.
    fn seconds(&self, name: &'static str, elements: u32) -> Result<f64, Error> {
        let function = self.device.function(self.module, name)?;
        let shape = LaunchShape { grid: [elements / THREADS, 1, 1], block: [THREADS, 1, 1] };
        let offsets = (0..self.arguments.len() as u32).collect();
        let launch = Launch { function, name: name.into(), shape, words: self.arguments.clone(), offsets, work: None };
        // SAFETY: every kernel takes the three arrays, which have as many elements as it reads.
        let times = unsafe { self.device.time_launches(&vec![launch; LAUNCHES]) }?;
        let fastest = times.unwrap_or_default().into_iter().fold(f64::INFINITY, f64::min);
        Ok(fastest / f64::from(elements))
    }
}

/// The face at each side of each cell, faces numbered axis by axis: `[6][CELLS]`.
fn faces() -> Vec<u32> {
    let (n, m) = (EDGE, EDGE + 1);
    let of_axis = n * n * m;
    let mut faces = vec![0; 6 * CELLS as usize];
    for cell in 0..CELLS {
        let (i, j, k) = (cell % n, cell / n % n, cell / n / n);
        let low = [i + m * (j + n * k), of_axis + i + n * (j + m * k), 2 * of_axis + i + n * (j + n * k)];
        for (axis, stride) in [1, n, n * n].into_iter().enumerate() {
            for side in 0..2 {
                faces[(2 * axis + side) * CELLS as usize + cell as usize] = low[axis] + side as u32 * stride;
            }
        }
    }
    faces
}

fn array<T: bytemuck::NoUninit>(device: &GpuDevice, values: &[T]) -> Result<DevicePtr, Error> {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    let memory = device.allocate(bytes.len() as u64)?.ok_or_else(|| Error::internal("the device has too little memory"))?;
    // SAFETY: the memory has the size of the values.
    unsafe { device.upload(memory, bytes) }?;
    Ok(memory)
}

fn main() -> Result<(), Error> {
    let device = match GpuDevice::open() {
        Ok(device) => device,
        // `cargo test` runs benchmarks too.
        Err(error) => {
            eprintln!("no GPU ({error}): nothing is measured");
            return Ok(());
        }
    };
    let options = CompileOptions::new(3, Precision::Double);
    let module = device.load(&KERNELS, options)?;
    let values = vec![1.5_f64; 4 * CELLS as usize];
    let arguments = vec![array(&device, &values)?.0, array(&device, &faces())?.0, array(&device, &values)?.0];
    let mut bench = Bench { device, module, arguments };

    let store = bench.seconds("store", CELLS)?;
    let one = bench.seconds("one_load", CELLS)?;
    let stream = (bench.seconds("loads", CELLS / 4)? - bench.seconds("store", CELLS / 4)?) / 8.0;
    let neighbour = (bench.seconds("neighbours", CELLS)? - one) / 6.0;
    let by_face = (bench.seconds("by_face", CELLS)? - store) / 6.0;
    // Chains take long, so they run over fewer elements.
    let few = CELLS / 8;
    let idle = bench.seconds("one_load", few)?;
    // The table has rows 0 to 60. A look-up finds the argument of the next one: its values lie all
    // over the table and differ from thread to thread.
    let arguments: Vec<f64> = (0..61).map(f64::from).collect();
    let values: Vec<f64> = (0..61).map(|row| f64::from(row * 37 % 61)).collect();
    let table = Table::new(&arguments, &values, Interpolation::Linear, Outside::Constant).map_err(|_| Error::internal("no table"))?;
    let starts: Vec<f64> = (0..few + THREADS).map(|k| f64::from(k * 7 % 61) + 0.3).collect();
    let faces_and_values = [bench.arguments[1], bench.arguments[0]];
    (bench.arguments[1], bench.arguments[0]) = (array(&bench.device, table.numbers())?.0, array(&bench.device, &starts)?.0);
    let look_ups = bench.seconds("look_ups", few)?;
    [bench.arguments[1], bench.arguments[0]] = faces_and_values;
    let chain = |name| Ok::<f64, Error>((bench.seconds(name, few)? - idle) / OPERATIONS);
    let addition = chain("additions")?;
    let rows = [
        ("addition", addition),
        ("product", chain("products")?),
        ("quotient", chain("quotients")?),
        ("root", chain("roots")?),
        ("exponential", chain("exponentials")?),
        ("power", chain("powers")?),
        ("look_up", (look_ups - idle) / OPERATIONS),
        ("load", stream),
        ("neighbour", neighbour),
        ("by_face", by_face),
        ("store", store),
    ];
    println!("{}", bench.device.properties().name);
    for (name, seconds) in rows {
        println!("{name:<12} {:8.4} ns {:8.1}", seconds * 1e9, seconds / addition);
    }
    Ok(())
}
