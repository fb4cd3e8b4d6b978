//===- CudaGraphs.h - Recorded calls, the ones last used ------------------===//
#ifndef EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAGRAPHS_H
#define EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAGRAPHS_H

#include "runtime/schema/program_generated.h"
#include "runtime/src/devices/cuda/CudaMemory.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace effc::rt {

/// Calls as graphs, which the GPU holds. A grid is a part of a graph, so each
/// shape of a call has its own. Where there are too many, the one goes that was
/// not used for the longest time.
class CudaGraphs {
public:
  /// Entry, rows, segments, outputs, and what is wanted of them.
  using Key =
      std::tuple<uint32_t, int64_t, int64_t, int64_t, artifact::CallResult>;

  explicit CudaGraphs(size_t most) : most(most) {}

  /// The graph of `key`, which is used now, or null.
  cuda::GraphExec find(const Key &key) {
    auto found = kept.find(key);
    if (found == kept.end())
      return nullptr;
    found->second.lastUse = ++uses;
    return found->second.graph.get();
  }
  /// Keeps one for a key that has none, in place of another where need be. No
  /// graph may be on its way.
  void add(const Key &key, CudaOwned<cuda::GraphExec> graph) {
    if (kept.size() >= most)
      kept.erase(std::min_element(
          kept.begin(), kept.end(), [](const auto &one, const auto &other) {
            return one.second.lastUse < other.second.lastUse;
          }));
    kept.emplace(key, Kept{std::move(graph), ++uses});
  }

private:
  struct Kept {
    CudaOwned<cuda::GraphExec> graph;
    uint64_t lastUse;
  };
  size_t most;
  uint64_t uses = 0;
  std::map<Key, Kept> kept;
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_DEVICES_CUDA_CUDAGRAPHS_H
