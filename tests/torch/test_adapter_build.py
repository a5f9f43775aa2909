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


class Build(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.environment = dict(os.environ, TELLTALE_CACHE=str(self.folder / "cache"))

    def build(self, **environment):
        return subprocess.run([sys.executable, "-c", BUILD], env=dict(self.environment, **environment),
                              capture_output=True, text=True)

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

    def reason(self, **environment):
        code = ("from telltale._capture.adapter import *\n"
                "try: build_adapter()\nexcept AdapterUnavailable as reason: print(reason)")
        done = subprocess.run([sys.executable, "-c", code], env=dict(self.environment, **environment),
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

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
