"""Examples of FiPy's and py-pde's documentation, in Equelle: the answers agree.

Where both take the same steps, numbers differ by round-off of many operations, or by the tolerance of a linear solver;
where an analytic solution is the judge, by what its scheme has as error.
"""

import numpy as np
import pytest

import equelle

# Boundary values on two sets of faces, two-point fluxes: what the examples of FiPy share.
SIDES = """# dimensions: ignore
dir = InputDomainSubsetOf("dir", BoundaryFaces())
value = InputCollectionOfScalar("value", dir)
inner = InnerCell(dir)
faces = InteriorFaces()
first = FirstCell(faces)
second = SecondCell(faces)
distance = |Centroid(first) - Centroid(second)|
half = |Centroid(dir) - Centroid(inner)|
"""


def ends(grid, values):
    """Faces at both ends of a line with their values."""
    x = grid.face_centroids[:, 0]
    left, right = x.argmin(), x.argmax()
    return dict(zip(("dir", "value"), ([left, right], values) if left < right else ([right, left], values[::-1])))


# --- FiPy ---------------------------------------------------------------------------------------------------


def test_fipy_diffusion_mesh1D_explicit():
    """examples.diffusion.mesh1D: explicit steps between 1 and 0."""
    fipy = pytest.importorskip("fipy")
    nx, dx, steps = 50, 1.0, 100
    dt = 0.9 * dx**2 / 2
    mesh = fipy.Grid1D(nx=nx, dx=dx)
    phi = fipy.CellVariable(mesh=mesh, value=0.0)
    phi.constrain(1, mesh.facesLeft)
    phi.constrain(0, mesh.facesRight)
    equation = fipy.TransientTerm() == fipy.ExplicitDiffusionTerm(coeff=1.0)
    for _ in range(steps):
        equation.solve(var=phi, dt=dt)
    program = equelle.compile(
        SIDES
        + """u : Mutable Collection Of Scalar On AllCells() = 0 Extend AllCells()
For dt In InputSequenceOfScalar("timesteps") {
    inside = ((|faces| / distance * Gradient(u)) Extend AllFaces())
    outside = ((OutwardSign(dir) * |dir| / half * (value - (u On inner))) Extend AllFaces())
    u = u + dt / |AllCells()| * Divergence(inside + outside)
}
Output("u", u)
"""
    )
    grid = equelle.Grid.cartesian(nx)
    result = program.run(grid, timesteps=[dt] * steps, **ends(grid, [1.0, 0.0]))
    np.testing.assert_allclose(result["u"][-1], phi.value, atol=1e-10)


IMPLICIT = (
    SIDES
    + """d = InputCollectionOfScalar("d", AllCells())
u : Mutable Collection Of Scalar On AllCells() = 0 Extend AllCells()
# In series: half of the way in each cell.
d_faces = 2 / (1 / (d On first) + 1 / (d On second))
For dt In InputSequenceOfScalar("timesteps") {
    residual(v) = {
        inside = ((d_faces * |faces| / distance * Gradient(v)) Extend AllFaces())
        outside = ((OutwardSign(dir) * |dir| / half * (d On inner) * (value - (v On inner))) Extend AllFaces())
        -> |AllCells()| * (v - u) - dt * Divergence(inside + outside)
    }
    u = NewtonSolve(residual, u)
}
Output("u", u)
"""
)


def test_fipy_diffusion_mesh1D_implicit():
    """examples.diffusion.mesh1D: a backward Euler step ten times as long, repeated."""
    fipy = pytest.importorskip("fipy")
    nx, dt, steps = 50, 9.0 / 2, 10
    mesh = fipy.Grid1D(nx=nx, dx=1.0)
    phi = fipy.CellVariable(mesh=mesh, value=0.0, hasOld=True)
    phi.constrain(1, mesh.facesLeft)
    phi.constrain(0, mesh.facesRight)
    equation = fipy.TransientTerm() == fipy.DiffusionTerm(coeff=1.0)
    for _ in range(steps):
        phi.updateOld()
        equation.solve(var=phi, dt=dt)
    grid = equelle.Grid.cartesian(nx)
    result = equelle.compile(IMPLICIT).run(grid, d=1.0, timesteps=[dt] * steps, rel_res_tol=1e-12, **ends(grid, [1.0, 0.0]))
    np.testing.assert_allclose(result["u"][-1], phi.value, atol=1e-5)


