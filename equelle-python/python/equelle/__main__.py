"""The command `equellec`: `python -m equelle` and the script of the package."""

import sys

from . import _equelle


def main() -> int:
    return _equelle.command([sys.executable, "-m", "equelle"], ["equellec", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
