"""A bar of progress."""

from __future__ import annotations

from contextlib import contextmanager


@contextmanager
def bar(name: str):
    """A function that shows the step of a run: a bar of tqdm, or a line on standard error."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        import sys

        def line(step, steps):
            print(f"\r{name}: step {step}" + (f" of {steps}" if steps else ""), end="", file=sys.stderr, flush=True)

        yield line
        print(file=sys.stderr)
        return
    shown = tqdm(desc=name, unit="step")

    def advance(step, steps):
        shown.total = steps
        shown.update(step - shown.n)

    try:
        yield advance
        if shown.total:
            shown.update(shown.total - shown.n)
    finally:
        shown.close()
