//===- SchedulerFed.h - Several tokens of a sequence in one call ----------===//
#ifndef EFFC_RUNTIME_SRC_SERVING_SCHEDULERFED_H
#define EFFC_RUNTIME_SRC_SERVING_SCHEDULERFED_H

#include "runtime/src/serving/Scheduler.h"

namespace effc::rt {

/// What is fed to a job's sequence: tokens of its text, then a draft of more.
struct Scheduler::Fed {
  Job *job = nullptr;
  std::vector<int32_t> tokens;
  size_t drafted = 0;
  uint64_t room = 0;      // for a draft
  bool isGuessed = false; // by a model
  CopiedStates mark;      // of before
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SERVING_SCHEDULERFED_H
