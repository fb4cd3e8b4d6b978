#include "compiler/NamedRows.h"

#include "compiler/HiddenRows.h"
#include "compiler/RowValues.h"
#include "dialects/seq/HiddenRows.h"
#include "dialects/seq/Seq.h"
#include "runtime/schema/SizeLimits.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace effc;

llvm::Error effc::giveNamedRows(func::FuncOp forward,
                                ArrayRef<NamedValue> values, StringRef option) {
  // Behind the ops that made the values, so that rows that follow selected ones are known.
  RowValues rowValues(forward);
  OpBuilder builder(forward.getBody().front().getTerminator());
  SmallVector<Value> parts;
  SmallVector<Attribute> taps;
  int64_t columns = 0;
  for (const auto &[name, value] : values) {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape().drop_front());
    if (shape.empty())
      shape.push_back(1);
    taps.push_back(seq::TapAttr::get(forward.getContext(), name, shape));
    parts.push_back(rowValues.toOutputRows(builder, value));
    columns += RowValues::countColumns(value);
  }
  if (columns > artifact::kMaxVocabulary || taps.size() > artifact::kMaxTaps)
    return llvm::createStringError(
        option + ": there are " + Twine(taps.size()) + " values of " +
        Twine(columns) +
        " numbers together for each token, but a row has at most " +
        Twine(artifact::kMaxTaps) + " of " + Twine(artifact::kMaxVocabulary));
  giveRows(forward, joinRows(builder, std::move(parts)));
  forward->getParentOfType<ModuleOp>()->setAttr(seq::kTapsAttr,
                                                builder.getArrayAttr(taps));
  return llvm::Error::success();
}
