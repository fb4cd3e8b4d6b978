#include "passes/kernel_facts/ScanKernels.h"

using namespace effc;

std::string effc::scanObstacle(seq::LinearAttr linear, tile::Device device) {
  if (device != tile::Device::Nvptx)
    return "the host's threads have heads and channels enough, and a scan "
           "looks "
           "at each token twice";
  if (linear.getLowRank() != seq::LowRankPair::None)
    return "with 'low_rank = " +
           stringifyLowRankPair(linear.getLowRank()).str() +
           "' pieces would hand on matrices";
  if (linear.getWrites() > 1)
    return "with 'writes = " + std::to_string(linear.getWrites()) +
           "' there is no kernel but the step as it is written";
  return "";
}
