"""Runs: inputs, outputs, errors."""

import numpy as np
import pytest

import equelle
from conftest import ROOT


def by_numpy(u, steps):
    """The same scheme on a line of cells that nothing leaves; Gradient is a difference, Divergence a sum."""
    for dt in steps:
        flux = np.diff(u)
        change = np.zeros_like(u)
        change[:-1] += flux
        change[1:] -= flux
        u = u + dt * change
    return u


def test_heat_is_what_numpy_computes(heat, step):
    steps = [0.1] * 50
    result = heat.run(nx=100, u_initial=step, timesteps=steps)
    # Sums in another order: a few units of round-off.
    np.testing.assert_allclose(result["u"][-1], by_numpy(step, steps), rtol=0, atol=1e-15)
    assert len(result["u"]) == 50 and result.summary["steps"] == 50
    np.testing.assert_allclose(result.times, np.cumsum(steps), rtol=1e-12)
    assert result["u"].steps[-1] == 50
    np.testing.assert_allclose(result.scalars["sum"], 50, rtol=1e-13)


def test_steps_that_are_kept(heat, step):
    given = {"nx": 100, "u_initial": step, "timesteps": [0.1] * 25}
    every = heat.run(**given)
    tenth = heat.run(**given, output_every=10)
    assert list(tenth["u"].steps) == [1, 10, 20, 25] and list(tenth["sum"].steps) == [1, 10, 20, 25]
    for row, kept in zip(tenth["u"].steps, tenth["u"]):
        assert np.array_equal(kept, every["u"][row - 1])
    timed = heat.run(**given, output_times=[0.55, 1.0])
    assert list(timed["u"].steps) == [1, 6, 10, 25]
    followed = heat.steps(**given, output_every=10)
    assert [step.step for step in followed if len(step.outputs)] == [1, 10, 20, 25]


def test_the_memory_of_a_row_is_the_run_s(heat, step):
    result = heat.run(nx=100, u_initial=step, timesteps=[1e-5])
    row = result["u"][-1]
    assert row.base is not None and not row.flags.owndata and not row.flags.writeable
    address = row.base.__array_interface__["data"][0]
    assert row.__array_interface__["data"][0] == address
    del result
    assert np.isfinite(row).all(), "the row keeps its memory"
    with pytest.raises(ValueError):
        row[0] = 1


def test_inputs_of_any_layout_have_the_same_bits(heat):
    values = np.linspace(0, 1, 60).reshape(6, 10)
    expected = heat.run(nx=10, ny=6, u_initial=values.ravel(), timesteps=[0.01] * 3)["u"][-1]
    read_only = values.copy()
    read_only.flags.writeable = False
    strided = np.zeros((12, 30))[::2, ::3]
    strided[:] = values
    others = [
        values,
        np.asfortranarray(values),
        values.astype(">f8"),
        read_only,
        strided,
        values.astype(np.longdouble).astype(float),
        list(values.ravel()),
    ]
    for other in others:
        found = heat.run(nx=10, ny=6, u_initial=other, timesteps=[0.01] * 3)["u"][-1]
        assert np.array_equal(found, expected)
    # Single precision is exact for halves.
    halves = np.arange(60) / 2
    one = heat.run(nx=10, ny=6, u_initial=halves.astype(np.float32), timesteps=[0.01])["u"][-1]
    assert np.array_equal(one, heat.run(nx=10, ny=6, u_initial=halves, timesteps=[0.01])["u"][-1])


def test_an_array_changed_after_the_call_has_no_effect(heat, step):
    own = step.copy()
    rounds = heat.steps(nx=100, u_initial=own, timesteps=[1e-5] * 2)
    own[:] = 7
    for _ in rounds:
        pass
    expected = heat.run(nx=100, u_initial=step, timesteps=[1e-5] * 2)
    assert np.array_equal(rounds.results["u"][-1], expected["u"][-1])


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (dict(u_initial=np.zeros(99)), equelle.RunError, r"expected shape \(100,\) or \(1, 100\), found \(99,\)"),
        (dict(u_initial=np.zeros((100, 1))), equelle.RunError, r"expected shape"),
        (dict(u_initial=np.full(100, np.nan)), equelle.RunError, r"element \[0\]: nan is not a finite number"),
        (dict(u_initial=np.zeros(100, complex)), TypeError, "u_initial needs numbers"),
        (dict(u_initial=np.array(["a"] * 100)), TypeError, "u_initial needs numbers"),
        (dict(u_initial=np.array([None] * 100)), TypeError, "u_initial needs numbers"),
        (dict(u_initail=1.0), TypeError, "did you mean 'u_initial'"),
        (dict(), equelle.RunError, "u_initial: Collection Of Scalar"),
        (dict(u_initial=1.0, k=[1, 2]), TypeError, "k is one number"),
        (dict(u_initial=1.0, k="two"), equelle.RunError, "parameter `k`"),
        (dict(u_initial=1.0, u_initial_expression="x"), equelle.RunError, "two sources"),
        (dict(u_initial=np.zeros(100), u_initial_expression="x"), equelle.RunError, "two sources"),
    ],
)
def test_bad_inputs(heat, given, error, text):
    with pytest.raises(error, match=text):
        heat.run(nx=100, timesteps=[1e-5], **given)


def test_a_failed_run_says_where_and_keeps_what_it_put_out(heat, step):
    with pytest.raises(equelle.RunError) as caught:
        heat.run(nx=100, lx=1.0, u_initial=step, timesteps=[1e300] * 3)
    error = caught.value
    assert error.kind == "simulation" and error.lines and "program" not in error.message[:7]
    assert "heat.equelle" in str(error)
    assert "u" in error.results or not error.results.summary


