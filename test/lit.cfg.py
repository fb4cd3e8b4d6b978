# How the text tests are found and run. The paths come from lit.site.cfg.py,
# which CMake writes into the build folder.
import os

import lit.formats
import lit.util
from lit.llvm import initialize

initialize(lit_config, config)
from lit.llvm import llvm_config

config.name = "effc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["unit", "goldens"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.effc_test_dir

llvm_config.use_default_substitutions()  # FileCheck, not, count
llvm_config.add_tool_substitutions(
    ["effc", "effc-compile", "effc-opt", "effc-rebind", "split-file"],
    [config.effc_tools_dir, config.llvm_tools_dir],
)

# `%if ptxas %{ ... %}`: assembled only where there is an assembler; `tools/setup`
# sees to it.
toolkits = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
folders = [os.path.join(toolkit, "bin") for toolkit in toolkits if toolkit]
ptxas = lit.util.which("ptxas", os.pathsep.join(folders + [os.environ.get("PATH", "")]))
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append((r"\bptxas\b(?= -)", ptxas))

config.substitutions.append(
    ("%goldens", os.path.join(config.test_source_root, "goldens"))
)