def test_fipy_diffusion_of_position():
    """examples.diffusion.mesh1D: a coefficient that varies by position, the steady state."""
    fipy = pytest.importorskip("fipy")
    # The coefficient jumps at faces, not in cells.
    nx, length = 100, 50.0
    mesh = fipy.Grid1D(nx=nx, dx=length / nx)
    x = mesh.cellCenters[0].value
    cells = np.where((x > length / 4) & (x < 3 * length / 4), 0.1, 1.0)
    coefficient = fipy.FaceVariable(mesh=mesh, value=1.0)
    faces = mesh.faceCenters[0]
    coefficient.setValue(0.1, where=(length / 4.0 <= faces) & (faces < 3.0 * length / 4.0))
    phi = fipy.CellVariable(mesh=mesh, value=0.0)
    phi.constrain(0, mesh.facesLeft)
    phi.constrain(1, mesh.facesRight)
    fipy.DiffusionTerm(coeff=coefficient).solve(var=phi)
    # The analytic solution is linear in three parts.
    exact = np.where(x < length / 4, x, np.where(x < 3 * length / 4, 10 * x - 9 * length / 4, x + 18 * length / 4)) / (11 * length / 2)
    grid = equelle.Grid.cartesian(nx, lengths=length)
    found = equelle.compile(IMPLICIT).run(grid, d=cells, timesteps=[1e12], **ends(grid, [0.0, 1.0]))["u"][-1]
    # FiPy has the coefficient at faces: half a cell to the side, a difference of the order of dx.
    np.testing.assert_allclose(found, exact, atol=1e-6)
    np.testing.assert_allclose(found, phi.value, atol=0.05)


def test_fipy_diffusion_nonlinear():
    """examples.diffusion.mesh1D: the coefficient 1 - phi; steady, 1 - sqrt(x / L)."""
    nx, length = 50, 50.0
    program = equelle.compile(
        SIDES
        + """residual(v) = {
    d = 1 - 0.5 * ((v On first) + (v On second))
    inside = ((d * |faces| / distance * Gradient(v)) Extend AllFaces())
    d_side = 1 - 0.5 * (value + (v On inner))
    outside = ((OutwardSign(dir) * d_side * |dir| / half * (value - (v On inner))) Extend AllFaces())
    -> Divergence(inside + outside)
}
Output("u", NewtonSolve(residual, 0.5 Extend AllCells()))
"""
    )
    grid = equelle.Grid.cartesian(nx, lengths=length)
    found = program.run(grid, **ends(grid, [1.0, 0.0]))["u"][-1]
    # FiPy's documentation accepts 0.1 for its own; midpoints are exact for this coefficient but near 1.
    np.testing.assert_allclose(found, 1 - np.sqrt(grid.centroids[:, 0] / length), atol=0.01)


def test_fipy_diffusion_mesh20x20():
    """examples.diffusion.mesh20x20: values on two corners of a square."""
    fipy = pytest.importorskip("fipy")
    nx, dt, steps = 20, 10 * 0.9 / 2, 10
    mesh = fipy.Grid2D(nx=nx, ny=nx, dx=1.0, dy=1.0)
    phi = fipy.CellVariable(mesh=mesh, value=0.0, hasOld=True)
    x, y = mesh.faceCenters
    top_left = (mesh.facesLeft & (y > nx / 2)) | (mesh.facesTop & (x < nx / 2))
    bottom_right = (mesh.facesRight & (y < nx / 2)) | (mesh.facesBottom & (x > nx / 2))
    phi.constrain(0, top_left)
    phi.constrain(1, bottom_right)
    equation = fipy.TransientTerm() == fipy.DiffusionTerm(coeff=1.0)
    for _ in range(steps):
        phi.updateOld()
        equation.solve(var=phi, dt=dt)
    grid = equelle.Grid.cartesian(nx, nx)
    sides = grid.boundary_faces
    x, y = grid.face_centroids[sides].T
    cold = ((x == 0) & (y > nx / 2)) | ((y == nx) & (x < nx / 2))
    warm = ((x == nx) & (y < nx / 2)) | ((y == 0) & (x > nx / 2))
    chosen = cold | warm
    given = dict(dir=sides[chosen], value=1.0 * warm[chosen])
    found = equelle.compile(IMPLICIT).run(grid, d=1.0, timesteps=[dt] * steps, rel_res_tol=1e-12, **given)["u"][-1]
    np.testing.assert_allclose(found, phi.value, atol=1e-5)


