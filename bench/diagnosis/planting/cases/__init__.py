"""Importing this package fills planting.case.CASES. A new case is a function in one of these files."""

# In the order in which they are run. First by what is wrong with them, the slowest last; then by what they are about.
from planting.cases import copies, synchronization, python_time, kernels, memory, ordinary, compilation  # noqa: F401, I001
from planting.cases import vision, speech, diffusion, language_training, language_serving  # noqa: F401
from planting.cases import recommender, graphs, reinforcement  # noqa: F401