def test_errors_of_programs_are_those_of_a_terminal():
    with pytest.raises(equelle.CompileError) as caught:
        equelle.compile('u = InputCollectionOfScalar("u", AllCells())\nOutput("u", u + Gradient(u))\n')
    assert "error[E0203]" in str(caught.value) and "hint" in str(caught.value)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic["code"], diagnostic["line"], diagnostic["severity"]) == ("E0203", 2, "error")


def test_inputs_and_outputs_are_listed(heat):
    assert list(heat.inputs) == ["u_initial", "k", "timesteps"]
    assert heat.inputs["k"].default == "1" and heat.inputs["timesteps"].kind == "sequence"
    assert heat.outputs["u"].per_step
    assert "u_initial" in heat._repr_html_()


def test_units_are_part_of_numbers():
    program = equelle.compile(
        "p = InputScalarWithDefault(\"p\", 1) * 1 [Bar]\nOutput(\"p\", p / (1 [Pascal]))\n"
    )
    assert program.inputs["p"].unit == "Bar"
    assert program.run(nx=1, p=2)["p"][-1] == 2e5
    assert program.run(nx=1, p="3e5 [Pascal]")["p"][-1] == 3e5


def test_vectors_bools_domains_and_tables():
    program = equelle.compile(
        """# dimensions: ignore
v = InputCollectionOfVector("v", AllCells())
b = InputCollectionOfBool("b", AllCells())
d = InputDomainSubsetOf("d", BoundaryFaces())
w = InputCollectionOfScalar("w", d)
t = InputTable("t", "p", "mu")
Output("v", v)
Output("length", |v|)
Output("b", b)
Output("cells", FirstCell(InteriorFaces()))
Output("d", w)
Output("mu", Interpolate(t, 1.5))
"""
    )
    grid = equelle.Grid.cartesian(3, 2)
    v = np.arange(12.0).reshape(6, 2)
    b = np.array([True, False, True, True, False, False])
    left = np.flatnonzero((grid.face_cells < 0).any(axis=1) & (grid.face_centroids[:, 0] == 0))
    given = dict(v=v, b=b, d=left, w=[5.0, 6.0], t={"p": [1, 2], "mu": [10.0, 30.0]})
    result = program.run(grid, **given)
    assert np.array_equal(result["v"][-1], v)
    np.testing.assert_allclose(result["length"][-1], np.linalg.norm(v, axis=1))
    assert np.array_equal(result["b"][-1], b) and result["b"][-1].dtype == bool
    cells = grid.face_cells[(grid.face_cells >= 0).all(axis=1), 0]
    assert np.array_equal(result["cells"][-1], cells) and result["cells"][-1].dtype == np.int64
    assert result["mu"][-1] == 20 and np.array_equal(result["d"][-1], [5.0, 6.0])
    mask = np.zeros(grid.n_faces, bool)
    mask[left] = True
    assert np.array_equal(program.run(grid, **{**given, "d": mask})["d"][-1], [5.0, 6.0])
    assert np.array_equal(program.run(grid, **{**given, "v": (1, 2)})["v"][-1], [[1, 2]] * 6)
    with pytest.raises(equelle.RunError, match=r"element \[1\]: not sorted"):
        program.run(grid, **{**given, "d": left[::-1]})
    with pytest.raises(equelle.RunError, match="no column `mu`"):
        program.run(grid, **{**given, "t": {"p": [1, 2], "nu": [1, 2]}})
    with pytest.raises(TypeError, match="b needs truth values"):
        program.run(grid, **{**given, "b": [1, 0, 1, 1, 0, 0]})


def test_newton_is_told(implicit):
    result = implicit.run(nx=20, ny=20, u=np.linspace(0, 1, 400), timesteps=[0.1] * 3)
    solves = result.newton
    assert len(solves) == 3 and all(solve["outcome"] == "converged" for solve in solves)
    assert solves[0]["iterations"][-1]["norm"] < solves[0]["iterations"][0]["norm"]
    assert result.summary["solves"][0]["solves"] == 3


def test_warnings_are_warnings(heat):
    with pytest.warns(equelle.EquelleWarning, match="no round"):
        heat.run(nx=4, u_initial=1.0, timesteps=[])


def test_a_program_of_a_file_and_its_imports(tmp_path):
    (tmp_path / "twice.equelle").write_text("twice(x) = {\n    -> x + x\n}\n")
    (tmp_path / "main.equelle").write_text('# dimensions: ignore\nImport "twice.equelle" (twice)\nOutput("two", twice(1))\n')
    assert equelle.compile(tmp_path / "main.equelle").run(nx=1)["two"][-1] == 2
    with pytest.raises(equelle.EquelleError, match="did you mean"):
        equelle.compile(tmp_path / "man.equelle")


def test_results_as_files(heat, step, tmp_path):
    result = heat.run(nx=100, u_initial=step, timesteps=[1e-5] * 2)
    *files, collection = result.to_vtu(tmp_path / "out")
    assert len(files) == 2 and collection.read_text().count("DataSet") == 2
    again = heat.run(nx=100, u_initial_filename=files[-1], u_initial_column="u", timesteps=[1e-5])
    assert np.array_equal(again["u"][-1], heat.run(nx=100, u_initial=result["u"][-1], timesteps=[1e-5])["u"][-1])
    heat.run(nx=100, u_initial=step, timesteps=[1e-5], output_dir=tmp_path / "files", output_format="npy")
    assert (tmp_path / "files").is_dir() and any((tmp_path / "files").iterdir())


def test_the_readme_runs():
    text = (ROOT / "equelle-python" / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    names = {}
    exec(code, names)
    assert names["result"]["u"][-1].shape == (100,)
