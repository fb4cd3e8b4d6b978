//===- LaunchTimes.h - The launches of a call, timed ----------------------===//
#ifndef EFFC_RUNTIME_TOOLS_DEVICE_CHECK_LAUNCHTIMES_H
#define EFFC_RUNTIME_TOOLS_DEVICE_CHECK_LAUNCHTIMES_H

#include "runtime/tools/device_check/Devices.h"

#include <nlohmann/json.hpp>

namespace effc::check {

struct TimeRequest {
  std::string file;
  bool decode = false;
  uint32_t sequences = 1;
  uint32_t tokens = 1; // of each; token i of the call is i
  rt::TimingOptions timing;
  std::string outputs; // a file that gets the results of one run; empty: none
  std::string weights; // one that gets the weights (safetensors); empty: none
};

/// Runs a call once and then as often as is asked, on sequences that begin with
/// it. What the launches have to do is there in any case, times where the
/// device keeps them. Throws Failure.
nlohmann::ordered_json timeLaunches(rt::Device &device,
                                    const TimeRequest &request);

} // namespace effc::check

#endif // EFFC_RUNTIME_TOOLS_DEVICE_CHECK_LAUNCHTIMES_H
