#include "runtime/src/devices/cuda/CudaSwitches.h"

#include <cstdlib>
#include <string_view>

using namespace effc;
using namespace effc::rt;

/// True without the variable, or where it is empty.
static Result<bool> isOn(const char *variable) {
  const char *given = secure_getenv(variable);
  std::string_view value = given ? given : "";
  if (value.empty() || value == "1")
    return true;
  if (value == "0")
    return false;
  return fail(EFFC_INVALID_ARGUMENT, "cuda: ", variable, " is '", value,
              "', but 0 or 1 is expected");
}

Result<CudaSwitches> CudaSwitches::ofEnvironment() {
  CudaSwitches switches;
  const char *each = secure_getenv("EFFC_CUDA_CHECK_LAUNCHES");
  switches.checkLaunches = each && *each;
  Result<bool> overlap = isOn("EFFC_CUDA_OVERLAP");
  if (!overlap)
    return overlap.error();
  switches.overlap = *overlap;
  Result<bool> graphs = isOn("EFFC_CUDA_GRAPHS");
  if (!graphs)
    return graphs.error();
  switches.graphs = *graphs;
  return switches;
}
