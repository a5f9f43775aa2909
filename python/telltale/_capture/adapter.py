"""The adapter for PyTorch: compiled against the user's own torch at first use, and kept.

Its C++ interface changes from version to version, so that no one library fits all. What was compiled is kept under
``$TELLTALE_CACHE``, else ``$XDG_CACHE_HOME/telltale`` or ``~/.cache/telltale``, by everything it depends on; only in
folders that nobody else can write to, and nothing else is loaded.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from telltale._capture.private_folder import NotOurs, PrivateFolder
from telltale._capture.torch_place import TorchPlace, find_torch
from telltale._inject.telltale_say import say, say_once

_PACKAGE = Path(os.path.abspath(__file__)).parent.parent  # as imported: a build folder has links
_OLDEST = (2, 2)
_LIBRARY = "adapter.so"
# NDEBUG as in the wheels of torch, whose classes look different without it.
_FLAGS = ["-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-plt", "-w"]


class AdapterUnavailable(Exception):
    """Why PyTorch cannot be recorded by our own adapter here, in a few words."""


class Adapter:
    """The compiled adapter, loaded into this process."""

    WITH_INPUTS, WITH_MEMORY, FIND_STEPS, AS_PROFILER, WITH_OVERLOADS, CALLS_ARE_RECORDED = 1, 2, 4, 8, 16, 32

    def __init__(self, library: Path) -> None:
        import telltale._recorder  # noqa: F401  brings the recorder's library along, which the adapter shares

        try:
            self._library = _load(library)
        except (OSError, NotOurs) as error:
            raise AdapterUnavailable(f"the compiled adapter does not load: {error}") from None

    def start(self, options: int, stack_source: int = 0) -> bool:
        """Whether all that was asked for is recorded; without memory otherwise. `stack_source` is the address of a
        function that tells the stack of the calling thread."""
        return bool(self._library.telltale_torch_start(ctypes.c_uint32(options), ctypes.c_void_p(stack_source)))

    def stop(self) -> None:
        self._library.telltale_torch_stop()

    def optimizer_steps(self, identity: int) -> None:
        """The optimizer of that id takes a step on this thread."""
        self._library.telltale_torch_optimizer(ctypes.c_uint64(identity))

    def let_torch_record(self) -> None:
        """Torch's own profiler may start on this thread although AS_PROFILER stands in for it."""
        self._library.telltale_torch_let_torch_record()

    def watch_cuda_memory(self) -> bool:
        """From now on, when CUDA has been initialized. False where its allocator has no log."""
        return bool(self._library.telltale_torch_watch_cuda_memory())

    def take_state(self, is_begin: bool) -> None:
        """The next snapshot of CUDA's memory on this thread is the one that the recording writes down."""
        self._library.telltale_torch_take_state(ctypes.c_int(is_begin))

    def sees_cuda_memory(self) -> bool:
        return bool(self._library.telltale_torch_sees_cuda_memory())


def _load(library: Path) -> ctypes.CDLL:
    """Loads the very file that was looked at. Its descriptor stays open: the loader knows the library by that name."""
    folder = PrivateFolder.at(library.parent)
    try:
        file = folder.open_own(library.name)
    finally:
        folder.close()
    name = f"/proc/{os.getpid()}/fd/{file}"
    return ctypes.CDLL(name if os.path.exists(name) else str(library))


_loaded: Adapter | None = None


def load_adapter() -> Adapter:
    """The adapter of this process; compiles it where that has not been done yet."""
    global _loaded
    if _loaded is None:
        library = build_adapter()
        import torch  # noqa: F401  its libraries must be there first

        _loaded = Adapter(library)
    return _loaded


@functools.cache
def build_adapter() -> Path:
    """Compiles the adapter unless it is there already; safe when many processes do so at once."""
    if _has_rights_of_another():
        raise AdapterUnavailable("this process has more rights than whoever started it, and takes nothing from them")
    torch = find_torch()
    if torch is None:
        raise AdapterUnavailable("no PyTorch was found to compile it against")
    if torch.release < _OLDEST:
        raise AdapterUnavailable(f"PyTorch {torch.version} is older than 2.2")
    compiler = _find_compiler()
    attempts = _commands(compiler, torch)
    cache = _cache_folder()
    try:
        folder = cache.folder(f"torch-{torch.version}-{_key(compiler, torch, attempts)}")
    except (OSError, NotOurs) as error:
        raise AdapterUnavailable(f"it cannot be kept: {error}") from None
    finally:
        cache.close()
    try:
        if not folder.has(_LIBRARY):
            with _alone(folder):
                if not folder.has(_LIBRARY):
                    _compile(attempts, folder, torch)
    finally:
        folder.close()
    return folder.path / _LIBRARY


