"""Importing this package fills planting.case.CASES. A new case is a function in one of these files."""

from planting.cases import compilation, copies, kernels, memory, python_time, synchronisation  # noqa: F401
