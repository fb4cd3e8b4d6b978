#include "passes/kernel_facts/LaunchCost.h"

using namespace effc;

// A rate of the second cache: terms of products whose items read the norm's operands
// again, in a cycle of the 132 cores of an H100, where that was predicted. A gate is
// read, and a sigmoid taken, besides.
static constexpr int64_t kNormedTerms = 1600, kGatedTerms = kNormedTerms / 2,
                         kNormedCores = 132;

// Bytes that a product of usual width, 1,024 outputs, moves less for a row: each is
// written and read with two bytes in place of four.
static constexpr int64_t kUsualOutputs = 1024,
                         kSavedBytes = 2 * 2 * kUsualOutputs;

int64_t effc::mostNormedTerms(tile::TargetAttr gpu, bool isGated) {
  return gpu.getCore().getLaunch() * gpu.getCores() *
         (isGated ? kGatedTerms : kNormedTerms) / kNormedCores;
}

int64_t effc::fewestSplitRows(tile::TargetAttr gpu) {
  return gpu.getCore().getLaunch() * gpu.getBandwidth() / kSavedBytes;
}