def test_fipy_convection_exponential():
    """examples.convection.exponential1D.mesh1D: steady, convection and diffusion by exponential fluxes."""
    fipy = pytest.importorskip("fipy")
    nx, length = 1000, 10.0
    mesh = fipy.Grid1D(dx=length / nx, nx=nx)
    phi = fipy.CellVariable(mesh=mesh, value=0.0)
    phi.constrain(0, mesh.facesLeft)
    phi.constrain(1, mesh.facesRight)
    (fipy.DiffusionTerm(coeff=1.0) + fipy.ExponentialConvectionTerm(coeff=(10.0,))).solve(var=phi)
    program = equelle.compile(
        SIDES
        + """speed = InputScalarWithDefault("speed", -10)
# The flux between two values a distance apart whose exact profile is exponential (Scharfetter and Gummel 1969).
bernoulli(p) = {
    -> p / (Exp(p) - 1)
}
peclet = speed * distance * Normal(faces)[0]
peclet_side = speed * half * OutwardNormal(dir)[0]
residual(v) = {
    inside = ((|faces| / distance * (bernoulli(-peclet) * (v On first) - bernoulli(peclet) * (v On second))) Extend AllFaces())
    outside = ((OutwardSign(dir) * |dir| / half * (bernoulli(-peclet_side) * (v On inner) - bernoulli(peclet_side) * value)) Extend AllFaces())
    -> Divergence(inside + outside)
}
Output("u", NewtonSolve(residual, 0.5 Extend AllCells()))
"""
    )
    grid = equelle.Grid.cartesian(nx, lengths=length)
    found = program.run(grid, **ends(grid, [0.0, 1.0]))["u"][-1]
    x = grid.centroids[:, 0]
    exact = (1 - np.exp(-10 * x)) / (1 - np.exp(-10 * length))
    np.testing.assert_allclose(found, exact, atol=1e-8)
    np.testing.assert_allclose(phi.value, exact, atol=1e-5)


PERIODIC = """# dimensions: ignore
faces = InteriorFaces()
first = FirstCell(faces)
second = SecondCell(faces)
distance = |Centroid(second) - Centroid(first)|
u0 = InputCollectionOfScalar("u0", AllCells())
vx = InputScalarWithDefault("vx", 0)
vy = InputScalarWithDefault("vy", 0)
volume_flux = (vx * Normal(faces)[0] + vy * Normal(faces)[1]) * |faces|
u : Mutable Collection Of Scalar On AllCells() = u0
For dt In InputSequenceOfScalar("timesteps") {
    residual(v) = {
        upwind = volume_flux > 0 ? v On first : v On second
        -> |AllCells()| * (v - u) + dt * Divergence(volume_flux * upwind - |faces| / distance * Gradient(v))
    }
    u = NewtonSolve(residual, u)
}
Output("u", u)
"""


