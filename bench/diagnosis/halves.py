"""Which half of all programs one belongs to, by a hash of its name: nobody chooses, and it never changes.

Constants may be fitted on the fit half alone. The held half says what they are worth.
"""

import hashlib

HALVES = ("fit", "held")


def half_of(program: str) -> str:
    return HALVES[hashlib.sha256(program.encode()).digest()[0] & 1]
