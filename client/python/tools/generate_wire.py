#!/usr/bin/python3
"""Generates curator_dp/_wire from the .proto files of the repository.

    client/python/tools/generate_wire.py           writes curator_dp/_wire
    client/python/tools/generate_wire.py --check   fails where what is committed is not what would be written

The modules are committed, so that installing the package needs no compiler. They lie within the package, whatever other packages a
program has. The messages of google.rpc get a package name of their own: googleapis-common-protos registers others under theirs, and
one process can have only one of each name. Their bytes are the same. What is for administrators, auditors and owners alone is left out,
and so are the classes of gRPC's own generator, most of which serve: curator_dp/_services.py calls by the descriptors.

Needs Debian 12's protobuf-compiler: other versions write other files.
"""

import argparse
import filecmp
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = Path(__file__).resolve().parent.parent
PROTO = PYTHON.parent.parent / "proto"
WIRE = PYTHON / "curator_dp" / "_wire"
PACKAGE = "curator_dp._wire"
UNUSED = ("audit", "identity", "owner")


def copy_protos(folder: Path) -> list[str]:
    """Copies the .proto files below `folder` and returns their paths in it."""
    for source in sorted(PROTO.glob("curator/v1/*.proto")):
        if source.stem in UNUSED:
            continue
        target = folder / "curator" / "v1" / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for source in sorted(PROTO.glob("google/rpc/*.proto")):
        target = folder / "curator" / "rpc" / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text().replace("package google.rpc;", "package curator.rpc;"))
    return [str(path.relative_to(folder)) for path in sorted(folder.rglob("*.proto"))]


def relocate(path: Path) -> None:
    """Makes the imports of one generated file those of the package."""
    text = path.read_text()
    text = re.sub(r"^from (curator\.(?:v1|rpc)) import", rf"from {PACKAGE}.\1 import", text, flags=re.MULTILINE)
    path.write_text(text)


def generate(wire: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        protos = copy_protos(folder)
        wire.mkdir(parents=True)
        command = ["protoc", f"-I{folder}", "-I/usr/include", f"--python_out={wire}", f"--pyi_out={wire}", *protos]
        subprocess.run(command, check=True, cwd=folder)
    for path in [*wire.rglob("*.py"), *wire.rglob("*.pyi")]:
        relocate(path)
    for package in [wire, *(path for path in sorted(wire.rglob("*")) if path.is_dir())]:
        (package / "__init__.py").write_text("")


def differences(committed: Path, generated: Path) -> list[str]:
    names = {
        str(path.relative_to(folder))
        for folder in (committed, generated)
        for path in folder.rglob("*.py*")
        if path.suffix in (".py", ".pyi")
    }
    return sorted(
        name
        for name in names
        if not (committed / name).is_file()
        or not (generated / name).is_file()
        or not filecmp.cmp(committed / name, generated / name, shallow=False)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Generates curator_dp/_wire from the .proto files.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail where the committed files differ")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        generated = Path(temporary) / "_wire"
        generate(generated)
        different = differences(WIRE, generated)
        if options.check:
            for name in different:
                print(f"client/python/curator_dp/_wire/{name} is not what proto/ gives: run client/python/tools/generate_wire.py")
            return 1 if different else 0
        if WIRE.exists():
            shutil.rmtree(WIRE)
        shutil.copytree(generated, WIRE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
