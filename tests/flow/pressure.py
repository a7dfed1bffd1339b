"""Compares the pressure of a time step with OPM Flow's, on grids of the kind of SPE1 and SPE9.

    python3 tests/flow/pressure.py EQUELLEC FOLDER

Slightly compressible water, gravity, one injector and one producer at given rates. SPE1: three
layers of boxes of 10 x 10 cells. SPE9: 24 x 25 x 15 cells that dip, with a fault, in corner-point
form. Both begin with the pressure that Flow equilibrates. Pressures agree to 1e-4 of the largest
change (Flow writes them in single precision). Needs the packages opm, opm-simulators, resfo and
numpy.
"""

import os
import subprocess
import sys

import numpy as np

TOLERANCE = 1e-4
RATES = {"SPE1": 2000.0, "SPE9": 80.0}  # m3 a day at the surface

DECK = """RUNSPEC
TITLE
pressure
DIMENS
{n[0]} {n[1]} {n[2]} /
OIL
WATER
GAS
METRIC
EQLDIMS
/
TABDIMS
/
WELLDIMS
2 1 1 2 /
START
1 'JAN' 2020 /
UNIFOUT
GRID
INIT
{grid}
PROPS
PVTW
300 1.02 4.6e-5 0.5 0 /
PVDO
100 1.1 1.0
500 1.05 1.0 /
PVDG
100 0.01 0.02
500 0.003 0.03 /
DENSITY
800 1030 1 /
ROCK
300 4e-5 /
SWOF
0 0 1 0
1 1 0 0 /
SGOF
0 0 1 0
1 1 0 0 /
SOLUTION
EQUIL
2600 300 {above} 0 {above} 0 /
RPTRST
BASIC=2 /
SUMMARY
SCHEDULE
WELSPECS
I G {injector[0]} {injector[1]} 1* WATER /
P G {producer[0]} {producer[1]} 1* WATER /
/
COMPDAT
I {injector[0]} {injector[1]} {injector[2]} {injector[2]} OPEN 1* 1* 0.2 /
P {producer[0]} {producer[1]} {producer[2]} {producer[2]} OPEN 1* 1* 0.2 /
/
WCONINJE
I WATER OPEN RATE {rate} 1* 2000 /
/
WCONPROD
P OPEN WRAT 1* {rate} 3* 1 /
/
TSTEP
1 /
END
"""


def array(name, values):
    return name + "\n" + "\n".join(f"{value:.9g}" for value in np.ravel(values)) + " /\n"


def cells(n, values):
    """An array with a value for each layer."""
    return np.repeat(values, n[0] * n[1])


def spe1():
    n = (10, 10, 3)
    thickness = [6.1, 9.1, 15.2]
    grid = f"DX\n300*305 /\nDY\n300*305 /\n{array('DZ', cells(n, thickness))}TOPS\n100*2540 /\nPORO\n300*0.3 /\n"
    for name, factor in (("PERMX", 1.0), ("PERMY", 1.0), ("PERMZ", 0.1)):
        grid += array(name, cells(n, [500.0 * factor, 50.0 * factor, 200.0 * factor]))
    return n, grid, (1, 1, 1), (10, 10, 3)


