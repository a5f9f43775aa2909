"""The recorder as it is installed: programs outside of this repository find it, link it and are recorded by it.

BUILD in the environment is a finished build, CMAKE the program to install it with, TELLTALE the command.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "serve"))
from page_server import assert_has_page  # noqa: E402

ROOT = HERE.parents[1]
OUTSIDE = HERE / "outside"
BUILD, CMAKE, TELLTALE = os.environ["BUILD"], os.environ["CMAKE"], os.environ["TELLTALE"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
PAIRS = [pair for pair in (("gcc", "g++"), ("clang-19", "clang++-19")) if shutil.which(pair[0]) and shutil.which(pair[1])]


def run(*words, **options):
    """What the command prints; it must succeed."""
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))} ends with {done.returncode}:\n{done.stdout}")
    return done.stdout


def cmake_build(source, folder, *settings):
    launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")] if shutil.which("ccache") else []
    run(CMAKE, "-S", source, "-B", folder, "-G", "Ninja", *launcher, *settings)
    run(CMAKE, "--build", folder)
    return folder


def needed_libraries(path):
    """What the dynamic linker must find for it, without versions."""
    lines = run("readelf", "-d", path).splitlines()
    return {line.split("[")[1].split("]")[0].split(".so")[0] for line in lines if "(NEEDED)" in line}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="telltale install ")  # with blanks: paths have them
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    @classmethod
    def install(cls, build):
        """Installs to one prefix and moves it to another, which is returned."""
        run(CMAKE, "--install", build, "--prefix", cls.folder / "first")
        (cls.folder / "first").rename(cls.folder / "prefix")
        return cls.folder / "prefix"

    def pkg_config(self, prefix, *words, package="telltale"):
        [file] = prefix.rglob("telltale.pc")
        environment = os.environ | {"PKG_CONFIG_PATH": str(file.parent)}
        # Blanks in paths are escaped, as a shell wants them.
        line = run("pkg-config", *words, package, env=environment)
        return run("sh", "-c", f'printf "%s\\n" {line.strip()}').splitlines()

    def record(self, *words, **options):
        """Runs a program that records what record.c does, and checks that it did."""
        tell = self.folder / "run.tell"
        tell.unlink(missing_ok=True)
        run(*words, tell, **options)
        rows = json.loads(run(TELLTALE, "top", tell, "--by", "all", "--json"))["rows"]
        self.assertEqual({row["name"]: row["calls"] for row in rows}, {"work": 10, "done": 1})
        info = json.loads(run(TELLTALE, "info", tell, "--json"))
        self.assertEqual(info["anomalies"], [])
        self.assertEqual(info["counter_values"], 2)


class Installed(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prefix = cls.install(BUILD)
        [cls.recorder] = cls.prefix.rglob("libtelltale.so")
        [cls.devices] = cls.prefix.rglob("libtelltale_devices.so")

    def test_the_command_is_there(self):
        self.assertEqual(run(self.prefix / "bin" / "telltale", "--version"), run(TELLTALE, "--version"))

    def test_the_command_brings_the_page_along(self):
        assert_has_page(self.prefix / "bin" / "telltale")

    def test_every_part_has_the_version_of_the_header(self):
        header = (self.prefix / "include" / "telltale" / "telltale.h").read_text(encoding="utf-8")
        version = ".".join(re.findall(r"#define TELLTALE_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(run(TELLTALE, "--version"), f"telltale {version}\n")
        self.assertEqual(self.pkg_config(self.prefix, "--modversion"), [version])
        [package] = self.prefix.rglob("telltale-config-version.cmake")
        self.assertIn(f'set(PACKAGE_VERSION "{version}")', package.read_text(encoding="utf-8"))
        python = Path(BUILD, "python", "telltale", "_version.py")
        if python.exists():
            self.assertIn(f'VERSION = "{version}"', python.read_text(encoding="utf-8"))

    def test_the_library_needs_nothing_but_libc_and_zstd(self):
        self.assertLessEqual(needed_libraries(self.recorder), {"libc", "libzstd"})
        loaded = run("ldd", self.recorder)
        self.assertNotIn("libstdc++", loaded)
        self.assertNotIn("not found", loaded)

    def test_the_library_shows_only_what_the_header_promises(self):
        names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", self.recorder).splitlines()]
        self.assertTrue(names)
        self.assertEqual([name for name in names if not name.startswith("telltale_")], [])

    def test_the_library_for_devices_brings_its_cpp_library_along_and_opens_cuda_at_run_time(self):
        self.assertIn("libtelltale", needed_libraries(self.devices))
        self.assertLessEqual(needed_libraries(self.devices), {"libc", "libm", "libtelltale", "ld-linux-x86-64"})
        self.assertNotIn("not found", run("ldd", self.devices))

    def test_the_library_for_devices_shows_only_what_its_header_promises_and_what_cuda_calls(self):
        header = (self.prefix / "include" / "telltale" / "devices.h").read_text(encoding="utf-8")
        promised = set(re.findall(r"TELLTALE_API [\w* ]+?\b(telltale_\w+)\(", header))
        self.assertGreater(len(promised), 5)
        names = {line.split()[-1] for line in run("nm", "-D", "--defined-only", self.devices).splitlines()}
        self.assertEqual(promised - names, set())
        self.assertIn("InitializeInjection", names)
        self.assertLessEqual(names - promised, {"InitializeInjection", "InitializeInjectionNvtx2"})

    def test_c_programs_find_the_library_for_devices_with_pkg_config(self):
        program = self.folder / "devices"
        found = self.pkg_config(self.prefix, "--cflags", "--libs", package="telltale-devices")
        run("gcc", "-std=c99", *STRICT, OUTSIDE / "devices.c", "-o", program, *found)
        self.record(program, env=os.environ | {"LD_LIBRARY_PATH": str(self.devices.parent)})

    def test_c_programs_find_it_with_pkg_config(self):
        shared, static = self.folder / "shared", self.folder / "static"
        flags = self.pkg_config(self.prefix, "--cflags")
        run("gcc", "-std=c99", *STRICT, OUTSIDE / "record.c", "-o", shared, *flags, *self.pkg_config(self.prefix, "--libs"))
        self.record(shared, env=os.environ | {"LD_LIBRARY_PATH": str(self.recorder.parent)})
        libraries = self.pkg_config(self.prefix, "--static", "--libs")
        run("gcc", "-std=c99", *STRICT, OUTSIDE / "record.c", "-o", static, *flags, "-static", *libraries)
        self.assertEqual(needed_libraries(static), set())
        self.record(static)

    def test_cmake_projects_find_it(self):
        build = cmake_build(OUTSIDE, self.folder / "outside", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        for program in ("c_shared", "c_static", "cpp_shared", "cpp_static"):
            with self.subTest(program):
                self.assertEqual("libtelltale" in needed_libraries(build / program), program.endswith("shared"))
                self.record(build / program)
        self.assertIn("libtelltale_devices", needed_libraries(build / "devices"))
        self.record(build / "devices")

    def test_programs_load_it_while_they_run(self):
        load = self.folder / "load"
        run("gcc", "-std=c99", *STRICT, OUTSIDE / "load.c", "-o", load, *self.pkg_config(self.prefix, "--cflags"), "-ldl")
        self.assertNotIn("libtelltale", needed_libraries(load))
        self.record(load, self.recorder)

    def test_the_example_builds_anywhere(self):
        build = cmake_build(ROOT / "examples" / "cpp", self.folder / "example", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        tell = self.folder / "server.tell"
        printed = run(build / "inference_server", "--requests", "20", "--rate", "2000", "--out", tell)
        self.assertIn("served: 20 requests", printed)
        kinds = json.loads(run(TELLTALE, "info", tell, "--json"))["kinds"]
        self.assertEqual(kinds["async"], 20)


class Headers(Case):
    def test_names_follow_one_scheme(self):
        c, cpp = (Path(ROOT, "include", "telltale", name).read_text(encoding="utf-8") for name in ("telltale.h", "telltale.hpp"))
        macros = set(re.findall(r"#define (\w+)", c + cpp))
        self.assertEqual([name for name in macros if not name.startswith("TELLTALE_")], [])
        enums = re.findall(r"typedef enum (\w+) \{(.*?)\}", c, re.DOTALL)
        self.assertGreater(len(enums), 5)
        for name, body in enums:
            enumerators = re.findall(r"\b([A-Z][A-Z_]+) = \d", body)
            self.assertTrue(enumerators, name)
            self.assertEqual([each for each in enumerators if not each.startswith(name.upper() + "_")], [], name)
            self.assertEqual(macros.intersection(enumerators), set(), name)
        functions = re.findall(r"TELLTALE_API ([\w* ]+?)\b(telltale_\w+)\(", c)
        self.assertGreater(len(functions), 20)
        self.assertEqual([name for type, name in functions if type.strip() == "int"], [], "a telltale_status tells more")

    def test_they_compile_in_every_standard_without_a_warning(self):
        for c, cpp in PAIRS:
            for standard in ("c99", "c11", "c17"):
                run(c, f"-std={standard}", *STRICT, f"-I{ROOT / 'include'}", "-fsyntax-only", OUTSIDE / "record.c")
            for standard in ("c++17", "c++20", "c++23"):
                run(cpp, f"-std={standard}", *STRICT, f"-I{ROOT / 'include'}", "-fsyntax-only", OUTSIDE / "macros.cpp")

    def test_a_disabled_recorder_leaves_nothing_in_the_program(self):
        for _, cpp in PAIRS:
            for setting, is_used in (("-DTELLTALE_DISABLED", False), ("-DTELLTALE_ENABLED", True)):
                macros = self.folder / "macros.o"
                run(cpp, "-std=c++17", *STRICT, f"-I{ROOT / 'include'}", setting, "-c",
                    OUTSIDE / "macros.cpp", "-o", macros)
                self.assertEqual("telltale_" in run("nm", "--undefined-only", macros), is_used)


class RecorderAlone(Case):
    def test_it_builds_and_installs_where_there_is_only_a_compiler(self):
        settings = ("-DTELLTALE_RECORD_ONLY=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON")
        build = cmake_build(ROOT, self.folder / "alone", *settings)
        cache = (build / "CMakeCache.txt").read_text()
        self.assertIn("Threads", cache)
        for package in ("fmt", "CLI11", "nlohmann_json", "GTest", "simdjson", "isal", "zstd"):
            self.assertNotIn(package, cache)
        prefix = self.install(build)
        [library] = prefix.rglob("libtelltale.so")
        self.assertEqual(needed_libraries(library), {"libc"})
        self.assertNotIn("-lzstd", self.pkg_config(prefix, "--static", "--libs"))
        self.assertFalse((prefix / "bin").exists())
        self.assertEqual(list(prefix.rglob("*devices*")), [])
        outside = cmake_build(OUTSIDE, self.folder / "outside", f"-DCMAKE_PREFIX_PATH={prefix}")
        for program in ("c_static", "cpp_shared"):
            self.record(outside / program)


if __name__ == "__main__":
    unittest.main()
