"""The book's first program in Python's shell."""

import doctest

from conftest import ROOT

PAGE = ROOT / "docs" / "book" / "src" / "first-program.md"


def blocks(text):
    """Kind, name of the file and text of each block of code."""
    lines = iter(text.splitlines(keepends=True))
    for line in lines:
        if line.startswith("```"):
            kind, _, name = line[3:].strip().partition(" ")
            body = []
            while (line := next(lines)) != "```\n":
                body.append(line)
            yield kind, name, "".join(body)


def test_the_first_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, ran = {}, 0
    runner = doctest.DocTestRunner()
    for kind, name, text in blocks(PAGE.read_text()):
        if kind in ("text", "equelle") and name:
            (tmp_path / name).write_text(text)
        elif kind == "python":
            test = doctest.DocTestParser().get_doctest(text, names, PAGE.name, str(PAGE), 0)
            said = []
            runner.run(test, out=said.append, clear_globs=False)
            assert not runner.failures, "".join(said)
            # Names of a block are there for the next one.
            names = test.globs
            ran += len(test.examples)
    assert ran >= 12
