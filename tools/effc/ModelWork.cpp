#include "tools/effc/ModelWork.h"

#include <algorithm>

using namespace effc::cli;
using Json = nlohmann::ordered_json;

ModelWork::ModelWork(const Json &description) {
  headFlops = description["head_flops_per_row"];
  tokenFlops = description["flops_per_token"].get<uint64_t>() - headFlops;
  for (const Json &work : description.value("key_work", Json::array())) {
    uint64_t flops = work["flops_per_key"];
    tokenFlops -= flops * work["counted_keys"].get<uint64_t>();
    keys.push_back({work["window"], flops});
  }
  weightBytes = 0;
  // Every target reads the same weights.
  const Json &entries = description["entries"].empty()
                            ? description["targets"][0]["entries"]
                            : description["entries"];
  for (const Json &entry : entries)
    weightBytes = std::max(weightBytes, entry["weight_bytes"].get<uint64_t>());
  stateBytes = 0;
  for (const Json &state : description["states"]) {
    uint64_t bytes = state["bytes"];
    if (state.value("growth", "fixed") == "fixed") {
      stateBytes += bytes;
      continue;
    }
    uint64_t rows = state["shape"][0];
    growing.push_back({rows, bytes / rows});
  }
}

/// The sum over places p from `first` to before `end` of the tokens that are
/// seen there, p + 1 of them but at most `window`.
static uint64_t seenTokens(uint64_t first, uint64_t end, uint64_t window) {
  auto upTo = [&](uint64_t places) { // the first so many
    uint64_t growing = window ? std::min(places, window) : places;
    return growing * (growing + 1) / 2 + (places - growing) * window;
  };
  return upTo(end) - upTo(first);
}

uint64_t ModelWork::keyFlops(uint64_t tokens, uint64_t depth) const {
  uint64_t flops = 0;
  for (const Keys &seen : keys)
    flops += seen.flops * seenTokens(depth, depth + tokens, seen.window);
  return flops;
}

Work ModelWork::prefill(uint64_t tokens, uint64_t sequences,
                        uint64_t depth) const {
  uint64_t rows = 0; // bytes of keys and values
  for (const Growing &state : growing)
    rows += (std::min(depth, state.rows) + std::min(tokens, state.rows)) *
            state.rowBytes;
  return {sequences *
              (tokens * tokenFlops + keyFlops(tokens, depth) + headFlops),
          weightBytes + sequences * (2 * stateBytes + rows)};
}

Work ModelWork::decode(uint64_t sequences, uint64_t depth,
                       uint64_t steps) const {
  // Between the first step, behind `depth` tokens, and the last.
  return prefill(1, sequences, depth + (steps - 1) / 2);
}

// What effc_engine_create() takes at most.
static constexpr uint64_t kMostSessions = uint64_t(1) << 20;

uint64_t ModelWork::sequencesIn(uint64_t bytes, uint64_t tokens) const {
  return std::min<uint64_t>(bytes / std::max<uint64_t>(heldBytes(tokens), 1),
                            kMostSessions);
}

uint64_t ModelWork::heldBytes(uint64_t tokens) const {
  uint64_t bytes = stateBytes;
  for (const Growing &state : growing)
    bytes += std::min(tokens, state.rows) * state.rowBytes;
  return bytes;
}
