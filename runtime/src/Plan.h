//===- Plan.h - What of a program one target runs -------------------------===//
#ifndef EFFC_RUNTIME_SRC_PLAN_H
#define EFFC_RUNTIME_SRC_PLAN_H

#include "runtime/schema/program_generated.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace effc::rt {

/// Kernels and entries of the host, which lie in the program itself, or of a
/// target. Points into the program.
struct Plan {
  std::string_view name; // "host", "sm_90a", "sim_80"
  bool isHost = false;
  const flatbuffers::Vector<flatbuffers::Offset<artifact::Kernel>> *kernels =
      nullptr;
  const flatbuffers::Vector<flatbuffers::Offset<artifact::Entry>> *entries =
      nullptr;
};

Plan hostPlan(const artifact::Program &program);
Plan planOf(const artifact::TargetPlan &target);

/// Whether the program was compiled for the host. One that was not has targets.
bool hasHostPlan(const artifact::Program &program);

/// The host's where there is one, then those of the targets.
std::vector<Plan> plansOf(const artifact::Program &program);

/// What runs unless somebody asks for a device: the first of these.
Plan defaultPlan(const artifact::Program &program);

/// How many numbers a row has that a call gives: a logit for each token of the
/// vocabulary, or a hidden state.
inline uint64_t rowWidth(const artifact::Program &program) {
  return program.hidden_width().value_or(program.vocabulary_size());
}

/// The most rows of any entry.
uint32_t mostRows(const Plan &plan);

/// How many slots an engine for `sessions` sequences has. Where a launch takes
/// the slot of each row, those past the end of a call name one of their own, the
/// last. Launches that go by segments, as all that the compiler makes, need none
/// for these.
uint64_t slotsFor(const Plan &plan, uint32_t sessions);

/// How many work items `items` are in a call of these counts.
inline int64_t itemCount(const artifact::Items &items, int64_t count) {
  int64_t tile = items.tile();
  return (count + tile - 1) / tile * items.times();
}

/// What running a plan takes; the tables are those of an engine.
struct Memory {
  uint64_t weights = 0;
  uint64_t perSession = 0;      // room for a sequence of any length,
  uint64_t fixedPerSession = 0; // of which the first token fills so much,
  uint64_t perToken = 0;        // and each, until windows are full, so much
  uint64_t arena = 0;
  uint64_t logits = 0;
  uint64_t tables = 0;
};
Memory memoryOf(const artifact::Program &program, const Plan &plan);

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_PLAN_H
