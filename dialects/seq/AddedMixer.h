// Mixers that are compiled outside the dialect's library.
//
// Such a mixer's source ends with
//
//   static effc::seq::AddedMixer<LeakyAverageOp> added;
//
// and is linked, as an object, into the program that reads or builds the op. No
// other source knows of it: passes, forms and kernels ask the op's interface.
#ifndef EFFC_DIALECTS_SEQ_ADDEDMIXER_H
#define EFFC_DIALECTS_SEQ_ADDEDMIXER_H

#include "dialects/seq/SeqDialect.h"

namespace effc::seq {

/// Has every dialect that is loaded afterwards call `insert`, which registers
/// one op. For the time before `main`: not safe among threads.
void addMixer(void (*insert)(SeqDialect &dialect));

/// Makes `Op`, which the dialect's library does not have, an op of the dialect
/// in every context.
template <typename Op> struct AddedMixer {
  AddedMixer() {
    addMixer([](SeqDialect &dialect) {
      mlir::RegisteredOperationName::insert<Op>(dialect);
    });
  }
};

} // namespace effc::seq

#endif // EFFC_DIALECTS_SEQ_ADDEDMIXER_H