@pytest.mark.parametrize("velocity", [(0.0, 0.0), (1.5, -0.75)])
def test_fipy_periodic_grid_2d(velocity):
    """PeriodicGrid2D: implicit diffusion, and with upwind convection."""
    fipy = pytest.importorskip("fipy")
    nx, ny, dx, dy, dt, steps = 12, 9, 0.25, 0.5, 0.1, 5
    mesh = fipy.PeriodicGrid2D(nx=nx, ny=ny, dx=dx, dy=dy)
    x, y = mesh.cellCenters.value
    start = np.exp(-((x - 0.6) ** 2) - (y - 3.9) ** 2)
    phi = fipy.CellVariable(mesh=mesh, value=start)
    equation = fipy.TransientTerm() + fipy.UpwindConvectionTerm(coeff=velocity) == fipy.DiffusionTerm(coeff=1.0)
    solver = fipy.DefaultAsymmetricSolver(tolerance=1e-13, iterations=2000)
    for _ in range(steps):
        equation.solve(var=phi, dt=dt, solver=solver)
    grid = equelle.Grid.cartesian(nx, ny, spacing=(dx, dy)).periodic("x-:x+", "y-:y+")
    program = equelle.compile(PERIODIC)
    words = dict(u0=start, vx=velocity[0], vy=velocity[1], timesteps=[dt] * steps, solver="lu")
    found = program.run(grid, **words)["u"][-1]
    np.testing.assert_allclose(found, phi.value, atol=1e-9)
    np.testing.assert_allclose(found.sum(), start.sum(), rtol=1e-12)
    # The joined sides matter.
    closed = program.run(equelle.Grid.cartesian(nx, ny, spacing=(dx, dy)), **words)["u"][-1]
    assert np.abs(closed - found).max() > 1e-3


# --- MFEM ---------------------------------------------------------------------------------------------------

ADVECTION = """# dimensions: ignore
vx = InputScalarWithDefault("vx", 1)
vy = InputScalarWithDefault("vy", 0)
faces = InteriorFaces()
flow = |faces| * (vx * Normal(faces)[0] + vy * Normal(faces)[1])
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("u0", AllCells())
For dt In InputSequenceOfScalar("timesteps") {
    u = u - dt / |AllCells()| * Divergence(flow * (flow > 0 ? u On FirstCell(faces) : u On SecondCell(faces)))
}
Output("u", u)
"""


@pytest.mark.parametrize("kind", ["TRIANGLE", "QUADRILATERAL"])
@pytest.mark.parametrize("velocity", [(1.5, -0.75), (-0.5, -2.0)])
def test_mfem_periodic_mesh(kind, velocity):
    """Its example 9, advection by discontinuous elements, on a mesh that MFEM makes periodic: of order 0 the
    elements are finite volumes with upwind fluxes."""
    mfem = pytest.importorskip("mfem.ser")
    sparse = pytest.importorskip("scipy.sparse")
    lengths, dt, steps = (3.0, 2.0), 0.02, 60
    mesh = mfem.Mesh.MakeCartesian2D(12, 8, getattr(mfem.Element, kind), True, *lengths)
    points = np.array(mesh.GetVertexArray())
    cells = [list(mesh.GetElement(number).GetVerticesArray()) for number in range(mesh.GetNE())]
    ways = [mfem.Vector([lengths[0], 0.0]), mfem.Vector([0.0, lengths[1]])]
    space = mfem.FiniteElementSpace(mfem.Mesh.MakePeriodic(mesh, mesh.CreatePeriodicVertexMapping(ways)), mfem.DG_FECollection(0, 2))
    coefficient = mfem.VectorConstantCoefficient(mfem.Vector(list(velocity)))

    def matrix(form):
        form.Assemble(0)
        form.Finalize(0)
        entries = form.SpMat()
        return sparse.csr_matrix((entries.GetDataArray().copy(), entries.GetJArray().copy(), entries.GetIArray().copy()))

    mass, advection = mfem.BilinearForm(space), mfem.BilinearForm(space)
    mass.AddDomainIntegrator(mfem.MassIntegrator())
    advection.AddDomainIntegrator(mfem.ConvectionIntegrator(coefficient, -1.0))
    advection.AddInteriorFaceIntegrator(mfem.TransposeIntegrator(mfem.DGTraceIntegrator(coefficient, 1.0, -0.5)))
    volumes, rates = matrix(mass).diagonal(), matrix(advection)
    centroids = np.array([points[cell].mean(axis=0) for cell in cells])
    start = np.exp(-4 * ((centroids[:, 0] - 0.7) ** 2 + (centroids[:, 1] - 1.6) ** 2))
    expected = start
    for _ in range(steps):
        expected = expected + dt * (rates @ expected) / volumes
    grid = equelle.Grid.from_arrays(points, cells).periodic("x-:x+", "y-:y+")
    np.testing.assert_allclose(grid.volumes, volumes, rtol=1e-13)
    found = equelle.compile(ADVECTION).run(grid, u0=start, vx=velocity[0], vy=velocity[1], timesteps=[dt] * steps)["u"][-1]
    np.testing.assert_allclose(found, expected, atol=1e-13)
    assert np.abs(found - start).max() > 0.1


