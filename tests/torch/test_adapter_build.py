"""Compiling the adapter at first use: once for many processes, kept, and with a reason where it cannot be."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import telltale._capture.adapter as adapter_module
from telltale._capture.adapter import AdapterUnavailable, build_adapter
from telltale._capture.torch_place import TorchPlace, find_torch

BUILD = "from telltale._capture.adapter import build_adapter; print(build_adapter())"


def slow_compiler(folder, calls):
    """A compiler that notes that it was called, and is the real one."""
    path = Path(folder) / "c++-noted"
    path.write_text(f'#!/bin/sh\ncase "$*" in *--version*) ;; *) echo call >>{calls};; esac\nexec c++ "$@"\n')
    path.chmod(0o755)
    return str(path)


class BuildTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = dict(os.environ, TELLTALE_CACHE=str(self.folder / "cache"))

    def build(self, **environment):
        return subprocess.run([sys.executable, "-c", BUILD], env=dict(self.environment, **environment),
                              capture_output=True, text=True)

    def reason(self, **environment):
        code = ("from telltale._capture.adapter import *\n"
                "try: build_adapter()\nexcept AdapterUnavailable as reason: print(reason)")
        done = subprocess.run([sys.executable, "-c", code], env=dict(self.environment, **environment),
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()


class Build(BuildTest):
    def test_eight_ranks_at_once_compile_once(self):
        calls = self.folder / "calls"
        compiler = slow_compiler(self.folder, calls)
        ranks = [subprocess.Popen([sys.executable, "-c", BUILD], env=dict(self.environment, CXX=compiler), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(8)]
        results = [rank.communicate() for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0] * 8, results)
        [library] = {out.strip() for out, _ in results}
        self.assertTrue(Path(library).exists())
        self.assertEqual(calls.read_text(), "call\n")
        said = [err for _, err in results if err]
        self.assertEqual(len(said), 1)  # the one that compiled says so, and how long it took
        self.assertRegex(said[0], r"telltale: compiling the adapter for PyTorch \S+, once …\n"
                                  r"telltale: … done in [\d.]+ s; kept in .*\n")
        self.assertEqual(list(Path(library).parent.glob("adapter.*.so")), [])
        again = self.build(CXX=compiler)
        self.assertEqual((again.stdout.strip(), again.stderr), (library, ""))
        self.assertEqual(calls.read_text(), "call\n")

    def test_says_that_there_is_no_compiler(self):
        self.assertEqual(self.reason(PATH=str(self.folder), CXX=""),
                         "no C++ compiler was found (install g++, or set CXX)")

    def test_says_what_the_compiler_says(self):
        compiler = self.folder / "c++-failing"
        compiler.write_text('#!/bin/sh\necho "x.cpp:1:1: error: no such thing" >&2; exit 1\n')
        compiler.chmod(0o755)
        self.assertRegex(self.reason(CXX=str(compiler)),
                         r"^it does not compile against PyTorch \S+: x.cpp:1:1: error: no such thing$")

    def test_does_without_what_a_torch_of_the_future_may_not_have(self):
        compiler = self.folder / "c++-of-the-future"
        compiler.write_text('#!/bin/sh\ncase "$*" in *--version*|*WITHOUT_PROFILER_MARK*) exec c++ "$@";; esac\n'
                            'echo "observer.h:1:1: error: no such class" >&2; exit 1\n')
        compiler.chmod(0o755)
        code = ("import telltale.torch, torch\n"
                "with telltale.torch.profile() as profile: torch.ones(2)\n"
                "print(profile.events()[0].name, len(profile.cycles))")
        done = subprocess.run([sys.executable, "-c", code], env=dict(self.environment, CXX=str(compiler)),
                              capture_output=True, text=True)
        self.assertEqual(done.stdout, "aten::ones 1\n", done.stderr)

    def test_says_that_nothing_can_be_written(self):
        place = self.folder / "file"
        place.write_text("")
        self.assertRegex(self.reason(TELLTALE_CACHE=str(place / "cache")), r"^found no folder to keep it in that can be written to .*set TELLTALE_CACHE")

    def test_says_that_torch_is_too_old(self):
        real = find_torch()
        adapter_module.find_torch = lambda: TorchPlace(real.folder, "2.1.2+cpu")
        self.addCleanup(setattr, adapter_module, "find_torch", find_torch)
        with self.assertRaisesRegex(AdapterUnavailable, "PyTorch 2.1.2.cpu is older than 2.2"):
            build_adapter()


def needs_root(test):
    return unittest.skipUnless(os.geteuid() == 0, "only root can make files of another user; run it as root")(test)


class Privilege(BuildTest):
    """Whatever another user plants, it is not loaded."""

    OTHER = 54321
    LOAD = ("from pathlib import Path\nimport sys\nfrom telltale._capture.adapter import *\n"
            "try: Adapter(Path(sys.argv[1]))\nexcept AdapterUnavailable as reason: print(reason)")

    def setUp(self):
        super().setUp()
        compiler = self.folder / "c++-instant"
        compiler.write_text('#!/bin/sh\nfor last; do :; done\n'
                            'case "$*" in *--version*) ;; *) echo nothing >"$last"; chmod 777 "$last";; esac\n')
        compiler.chmod(0o755)
        self.environment["CXX"] = str(compiler)
        self.shared = self.folder / "shared"
        self.shared.mkdir()

    def in_shared(self):
        """The environment of a user whose home cannot be written to, so that the temporary folder is used."""
        self.environment.pop("TELLTALE_CACHE")
        return {"XDG_CACHE_HOME": "/proc/no-such-place", "TMPDIR": str(self.shared)}

    def loaded(self, library):
        done = subprocess.run([sys.executable, "-c", self.LOAD, library], env=self.environment, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_folders_and_library_are_the_users_alone(self):
        done = subprocess.run([sys.executable, "-c", f"import os; os.umask(0); {BUILD}"], capture_output=True, text=True,
                              env=dict(self.environment, TELLTALE_CACHE=str(self.folder / "new" / "cache")))
        library = Path(done.stdout.strip())
        self.assertEqual(library.stat().st_mode & 0o777, 0o600, done.stderr)
        for folder in (library.parent, self.folder / "new" / "cache", self.folder / "new"):
            self.assertEqual(folder.stat().st_mode & 0o777, 0o700)

    @needs_root
    def test_a_predictable_folder_of_another_user_is_not_used(self):
        planted = self.shared / f"telltale-{os.geteuid()}"
        planted.mkdir()
        planted.chmod(0o777)
        os.chown(planted, self.OTHER, self.OTHER)
        self.assertRegex(self.reason(**self.in_shared()), f"{planted} belongs to another user; .*set TELLTALE_CACHE")
        self.assertEqual(list(planted.iterdir()), [])

    @needs_root
    def test_a_link_of_another_user_is_not_followed(self):
        home = self.folder / "home"
        home.mkdir(0o700)
        planted = self.shared / f"telltale-{os.geteuid()}"
        planted.symlink_to(home)
        os.chown(planted, self.OTHER, self.OTHER, follow_symlinks=False)
        self.assertIn(f"{planted} is a link of another user", self.reason(**self.in_shared()))
        self.assertEqual(list(home.iterdir()), [])

    def test_a_folder_that_others_may_write_to_is_not_used(self):
        cache = self.folder / "open"
        for mode in (0o770, 0o707):
            cache.mkdir(exist_ok=True)
            cache.chmod(mode)
            self.assertRegex(self.reason(TELLTALE_CACHE=str(cache)), f"others may write to {cache}; .*set TELLTALE_CACHE")
        self.assertEqual(list(cache.iterdir()), [])

    def test_a_library_that_others_may_have_written_to_is_not_loaded(self):
        library = Path(self.build().stdout.strip())
        self.assertIn("too short", self.loaded(library))  # what the loader says of a text
        library.chmod(0o622)
        self.assertIn(f"others may write to {library}", self.loaded(library))
        library.chmod(0o600)
        if os.geteuid() == 0:
            os.chown(library, self.OTHER, self.OTHER)
            self.assertIn(f"{library} belongs to another user", self.loaded(library))
        real = library.with_name("real.so")
        library.rename(real)
        library.symlink_to(real)
        self.assertIn("Too many levels of symbolic links", self.loaded(library))

    @needs_root
    def test_a_process_with_more_rights_than_its_starter_loads_nothing(self):
        code = ("from telltale._capture.adapter import *\n"
                "try: build_adapter()\nexcept AdapterUnavailable as reason: print(reason)")
        done = subprocess.run([sys.executable, "-c", code], env=self.environment, capture_output=True, text=True,
                              preexec_fn=lambda: os.setresuid(self.OTHER, 0, 0))
        self.assertEqual(done.stdout, "this process has more rights than whoever started it, and takes nothing from "
                                      "them\n", done.stderr)


class Place(unittest.TestCase):
    def test_is_what_torch_says_of_itself(self):
        place = find_torch()
        import torch
        self.assertEqual(place.version, torch.__version__)
        self.assertEqual(place.has_new_strings(), torch._C._GLIBCXX_USE_CXX11_ABI)
        self.assertEqual(place.has_cuda(), torch.version.cuda is not None)
        self.assertEqual(place.release, tuple(int(part) for part in torch.__version__.split(".")[:2]))


if __name__ == "__main__":
    unittest.main()
