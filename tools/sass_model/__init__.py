"""A static model of a GPU that replays machine code: predicted times of kernels and of whole calls, without a GPU. README.md says how."""
