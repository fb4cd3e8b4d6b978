//===- CheckpointHandle.h - What effc_checkpoint_t is ---------------------===//
#ifndef EFFC_RUNTIME_SRC_CHECKPOINTHANDLE_H
#define EFFC_RUNTIME_SRC_CHECKPOINTHANDLE_H

#include "runtime/src/Model.h"
#include "runtime/src/StateCopies.h"

#include <memory>

/// Copying one copies no states: they are shared, and never change.
struct effc_checkpoint {
  std::shared_ptr<const effc::rt::Model> model;
  effc::rt::CopiedStates states; // all of them, the parent's rows too
  uint64_t copied = 0;           // bytes
  bool byPrefill = false; // all of its tokens were taken that way, exactly
  bool isNear = false;    // other bits may follow than without a cache
};

#endif // EFFC_RUNTIME_SRC_CHECKPOINTHANDLE_H
