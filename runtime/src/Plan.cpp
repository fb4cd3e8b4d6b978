#include "runtime/src/Plan.h"

#include "runtime/src/HeldStates.h"
#include "runtime/src/ModelChecks.h"

#include <algorithm>

using namespace effc;
using namespace effc::rt;

Plan rt::hostPlan(const artifact::Program &program) {
  return {"host", true, program.kernels(), program.entries()};
}

Plan rt::planOf(const artifact::TargetPlan &target) {
  return {target.name()->string_view(), false, target.kernels(),
          target.entries()};
}

bool rt::hasHostPlan(const artifact::Program &program) {
  return program.entries()->size() != 0 || program.kernels()->size() != 0 ||
         !program.targets() || program.targets()->size() == 0;
}

std::vector<Plan> rt::plansOf(const artifact::Program &program) {
  std::vector<Plan> plans;
  if (hasHostPlan(program))
    plans.push_back(hostPlan(program));
  if (program.targets())
    for (const artifact::TargetPlan *target : *program.targets())
      plans.push_back(planOf(*target));
  return plans;
}

Plan rt::defaultPlan(const artifact::Program &program) {
  return hasHostPlan(program) ? hostPlan(program)
                              : planOf(*program.targets()->Get(0));
}

uint32_t rt::mostRows(const Plan &plan) {
  uint32_t rows = 0;
  for (const artifact::Entry *entry : *plan.entries)
    rows = std::max(rows, entry->rows());
  return rows;
}

uint64_t rt::slotsFor(const Plan &plan, uint32_t sessions) {
  for (const artifact::Entry *entry : *plan.entries)
    for (const artifact::Launch *launch : *entry->launches())
      for (const artifact::Operand *operand : *launch->operands())
        if (operand->kind() == artifact::OperandKind::RowSlots)
          return uint64_t(sessions) + 1;
  return sessions;
}

Memory rt::memoryOf(const artifact::Program &program, const Plan &plan) {
  Memory memory;
  // Of a file without weights those count that it would have.
  const auto *segment = findSegment(program, artifact::SegmentKind::Weights);
  if (segment)
    memory.weights = segment->size();
  for (const artifact::Weight *weight : *program.weights())
    if (!segment || weight->file() != 0)
      memory.weights += weight->size();
  memory.perSession = program.slot_bytes();
  HeldStates held(program);
  memory.fixedPerSession = held.fixedBytes();
  memory.perToken = held.bytesPerToken();
  uint64_t pointers = 0, launches = 0;
  for (const artifact::Entry *entry : *plan.entries) {
    memory.arena = std::max(memory.arena, entry->arena_bytes());
    launches += entry->launches()->size();
    for (const artifact::Launch *launch : *entry->launches())
      pointers += launch->operands()->size();
  }
  uint64_t rows = mostRows(plan);
  memory.logits = rows * rowWidth(program) * sizeof(float);
  // Per row: token, slot, position, segment, output row. Per launch: what
  // an executor keeps of it.
  memory.tables = rows * (4 + 4 + 8 + sizeof(artifact::SegmentRecord) + 4) +
                  launches * 40 + pointers * sizeof(void *);
  return memory;
}
