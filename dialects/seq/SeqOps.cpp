// The generated part of the ops; what is written by hand is in ops/ and
// mixers/.
#include "dialects/seq/Seq.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/seq/SeqOps.cpp.inc"

void effc::seq::SeqDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "dialects/seq/SeqOps.cpp.inc"
      >();
}
