from collections.abc import Callable
from typing import Any

class Answer:
    def json(self) -> str: ...
    def text(self, width: int) -> str: ...
    def page(self) -> str: ...

class Table:
    """A table of a trace, for whatever takes Arrow's C stream: pandas, polars, pyarrow, DuckDB and others.

    Columns that stand in the trace's memory are handed out without a copy; whoever took them keeps the trace alive.
    """

    @property
    def name(self) -> str: ...
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Trace:
    def info(self) -> Answer: ...
    def top(
        self,
        by: str | None = None,
        kinds: list[str] | None = None,
        group: str = "name",
        stack_depth: int = 5,
        steps: str | None = None,
        sort: str | None = None,
        limit: int | None = None,
    ) -> Answer: ...
    def analyze(
        self,
        steps: str | None,
        rules: list[str],
        min_saving: float,
        price: float | None = None,
        carbon: float | None = None,
    ) -> Answer: ...
    def what_if(
        self,
        remove: list[str],
        scale: list[str],
        no_sync: bool,
        instant_data: bool,
        graph: bool,
        no_observer: bool,
        steps: str | None,
    ) -> Answer: ...
    def memory_report(self) -> Answer: ...
    def memory_what_if(
        self,
        fits: str | None,
        batch: str | None,
        settings: str | None,
        without: list[str],
        other: bytes | None,
        device: int | None,
    ) -> Answer: ...
    def table(self, name: str) -> Table: ...
    def events(self, kinds: list[str]) -> Table: ...

def load(path: bytes, threads: int, progress: Callable[[float], object] | None = None) -> Trace: ...
def table_names() -> list[str]: ...
def torch_rows(trace: Trace, by_shape: bool, stack_depth: int) -> list[tuple[Any, ...]]: ...
def torch_device_annotations(trace: Trace) -> list[tuple[str, int, int, int]]: ...
def torch_events(
    trace: Trace,
) -> tuple[
    list[tuple[Any, ...]],
    list[tuple[str, str, str, str]],
    list[list[str]],
    list[tuple[str, str]],
    list[tuple[str, str, int, int, int, int, int, str]],
]: ...
def torch_stray_memory(trace: Trace) -> list[tuple[int, int, int, int]]: ...
def torch_memory(
    trace: Trace, notes: bytes, device: int
) -> tuple[list[tuple[int, int, int, int]], list[tuple[int, list[int]]]]: ...
def write_kineto(
    source: bytes, target: bytes, metadata: list[tuple[str, str]], names_collections: bool, adjusts_steps: bool
) -> None: ...
