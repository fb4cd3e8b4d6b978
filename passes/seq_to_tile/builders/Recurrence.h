// What the two forms of a linear recurrence share.
#ifndef EFFC_PASSES_SEQTOTILE_BUILDERS_RECURRENCE_H
#define EFFC_PASSES_SEQTOTILE_BUILDERS_RECURRENCE_H

#include "passes/seq_to_tile/builders/TokenMap.h"

namespace effc {

/// One head of one segment: a work item of a recurrence.
struct HeadOfSegment {
  tile::SegmentOp segment;
  mlir::Value head, group;
  mlir::Value stateView;
  int64_t keyChannels, valueChannels;

  /// The state before the call, zero where the sequence begins.
  mlir::Value loadState(KernelBuilder &k) const;
  void storeState(KernelBuilder &k, mlir::Value state) const;
};

/// A mixer of class linear, ready to be built.
struct Recurrence {
  TokenMap map;
  HeadOfSegment item;
  mlir::Value result;       // of the mixer, per token
  tile::TileType stateType; // K x V
};

/// Checks that the core's structure record is one that the builders cover
/// (decay per head, real; no low-rank pair, bonus, normaliser or stabiliser;
/// read after write), with a diagnostic that names the field; sets the kernel's
/// items.
mlir::FailureOr<Recurrence> beginRecurrence(KernelBuilder &k,
                                            seq::MixerOpInterface mixer);

/// exp of one element.
mlir::Value emitExp(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value x);

} // namespace effc

#endif // EFFC_PASSES_SEQTOTILE_BUILDERS_RECURRENCE_H
