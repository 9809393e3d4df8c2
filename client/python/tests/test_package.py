"""The wheel and the Debian package: what they hold, and that they install without a network."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import curator_dp as cu
from testing.server import ROOT


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("package")
    for command in (["cmake", "-S", str(ROOT / "client" / "python"), "-B", str(folder)], ["cmake", "--build", str(folder)], ["cpack"]):
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout
    yield folder


def wheel_of(built: Path) -> Path:
    (wheel,) = (built / "wheel").glob("*.whl")
    return wheel


def test_the_wheel_has_the_package_with_its_types_and_no_tests(built: Path) -> None:
    wheel = wheel_of(built)
    assert wheel.name == f"curator_dp-{cu.__version__}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    assert {"curator_dp/py.typed", "curator_dp/_client.py", "curator_dp/_wire/curator/v1/query_pb2.pyi"} <= set(names)
    assert {name.split("/")[0] for name in names} == {"curator_dp", f"curator_dp-{cu.__version__}.dist-info"}
    assert not [name for name in names if "test" in name]


def test_the_wheel_installs_into_an_environment_of_system_packages_alone(built: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel_of(built))]
    subprocess.run(install, check=True)
    shown = subprocess.run(
        [python, "-I", "-c", "import curator_dp; print(curator_dp.__file__)"], check=True, stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert shown.stdout.startswith(str(tmp_path / "venv"))


def test_the_debian_package_has_the_same_modules(built: Path, tmp_path: Path) -> None:
    (package,) = built.glob("python3-curator-dp_*_all.deb")
    subprocess.run(["dpkg-deb", "-x", str(package), str(tmp_path)], check=True)
    installed = tmp_path / "usr" / "lib" / "python3" / "dist-packages"
    names = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    assert names == {name for name in zipfile.ZipFile(wheel_of(built)).namelist() if not name.endswith("/")}
    others = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file() and not path.is_relative_to(installed)}
    assert others == {f"usr/share/doc/python3-curator-dp/{name}" for name in ("changelog.gz", "copyright")}
