"""Programs with one planted performance fault, and what removing it, or changing something else, really buys."""
