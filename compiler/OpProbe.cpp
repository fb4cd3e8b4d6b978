#include "compiler/OpProbe.h"

#include "compiler/ModelLayers.h"
#include "compiler/RowValues.h"
#include "compiler/StoredForward.h"
#include "dialects/seq/Seq.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <functional>

using namespace mlir;
using namespace effc;

// Before a table's symbol: its rows for the tokens of the sequence alone.
static constexpr llvm::StringLiteral kTablePrefix = "probe.";

namespace {
/// Makes a probe of the values that are chosen.
class ProbeBuilder {
public:
  using Choice = std::function<bool(Value, size_t stretch)>;

  ProbeBuilder(const StoredModel &model, ArrayRef<int32_t> tokens)
      : model(model), builder(forward.getContext()) {
    for (int32_t token : tokens)
      numbers.push_back(
          distinct.try_emplace(token, distinct.size()).first->second);
  }

  llvm::Expected<OpProbe> build(const Choice &choice) {
    if (llvm::Error error = forward.read(model))
      return error;
    builder.setInsertionPoint(forward.getBody().getTerminator());
    RowValues values(forward.getFunction());
    gather(values, choice);
    if (parts.empty())
      return llvm::createStringError("no op gives numbers for each token");
    while (probe.columns < int64_t(distinct.size()))
      append(parts.back());
    forward.setLogits(joinRows(builder, parts));
    if (llvm::Error error = shrinkVocabulary())
      return error;
    forward.prune();
    llvm::Expected<std::string> bytecode = forward.write();
    if (!bytecode)
      return bytecode.takeError();
    probe.model = {std::move(*bytecode), chosenRows()};
    probe.tokens = std::move(numbers);
    return std::move(probe);
  }

  /// The ops of one layer that follow each other have one number.
  static void
  forEachResult(Block &body,
                llvm::function_ref<void(OpResult, size_t stretch)> visit) {
    size_t stretch = 0;
    std::optional<StringRef> last;
    for (Operation &op : body.without_terminator()) {
      StringRef layer = layerOf(&op);
      if (last && *last != layer)
        ++stretch;
      last = layer;
      for (OpResult result : op.getResults())
        visit(result, stretch);
    }
  }

private:
  void gather(RowValues &values, const Choice &choice) {
    // What is added for them would be found as well.
    SmallVector<std::pair<OpResult, size_t>> chosen;
    forEachResult(forward.getBody(), [&](OpResult value, size_t stretch) {
      if (RowValues::countColumns(value) > 0 && choice(value, stretch))
        chosen.push_back({value, stretch});
    });
    for (auto [value, stretch] : chosen) {
      int64_t columns = RowValues::countColumns(value);
      Operation *op = value.getOwner();
      probe.values.push_back(
          {describeOp(op), layerOf(op).str(), stretch, probe.columns, columns});
      append(values.toOutputRows(builder, value));
    }
  }

  void append(Value part) {
    parts.push_back(part);
    probe.columns += cast<RankedTensorType>(part.getType()).getDimSize(1);
  }

  /// A model has as many logits as tokens, so the vocabulary becomes that of
  /// the sequence and is as large as a row.
  llvm::Error shrinkVocabulary() {
    ModuleOp module = forward.getModule();
    auto described = module->getAttrOfType<seq::ModelAttr>("seq.model");
    if (!described)
      return llvm::createStringError("the module has no 'seq.model'");
    int64_t width = described.getWidth();
    for (Operation *user : llvm::make_early_inc_range(
             forward.getFunction().getArgument(0).getUsers())) {
      auto embedding = dyn_cast<seq::EmbeddingOp>(user);
      auto table = embedding
                       ? embedding.getTable().getDefiningOp<seq::ParameterOp>()
                       : seq::ParameterOp();
      if (!table)
        return llvm::createStringError(
            "the model reads token ids otherwise than by a table of weights");
      auto type = cast<RankedTensorType>(table.getType());
      auto smaller = RankedTensorType::get({probe.columns, type.getDimSize(1)},
                                           type.getElementType());
      embedding.getTableMutable().assign(chooseRows(table, smaller));
      width = type.getDimSize(1);
    }
    module->setAttr("seq.model",
                    seq::ModelAttr::get(module.getContext(),
                                        described.getFamily(), probe.columns,
                                        width, described.getMaxContext()));
    return llvm::Error::success();
  }

  Value chooseRows(seq::ParameterOp table, RankedTensorType type) {
    OpBuilder::InsertionGuard guard(builder);
    ModuleOp module = forward.getModule();
    std::string symbol = (kTablePrefix + table.getWeight()).str();
    if (!module.lookupSymbol(symbol)) {
      builder.setInsertionPointToStart(module.getBody());
      seq::WeightOp::create(builder, table.getLoc(), symbol, symbol, type,
                            /*further=*/nullptr, /*stored=*/nullptr,
                            /*rows=*/nullptr, /*derived=*/nullptr,
                            /*transposed=*/false, /*computed=*/nullptr);
    }
    builder.setInsertionPoint(table);
    return seq::ParameterOp::create(builder, table.getLoc(), type, symbol);
  }

  /// The model's weights, and the tables' rows of the sequence's tokens.
  std::function<llvm::Expected<StoredWeight>(StringRef)> chosenRows() {
    std::vector<int32_t> rows;
    for (auto &entry : distinct)
      rows.push_back(entry.first);
    return [weights = model.weights, rows, extent = probe.columns](
               StringRef symbol) -> llvm::Expected<StoredWeight> {
      if (!symbol.consume_front(kTablePrefix))
        return weights(symbol);
      llvm::Expected<StoredWeight> whole = weights(symbol);
      if (!whole)
        return whole;
      StoredWeight table{{uint64_t(extent), whole->shape[1]}, {}};
      size_t bytes = whole->bytes.size() / whole->shape[0];
      table.bytes.resize(extent * bytes);
      for (auto [to, from] : llvm::enumerate(rows))
        std::copy_n(whole->bytes.begin() + from * bytes, bytes,
                    table.bytes.begin() + to * bytes);
      return table;
    };
  }

  const StoredModel &model;
  StoredForward forward;
  OpBuilder builder;
  OpProbe probe;
  SmallVector<Value> parts;
  llvm::MapVector<int32_t, int32_t> distinct; // tokens and their numbers
  std::vector<int32_t> numbers;               // of the sequence
};
} // namespace

/// Whether an op of another stretch reads the value.
static bool isHandedOn(Value value, size_t stretch,
                       const llvm::DenseMap<Operation *, size_t> &stretches) {
  Block &body = *value.getDefiningOp()->getBlock();
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto reader = stretches.find(body.findAncestorOpInBlock(*user));
    return reader != stretches.end() && reader->second != stretch;
  });
}

llvm::Expected<OpProbe> effc::probeStretches(const StoredModel &model,
                                             ArrayRef<int32_t> tokens) {
  llvm::DenseMap<Operation *, size_t> stretches;
  return ProbeBuilder(model, tokens).build([&](Value value, size_t stretch) {
    Operation *op = value.getDefiningOp();
    if (stretches.empty())
      ProbeBuilder::forEachResult(
          *op->getBlock(), [&](OpResult result, size_t number) {
            stretches.try_emplace(result.getOwner(), number);
          });
    return isHandedOn(value, stretch, stretches);
  });
}

llvm::Expected<OpProbe> effc::probeStretch(const StoredModel &model,
                                           size_t stretch,
                                           ArrayRef<int32_t> tokens) {
  return ProbeBuilder(model, tokens).build([&](Value, size_t number) {
    return number == stretch;
  });
}
