"""What tools/gpu-check is made of: README.md says which module does what."""
