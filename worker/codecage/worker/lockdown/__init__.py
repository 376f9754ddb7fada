"""What shields the machine from a worker: one file for each facility of the kernel, applied in a written order."""