def _has_rights_of_another() -> bool:
    """Setuid programs and their like: what the environment names must not be compiled or loaded in them."""
    is_secure = 23  # AT_SECURE of <elf.h>
    ask = ctypes.CDLL(None).getauxval
    ask.argtypes, ask.restype = [ctypes.c_ulong], ctypes.c_ulong
    return bool(ask(is_secure))


def _find_compiler() -> list[str]:
    named = shlex.split(os.environ.get("CXX", ""))
    for candidate in [named, ["c++"], ["g++"], ["clang++"]]:
        program = shutil.which(candidate[0]) if candidate else None
        if program:
            return [os.path.abspath(program), *candidate[1:]]
    raise AdapterUnavailable("no C++ compiler was found (install g++, or set CXX)")


def _cuda_headers(torch: TorchPlace) -> list[Path]:
    """Where cuda_runtime_api.h is, which torch's CUDA headers need: in a toolkit, or in NVIDIA's Python packages."""
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [Path(home) / "include" for home in homes if home]
    folders += sorted((torch.folder.parent / "nvidia").glob("*/include"))
    return [folder for folder in folders if (folder / "cuda_runtime_api.h").exists()]


def _commands(compiler: list[str], torch: TorchPlace) -> list[list[str]]:
    """With CUDA's allocator, where that is there, and without it; then without what depends most on the version."""
    lib = _PACKAGE / "lib"
    common = [*compiler, *_FLAGS, f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.has_new_strings())}"]
    common += [f"-I{torch.folder / 'include'}", f"-I{_PACKAGE / 'include'}", str(_PACKAGE / "sources" / "adapter.cpp")]
    common += [f"-L{torch.libraries}", f"-Wl,-rpath,{torch.libraries}", "-lc10", "-ltorch_cpu"]
    common += [f"-L{lib}", f"-Wl,-rpath,{lib}", "-ltelltale"]
    headers = _cuda_headers(torch) if torch.has_cuda() else []
    with_cuda = [[*common, "-DTELLTALE_WITH_CUDA", f"-I{headers[0]}", "-lc10_cuda"]] if headers else []
    choices = [*with_cuda, common]
    return [*choices, *([*choice, "-DTELLTALE_WITHOUT_PROFILER_MARK"] for choice in choices)]


def _key(compiler: list[str], torch: TorchPlace, attempts: list[list[str]]) -> str:
    """Everything that the result depends on."""
    version = subprocess.run([*compiler, "--version"], capture_output=True, stdin=subprocess.DEVNULL)
    digest = hashlib.sha256(version.stdout)
    digest.update(repr((torch.version, attempts)).encode())
    for source in sorted([*(_PACKAGE / "sources").iterdir(), _PACKAGE / "include" / "telltale" / "telltale.h"]):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> PrivateFolder:
    """A folder that we can write to, and nobody else."""
    named = os.environ.get("TELLTALE_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "telltale"
    reason: Exception | None = None
    for path in [Path(named)] if named else [base, Path(tempfile.gettempdir()) / f"telltale-{os.geteuid()}"]:
        try:
            folder = PrivateFolder.at(path.absolute())
            with tempfile.TemporaryFile(dir=folder.place()):
                return folder
        except NotOurs as error:
            say_once(f"the compiled adapter is not kept there: {error}")
            reason = error
        except OSError as error:
            reason = error
    raise AdapterUnavailable(f"found no folder to keep it in that can be written to ({reason}); set TELLTALE_CACHE")


@contextmanager
def _alone(folder: PrivateFolder) -> Iterator[None]:
    """One process at a time; the others wait for it."""
    with open(folder.open("lock", os.O_WRONLY | os.O_CREAT), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile(attempts: list[list[str]], folder: PrivateFolder, torch: TorchPlace) -> None:
    say(f"compiling the adapter for PyTorch {torch.version}, once …")
    began = time.monotonic()
    unfinished = f"adapter.{os.getpid()}.so"
    failure = ""
    for command in attempts:
        words = [*command, "-o", unfinished]
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder.place())
        if done.returncode == 0:
            with open(folder.open(unfinished, os.O_RDWR), "rb") as library:
                os.fchmod(library.fileno(), 0o600)
            folder.replace(unfinished, _LIBRARY)
            say(f"… done in {time.monotonic() - began:.1f} s; kept in {folder.path}")
            return
        failure = done.stderr
    with open(folder.open("failed.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w", encoding="utf-8") as log:
        log.write(failure)
    raise AdapterUnavailable(f"it does not compile against PyTorch {torch.version}: {_first_error(failure)}")


def _first_error(output: str) -> str:
    lines = [line for line in output.splitlines() if "error" in line]
    return (lines or output.splitlines() or ["the compiler says nothing"])[0].strip()