# --- py-pde -------------------------------------------------------------------------------------------------


def test_pde_diffusion():
    """"A simple diffusion equation": a random field, no flux through the sides."""
    pde = pytest.importorskip("pde")
    state = pde.ScalarField(pde.UnitGrid([32, 24]), np.random.default_rng(1).uniform(0.2, 0.3, (32, 24)))
    expected = pde.DiffusionPDE(0.1).solve(state, t_range=10, dt=0.1, tracker=None, solver="euler", backend="numpy")
    program = equelle.compile(
        """# dimensions: ignore
u : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("u", AllCells())
For dt In InputSequenceOfScalar("timesteps") {
    u = u + dt * 0.1 * Divergence(Gradient(u))
}
Output("u", u)
"""
    )
    # py-pde has the first axis first.
    result = program.run(nx=32, ny=24, u=state.data.T, timesteps=[0.1] * 100)
    np.testing.assert_allclose(result.field("u").T, expected.data, atol=1e-12)


def test_pde_cahn_hilliard():
    """"Cahn-Hilliard": the Laplacian of a chemical potential that has one itself."""
    pde = pytest.importorskip("pde")
    state = pde.ScalarField(pde.UnitGrid([24, 24]), np.random.default_rng(2).uniform(-0.1, 0.1, (24, 24)))
    expected = pde.CahnHilliardPDE().solve(state, t_range=1, dt=1e-3, tracker=None, solver="euler", backend="numpy")
    program = equelle.compile(
        """# dimensions: ignore
c : Mutable Collection Of Scalar On AllCells() = InputCollectionOfScalar("c", AllCells())
For dt In InputSequenceOfScalar("timesteps") {
    mu = c * c * c - c - Divergence(Gradient(c))
    c = c + dt * Divergence(Gradient(mu))
}
Output("c", c)
"""
    )
    result = program.run(nx=24, ny=24, c=state.data.T, timesteps=[1e-3] * 1000)
    np.testing.assert_allclose(result.field("c").T, expected.data, atol=1e-10)


def test_pde_brusselator():
    """"Brusselator": two coupled fields with reactions."""
    pde = pytest.importorskip("pde")
    grid = pde.UnitGrid([20, 16])
    noise = np.random.default_rng(3).normal(0, 0.1, (20, 16))
    a, b, d0, d1 = 1.0, 3.0, 1.0, 0.1
    equation = pde.PDE(
        {
            "u": f"{d0} * laplace(u) + {a} - ({b} + 1) * u + u**2 * v",
            "v": f"{d1} * laplace(v) + {b} * u - u**2 * v",
        }
    )
    start = pde.FieldCollection([pde.ScalarField(grid, a), pde.ScalarField(grid, b / a + noise)])
    expected = equation.solve(start, t_range=2, dt=1e-3, tracker=None, solver="euler", backend="numpy")
    program = equelle.compile(
        """# dimensions: ignore
a = InputScalarWithDefault("a", 1)
b = InputScalarWithDefault("b", 3)
u : Mutable Collection Of Scalar On AllCells() = a Extend AllCells()
v : Mutable Collection Of Scalar On AllCells() = b / a + InputCollectionOfScalar("noise", AllCells())
For dt In InputSequenceOfScalar("timesteps") {
    reaction = u * u * v
    u_rate = Divergence(Gradient(u)) + a - (b + 1) * u + reaction
    v = v + dt * (0.1 * Divergence(Gradient(v)) + b * u - reaction)
    u = u + dt * u_rate
}
Output("u", u)
Output("v", v)
"""
    )
    result = program.run(nx=20, ny=16, noise=noise.T, timesteps=[1e-3] * 2000)
    np.testing.assert_allclose(result.field("u").T, expected[0].data, atol=1e-9)
    np.testing.assert_allclose(result.field("v").T, expected[1].data, atol=1e-9)