def spe9():
    n = nx, ny, nz = (24, 25, 15)
    thickness = [6.1, 4.6, 7.9, 4.6, 4.9, 4.3, 2.4, 2.4, 5.5, 3.7, 5.8, 5.5, 6.1, 15.2, 30.5]
    width = 91.4
    coord = [[i * width, j * width, 2000.0, i * width, j * width, 4000.0] for j in range(ny + 1) for i in range(nx + 1)]
    tops = 2743.0 + np.concatenate(([0.0], np.cumsum(thickness)))
    zcorn = np.zeros((2 * nz, 2 * ny, 2 * nx))
    for row in range(2 * nz):
        for i in range(2 * nx):
            # Ten degrees along the first axis, and a throw of half a layer in its middle.
            along = ((i + 1) // 2) * width * np.tan(np.radians(10.0))
            zcorn[row, :, i] = tops[(row + 1) // 2] + along + (3.0 if i >= nx else 0.0)
    rng = np.random.default_rng(9)
    poro = [0.087, 0.097, 0.111, 0.16, 0.13, 0.17, 0.17, 0.08, 0.14, 0.13, 0.12, 0.105, 0.12, 0.116, 0.157]
    permeability = 10 ** rng.uniform(0.5, 2.5, nx * ny * nz)
    grid = array("COORD", coord) + array("ZCORN", zcorn) + array("PORO", cells(n, poro))
    grid += array("PERMX", permeability) + array("PERMY", permeability) + array("PERMZ", 0.01 * permeability)
    return n, grid, (24, 25, 11), (5, 1, 2)


def flow(path):
    """Pressures of OPM Flow before and after the step, in Pascal."""
    import resfo

    arguments = ["--enable-adaptive-time-stepping=false", "--tolerance-cnv=1e-8", "--tolerance-mb=1e-12"]
    arguments += ["--linear-solver-reduction=1e-10", "--newton-max-iterations=40", "--newton-min-iterations=6"]
    code = f"from opm.simulators import BlackOilSimulator as S; S({path!r}, args={arguments!r}).run()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=os.path.dirname(path))
    restart = path.replace(".DATA", ".UNRST")
    if done.returncode != 0 or not os.path.exists(restart):
        sys.exit(f"Flow: {(done.stdout + done.stderr)[-800:]}")
    if "control mode changed" in open(path.replace(".DATA", ".PRT")).read():
        sys.exit("Flow changed the control of a well, so that its rate is not the given one")
    pressures = [np.array(values, dtype=float) * 1e5 for key, values in resfo.read(restart) if key.strip() == "PRESSURE"]
    return pressures[0], pressures[-1]


def compare(name, case, equellec, folder):
    """The largest difference, as a part of the largest change of pressure."""
    n, grid, injector, producer = case
    path = os.path.join(folder, name + ".DATA")
    with open(path, "w") as out:
        out.write(DECK.format(n=n, grid=grid, above=100, injector=injector, producer=producer, rate=RATES[name]))
    before, after = flow(path)
    np.savetxt(os.path.join(folder, name + "-p0.txt"), before, fmt="%.17g")
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pressure.equelle")
    number = lambda cell: cell[0] - 1 + n[0] * (cell[1] - 1 + n[1] * (cell[2] - 1))
    rates = np.zeros(n[0] * n[1] * n[2])
    rates[number(injector)], rates[number(producer)] = RATES[name], -RATES[name]
    np.savetxt(os.path.join(folder, name + "-rate.txt"), rates, fmt="%.17g")
    words = [f"grid_filename={path}", "p0_from_file=true", f"p0_filename={folder}/{name}-p0.txt"]
    words += ["rate_from_file=true", f"rate_filename={folder}/{name}-rate.txt"]
    words += [f"{key}_property={key.upper()}" for key in ("permx", "permy", "permz", "poro")]
    words += ["solver=lu", "rel_res_tol=1e-12", f"output_dir={folder}/{name}", "output_to_file=true", "output_format=npy"]
    done = subprocess.run([equellec, "run", "--interpret", program, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"Equelle: {done.stderr}")
    found = [file for file in sorted(os.listdir(f"{folder}/{name}")) if file.startswith("p") and file.endswith(".npy")]
    own = np.load(f"{folder}/{name}/{found[-1]}").ravel()
    return np.abs(own - after).max() / np.abs(after - before).max(), np.abs(after - before).max() / 1e5


def main():
    equellec, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    worst = 0.0
    for name, case in (("SPE1", spe1()), ("SPE9", spe9())):
        part, change = compare(name, case, equellec, folder)
        print(f"{name}: pressures differ by {part:.1e} of the largest change, {change:.2f} bar")
        worst = max(worst, part)
    sys.exit(0 if worst < TOLERANCE else 1)


if __name__ == "__main__":
    main()
