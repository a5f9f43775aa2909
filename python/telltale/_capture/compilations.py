"""Compilations by torch.compile, as scopes: they explain long steps, and no operator does. And what was compiled: where
its kernels come from."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from telltale import _recorder
from telltale._capture.compiled_kernels import compiled_kernels
from telltale._capture.source import Wanted

_CALLBACKS = "torch._dynamo.callback"
# Ends as torch's own profiler ends the names of what the compiler does.
_NAME = "torch.compile (dynamo_timed)"


class _ImportWatch:
    """A finder that finds nothing; it only waits for the compiler, which few programs import."""

    def __init__(self, watch: CompilationWatch) -> None:
        self._watch = watch

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _CALLBACKS:
            return None
        for finder in list(sys.meta_path):
            look = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = look(name, path, target) if look and finder is not self else None
            if spec is not None:
                self._surround(spec.loader)
                return spec
        return None

    def _surround(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            self._watch.follow(module)

        loader.exec_module = exec_module


class CompilationWatch:
    """One scope for each, from its first frame to its last."""

    stops_for_pauses = False

    def __init__(self) -> None:
        self._imports = _ImportWatch(self)
        self._handler: Any = None
        self._is_started = False
        self._thread: int | None = None

    def start(self, _wanted: Wanted) -> None:
        self._is_started = True
        if _CALLBACKS in sys.modules:
            self.follow(sys.modules[_CALLBACKS])
        elif self._imports not in sys.meta_path:
            sys.meta_path.insert(0, self._imports)

    def follow(self, callbacks: Any) -> None:
        """The compiler has been imported."""
        if self._imports in sys.meta_path:
            sys.meta_path.remove(self._imports)
        if not self._is_started or self._handler is not None:
            return
        self._handler = getattr(callbacks, "callback_handler", None)  # since PyTorch 2.3
        if self._handler is not None:
            self._handler.register_start_callback(self._begin)
            self._handler.register_end_callback(self._end)

    def stop(self) -> None:
        if self._is_started and (kernels := compiled_kernels()):
            _recorder.metadata("triton_kernels", kernels)
        self._is_started = False
        if self._imports in sys.meta_path:
            sys.meta_path.remove(self._imports)
        if self._handler is not None:
            for registered in (self._handler.start_callbacks, self._handler.end_callbacks):
                registered[:] = [each for each in registered if each not in (self._begin, self._end)]
            self._handler = None

    def _begin(self, *_: Any) -> None:
        self._thread = threading.get_ident()
        _recorder.begin_scope(_NAME, "annotation")

    def _end(self, *_: Any) -> None:
        # Compilations that overlap on several threads count as one, which may end elsewhere.
        if self._thread == threading.get_ident():
            _recorder.end_scope()
        self._thread = None
