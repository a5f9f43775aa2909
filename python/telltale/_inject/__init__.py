"""What `telltale record` puts first into PYTHONPATH; imported from there, one by one, and as a part of telltale."""
