// The generated part of the ops; what is written by hand is in ops/ and
// mixers/.
#include "dialects/seq/AddedMixer.h"
#include "dialects/seq/Seq.h"
#include "dialects/seq/mixers/LinearMixer.h"
#include "dialects/seq/reference/Frame.h"

#include <vector>

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/seq/SeqOps.cpp.inc"

// Constructed by whichever asks first: other sources' statics add to it.
static std::vector<void (*)(effc::seq::SeqDialect &)> &addedMixers() {
  static std::vector<void (*)(effc::seq::SeqDialect &)> mixers;
  return mixers;
}

void effc::seq::addMixer(void (*insert)(SeqDialect &)) {
  addedMixers().push_back(insert);
}

void effc::seq::SeqDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "dialects/seq/SeqOps.cpp.inc"
      >();
  for (auto insert : addedMixers())
    insert(*this);
}
