"""Importing this package fills planting.case.CASES. A new case is a function in one of these files."""

# In the order in which they are run: the slowest come last.
from planting.cases import copies, synchronization, python_time, kernels, memory, ordinary, compilation  # noqa: F401, I001
