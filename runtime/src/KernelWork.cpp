#include "runtime/src/KernelWork.h"

#include "runtime/src/ModelChecks.h"

#include <algorithm>
#include <tuple>

using namespace effc;
using namespace effc::rt;

namespace {
/// What a call is of.
struct CallSize {
  uint64_t sequences = 1;
  uint64_t rows = 1; // of each sequence
};
} // namespace

bool rt::isPartOf(const artifact::Launch &launch, artifact::CallResult result) {
  return launch.only_for() == artifact::CallResult::Any ||
         launch.only_for() == result;
}

static bool looksUp(const artifact::Launch &launch) {
  for (const artifact::Operand *operand : *launch.operands())
    if (operand->kind() == artifact::OperandKind::Tokens)
      return true;
  return false;
}

uint64_t rt::streamedBytes(const artifact::Program &program,
                           const artifact::Launch &launch,
                           std::set<uint32_t> &seen) {
  if (looksUp(launch))
    return 0;
  uint64_t bytes = 0;
  for (const artifact::Operand *operand : *launch.operands())
    if (operand->kind() == artifact::OperandKind::Weight &&
        seen.insert(operand->index()).second)
      bytes += program.weights()->Get(operand->index())->size();
  return bytes;
}

/// Bytes of weights that a launch which takes the tokens reads for `rows` rows:
/// as many rows of its tables, and its vectors whole.
static uint64_t lookedUpBytes(const artifact::Program &program,
                              const artifact::Launch &launch, uint64_t rows) {
  std::set<uint32_t> seen;
  uint64_t bytes = 0;
  for (const artifact::Operand *operand : *launch.operands()) {
    if (operand->kind() != artifact::OperandKind::Weight ||
        !seen.insert(operand->index()).second)
      continue;
    const artifact::Weight &weight = *program.weights()->Get(operand->index());
    bool isTable = weight.shape()->size() > 1;
    bytes +=
        isTable
            ? std::min(rows, weight.shape()->Get(0)) *
                  (weight.row_stride_bytes() / blockSize(program, weight).rows)
            : weight.size();
  }
  return bytes;
}

/// Whether a state has a row for each of some tokens: it is read whole by one
/// launch and gets rows by the next, where other states are read and written.
static bool hasRows(const artifact::State &state) {
  return state.kind() == artifact::StateKind::Window ||
         state.kind() == artifact::StateKind::Growing;
}

/// Bytes of states that a launch reads and writes. `read` are the states with
/// rows that a launch before has read.
static uint64_t stateBytes(const artifact::Program &program,
                           const artifact::Launch &launch, CallSize call,
                           std::set<uint32_t> &read) {
  std::set<uint32_t> seen;
  uint64_t bytes = 0; // of each sequence
  for (const artifact::Operand *operand : *launch.operands()) {
    if (operand->kind() != artifact::OperandKind::State ||
        !seen.insert(operand->index()).second)
      continue;
    const artifact::State &state = *program.states()->Get(operand->index());
    uint64_t rows = state.shape()->Get(0);
    if (!hasRows(state))
      bytes += 2 * state.size();
    else if (read.insert(operand->index()).second)
      bytes += state.size();
    else
      bytes += state.size() / rows * std::min(rows, call.rows);
  }
  return call.sequences * bytes;
}

/// The decode step of one sequence; null without a decode entry.
static const artifact::Entry *stepEntryOf(const Plan &plan) {
  for (const artifact::Entry *entry : *plan.entries)
    if (entry->kind() == artifact::EntryKind::Decode)
      return entry;
  return nullptr;
}

std::vector<StepWork> rt::stepWorkOf(const artifact::Program &program,
                                     const Plan &plan) {
  std::vector<StepWork> work(plan.kernels->size());
  const artifact::Entry *entry = stepEntryOf(plan);
  if (!entry)
    return work;
  // A step gives logits or choices; what both need is counted once.
  for (auto result :
       {artifact::CallResult::Logits, artifact::CallResult::Choices}) {
    std::set<uint32_t> seen, read;
    for (const artifact::Launch *launch : *entry->launches()) {
      if (!isPartOf(*launch, result))
        continue;
      uint64_t bytes = streamedBytes(program, *launch, seen) +
                       stateBytes(program, *launch, CallSize(), read);
      if (result == artifact::CallResult::Choices &&
          launch->only_for() != result)
        continue;
      work[launch->kernel()].bytes += bytes;
      work[launch->kernel()].flops += launch->flops_per_row();
    }
  }
  return work;
}

/// Gives what `entry` launches its work there, but for what has an entry.
static void addLaunches(std::vector<LaunchWork> &work,
                        const artifact::Program &program,
                        const artifact::Entry &entry) {
  bool isDecode = entry.kind() == artifact::EntryKind::Decode;
  CallSize call =
      isDecode ? CallSize{entry.rows(), 1} : CallSize{1, entry.rows()};
  std::set<uint32_t> read;
  for (const artifact::Launch *launch : *entry.launches()) {
    std::set<uint32_t> seen; // each launch is taken by itself
    uint64_t bytes =
        stateBytes(program, *launch, call, read) +
        (looksUp(*launch) ? lookedUpBytes(program, *launch, entry.rows())
                          : streamedBytes(program, *launch, seen));
    bool ofOutputs = launch->items()->count() == artifact::Count::Outputs;
    uint64_t flops =
        launch->flops_per_row() * (ofOutputs ? call.sequences : entry.rows());
    LaunchWork &one = work[launch->kernel()];
    if (!one.entry)
      one.entry = &entry;
    if (one.entry != &entry)
      continue;
    one.bytes = std::max(one.bytes, bytes);
    one.flops = std::max(one.flops, flops);
  }
}

std::vector<LaunchWork> rt::launchWorkOf(const artifact::Program &program,
                                         const Plan &plan) {
  std::vector<const artifact::Entry *> entries(plan.entries->begin(),
                                               plan.entries->end());
  const artifact::Entry *step = stepEntryOf(plan);
  auto order = [&](const artifact::Entry *entry) {
    return std::tuple(entry != step, entry->rows(), entry->kind());
  };
  std::sort(entries.begin(), entries.end(),
            [&](auto *a, auto *b) { return order(a) < order(b); });
  std::vector<LaunchWork> work(plan.kernels->size());
  for (const artifact::Entry *entry : entries)
    addLaunches(work, program, *entry);
  return work;
}
