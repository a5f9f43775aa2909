"""The wheel works in a fresh virtual environment, on a machine that has nothing of what we build with."""
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

from common import RESNET, ROOT, answer

sys.path.insert(0, str(ROOT / "tests" / "serve"))
from page_server import assert_has_page  # noqa: E402

# What every Linux with Python has.
OF_THE_SYSTEM = {"libc", "libm", "libpthread", "libdl", "librt", "ld-linux-x86-64", "libstdc++", "libgcc_s"}

MAPPED = """
import re, sys, telltale, telltale._recorder
assert telltale.__version__ == "0.1.0", telltale.__version__
print(telltale.load(sys.argv[1]).top().totals.self_device_ns)
for path in sorted({line.split(None, 5)[-1].strip() for line in open("/proc/self/maps") if ".so" in line}):
    print(path)
"""


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, encoding="utf-8", **options)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def needed_by(path):
    """The names of the libraries that an ELF file asks for."""
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path)))


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="wheel of telltale ")  # with blanks: paths have them
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        # What the build must not see: the package in the build folder.
        cls.environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TELLTALE"))}
        cls.wheel = ROOT / run(ROOT / "tools" / "wheel", cls.folder, env=cls.environment).strip()
        run(sys.executable, "-m", "venv", cls.folder / "fresh", env=cls.environment)
        cls.python = cls.folder / "fresh" / "bin" / "python"
        run(cls.python, "-m", "pip", "install", "--quiet", "--no-index", cls.wheel, env=cls.environment)
        [cls.packages] = (cls.folder / "fresh" / "lib").glob("python*/site-packages")

    def elf_files(self):
        for path in (each for folder in ("telltale", "telltale.libs") for each in (self.packages / folder).rglob("*")):
            if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                yield path

    def test_it_is_named_for_any_recent_linux(self):
        self.assertRegex(self.wheel.name, r"^telltale-0\.1\.0-(cp\d+)-\1-manylinux_2_\d+_\w+\.whl$")
        [metadata] = [name for name in zipfile.ZipFile(self.wheel).namelist() if name.endswith("METADATA")]
        text = zipfile.ZipFile(self.wheel).read(metadata).decode()
        self.assertIn("\nVersion: 0.1.0\n", text)
        self.assertIn("\nRequires-Python: >=3.10\n", text)
        self.assertNotIn("\nRequires-Dist:", text)

    def test_its_files_need_only_each_other_and_the_system(self):
        files = list(self.elf_files())
        self.assertLessEqual({"telltale", "libtelltale.so", "libtelltale_devices.so"}, {path.name for path in files})
        own = {path.name for path in files}
        for path in files:
            for needed in needed_by(path) - own:
                self.assertIn(needed.partition(".so")[0], OF_THE_SYSTEM, f"{path.name} needs {needed}")
            for line in run("ldd", path).splitlines():
                self.assertNotIn("not found", line)
                if " => " in line and line.split()[0] in own:
                    self.assertIn(str(self.packages), line)

    def test_the_command_works(self):
        telltale = self.folder / "fresh" / "bin" / "telltale"
        self.assertEqual(run(telltale, "--version", env={}), "telltale 0.1.0\n")
        self.assertEqual(run(telltale, "top", RESNET, "--json", env={}), run(os.environ["TELLTALE"], "top", RESNET, "--json"))
        done = subprocess.run([telltale, "info", "/nowhere"], capture_output=True, encoding="utf-8")
        self.assertEqual((done.returncode, done.stderr), (2, "telltale: /nowhere: there is no such file\n"))

    def test_the_command_brings_the_page_along(self):
        assert_has_page(self.folder / "fresh" / "bin" / "telltale")

    def test_the_package_works_with_its_own_libraries(self):
        total, *mapped = run(self.python, "-c", MAPPED, RESNET, env={}).splitlines()
        self.assertEqual(int(total), answer("top", RESNET)["totals"]["self_device_ns"])
        for library in ("libfmt", "libisal", "libzstd", "libtelltale"):
            self.assertEqual({str(self.packages) in path for path in mapped if Path(path).name.startswith(library)}, {True}, mapped)

    def test_it_has_what_the_torch_adapter_is_compiled_from(self):
        package = self.packages / "telltale"
        for path in ("sources/adapter.cpp", "include/telltale/telltale.h", "lib/libtelltale.so", "py.typed", "_core.pyi"):
            self.assertTrue((package / path).is_file(), path)

    def test_what_records_devices_stands_beside_the_recorder(self):
        devices = self.packages / "telltale" / "lib" / "libtelltale_devices.so"
        self.assertNotIn("libstdc++.so.6", needed_by(devices))
        asked = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).telltale_cuda_start(None) != 0)"
        self.assertIn(run(self.python, "-c", asked, devices, env={}), ("True\n", "False\n"))

    def test_a_program_in_cpp_can_be_built_with_it(self):
        package = self.packages / "telltale"
        source = self.folder / "program.cpp"
        source.write_text("#include <telltale/telltale.hpp>\n"
                          'int main() { telltale::Session session("run.tell"); TELLTALE_SCOPE("work", 1); }\n')
        run("c++", "-std=c++17", "-I", package / "include", source, "-L", package / "lib", "-ltelltale",
            f"-Wl,-rpath,{package / 'lib'}", "-o", self.folder / "program")
        run(self.folder / "program", cwd=self.folder)
        telltale = self.folder / "fresh" / "bin" / "telltale"
        self.assertIn("work", run(telltale, "top", self.folder / "run.tell", "--by", "annotation"))


class SourceDistribution(unittest.TestCase):
    def test_it_has_the_built_page_and_needs_no_npm(self):
        with tempfile.TemporaryDirectory() as folder:
            build = "import scikit_build_core.build, sys; print(scikit_build_core.build.build_sdist(sys.argv[1]))"
            name = run(sys.executable, "-c", build, folder, cwd=ROOT).split()[-1]
            with tarfile.open(Path(folder) / name) as archive:
                root = name.removesuffix(".tar.gz")
                for page in ("index.html", "page.js", "page.css"):
                    packed = archive.extractfile(f"{root}/web/dist/{page}").read()
                    self.assertEqual(packed, (ROOT / "web" / "dist" / page).read_bytes())
                self.assertEqual([path for path in archive.getnames() if "node_modules" in path], [])


if __name__ == "__main__":
    unittest.main()
