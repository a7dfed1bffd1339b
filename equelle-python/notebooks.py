"""Executes the notebooks of the documentation, and writes their pictures to a folder.

    python notebooks.py FOLDER
"""

import base64
import sys
import warnings
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "docs" / "notebooks"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": NOTEBOOKS}}).execute()
        number = 0
        for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
            if output.output_type == "error" or output.get("name") == "stderr":
                sys.exit(f"{path.name}: {output}")
            if output.get("name") == "stdout":
                print(f"{path.stem}: {output.text.rstrip()}")
            if picture := output.get("data", {}).get("image/png"):
                number += 1
                (folder / f"{path.stem}-{number}.png").write_bytes(base64.b64decode(picture))
        print(f"{path.stem}: {number} pictures")


if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    main(Path(sys.argv[1]))
