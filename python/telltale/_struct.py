"""Answers as typed structs: what ``--json`` prints, member by member, with attributes instead of keys."""

from __future__ import annotations

import dataclasses
import html
import json
import shutil
import types
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from telltale import _core

Kept = TypeVar("Kept", bound="Struct")
Answered = TypeVar("Answered", bound="AnswerStruct")
Decoder = Callable[[Any], Any]

WIDTH_WITHOUT_TERMINAL = 120
NARROWEST = 40

# By struct, name, key, type and decoder of each of its fields: type hints are slow to read.
_DECODERS: dict[type, list[tuple[str, str, Any, Decoder]]] = {}


def json_key(field: str) -> str:
    """The key of a field: the same word, which in Python may need an underscore behind it, as ``class_`` does."""
    return field.rstrip("_")


def decoder_of(wanted: Any) -> Decoder:
    """What turns JSON's lists and objects into values of a type."""
    if isinstance(wanted, type) and issubclass(wanted, Struct):
        return wanted.from_dict
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (types.UnionType, typing.Union):
        [present] = [decoder_of(each) for each in arguments if each is not types.NoneType]
        return lambda value: None if value is None else present(value)
    if origin is tuple:
        element = decoder_of(arguments[0])
        return lambda values: tuple(map(element, values))
    return lambda value: value


def absent_value(wanted: Any) -> Any:
    """What a member has that an older version did not write: None where it may be, else what is empty or 0."""
    if isinstance(wanted, type) and issubclass(wanted, Struct):
        return wanted.from_dict({})
    if typing.get_origin(wanted) in (types.UnionType, typing.Union):
        return None
    return (typing.get_origin(wanted) or wanted)()


def decoders_of(struct: type[Struct]) -> list[tuple[str, str, Any, Decoder]]:
    """Name, key, type and decoder of each field."""
    hints = typing.get_type_hints(struct)
    return [(field.name, json_key(field.name), hints[field.name], decoder_of(hints[field.name]))
            for field in dataclasses.fields(struct)]


def encoded(value: Any) -> Any:
    """The opposite of a decoder."""
    if isinstance(value, Struct):
        return value.to_dict()
    if isinstance(value, tuple):
        return [encoded(each) for each in value]
    return value


@dataclasses.dataclass(frozen=True)
class Struct:
    """A part of an answer. Its members are those that ``docs/json.md`` describes."""

    @classmethod
    def from_dict(cls: type[Kept], data: dict[str, Any]) -> Kept:
        """The struct that :meth:`to_dict` made, or that a command of another version printed.

        Members that it does not know are left out; members that are missing are None, empty or 0.
        """
        if cls not in _DECODERS:
            _DECODERS[cls] = decoders_of(cls)
        return cls(**{name: decode(data[key]) if key in data else absent_value(wanted)
                      for name, key, wanted, decode in _DECODERS[cls]})

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries and lists, with the keys that ``--json`` has."""
        return {json_key(field.name): encoded(getattr(self, field.name)) for field in dataclasses.fields(self)}


@dataclasses.dataclass(frozen=True, repr=False)
class AnswerStruct(Struct):
    """A whole answer: ``str()`` is what a terminal shows, and a notebook shows it too."""

    @classmethod
    def of(cls: type[Answered], answer: _core.Answer) -> Answered:
        """The struct of an answer, which also knows the answer's text."""
        struct = cls.from_dict(json.loads(answer.json()))
        object.__setattr__(struct, "_answer", answer)
        return struct

    @property
    def answer(self) -> _core.Answer | None:
        """Where its text comes from; None when the struct was made from a dictionary, or unpickled."""
        return getattr(self, "_answer", None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_answer"}

    def __str__(self) -> str:
        if self.answer is None:
            return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        return self.answer.text(max(NARROWEST, shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 24)).columns))

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__}; print() shows it>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


@dataclasses.dataclass(frozen=True, repr=False)
class PageStruct(AnswerStruct):
    """A whole answer that also is a page, which is what a notebook shows."""

    def to_html(self) -> str:
        """The page that ``--html`` writes: one file, nothing from the network."""
        if self.answer is None:
            raise ValueError("a diagnosis that was made from a dictionary, or unpickled, has no page")
        return self.answer.page()

    def _repr_html_(self) -> str:
        if self.answer is None:
            return super()._repr_html_()
        # A frame of its own, so that the page's style and the notebook's leave each other alone.
        page = html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox="" style="width:100%;height:40em;border:0"></iframe>'
