#include "codegen/artifact/ParameterCount.h"

#include "dialects/seq/Seq.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace effc;

static int64_t parametersOf(seq::WeightOp op, StringSet<> &counted) {
  if (op.getComputed() || op.getChannelOrder())
    return 0;
  if (!op.getDerived()) {
    SmallVector<StringRef> tensors = op.getSources();
    StringSet<> distinct;
    distinct.insert_range(tensors);
    return cast<mlir::RankedTensorType>(op.getType()).getNumElements() /
           int64_t(tensors.size()) * int64_t(distinct.size());
  }
  if (!counted.insert(op.getSource()).second)
    return 0;
  return mlir::ShapedType::getNumElements(op.getStored().value_or(
      cast<mlir::RankedTensorType>(op.getType()).getShape()));
}

uint64_t codegen::countParameters(mlir::ModuleOp module) {
  StringSet<> counted;
  int64_t count = 0;
  for (auto op : module.getOps<seq::WeightOp>())
    count += parametersOf(op, counted);
  return static_cast<uint64_t>(count);
}
