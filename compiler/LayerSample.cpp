#include "compiler/LayerSample.h"

#include "compiler/ModelLayers.h"
#include "compiler/StoredForward.h"
#include "dialects/seq/Seq.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace effc;

namespace {
struct Layer {
  std::string name;
  SmallVector<Operation *> ops;
  std::string kind; // equal for layers that differ in their weights alone
};
} // namespace

/// What an op does, whichever weights and states it does it with.
static std::string describeKind(Operation &op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op.getName();
  for (NamedAttribute attribute : op.getAttrs())
    if (!isa<SymbolRefAttr>(attribute.getValue()))
      stream << ' ' << attribute.getName() << '=' << attribute.getValue();
  for (Type type : op.getResultTypes())
    stream << ' ' << type;
  for (Region &region : op.getRegions())
    for (Operation &inner : region.getOps())
      stream << " {" << describeKind(inner) << '}';
  stream << '\n';
  return text;
}

static std::vector<Layer> collectLayers(Block &body) {
  llvm::MapVector<StringRef, Layer> layers;
  for (Operation &op : body.without_terminator()) {
    StringRef name = layerOf(&op);
    if (name.empty())
      continue;
    Layer &layer = layers[name];
    layer.name = name.str();
    layer.ops.push_back(&op);
    layer.kind += describeKind(op);
  }
  std::vector<Layer> list;
  for (auto &entry : layers)
    list.push_back(std::move(entry.second));
  return list;
}

/// The first and the last of every kind.
static llvm::StringSet<> chooseKept(ArrayRef<Layer> layers) {
  llvm::StringMap<std::pair<StringRef, StringRef>> ends;
  for (const Layer &layer : layers)
    ends.try_emplace(layer.kind, layer.name, layer.name).first->second.second =
        layer.name;
  llvm::StringSet<> kept;
  for (const auto &end : ends) {
    kept.insert(end.second.first);
    kept.insert(end.second.second);
  }
  return kept;
}

/// What a layer reads and what is read of it, where the latter can stand for
/// the former; else two null values.
static std::pair<Value, Value> findStream(const Layer &layer, Block &body) {
  llvm::SmallPtrSet<Operation *, 32> inside(layer.ops.begin(), layer.ops.end());
  Value read, result;
  for (Operation *op : layer.ops)
    for (Value value : op->getResults())
      for (Operation *user : value.getUsers()) {
        Operation *reader = body.findAncestorOpInBlock(*user);
        // What the terminator reads are states, which go with the layer.
        if (inside.contains(reader) || reader == body.getTerminator())
          continue;
        if (result && result != value)
          return {};
        result = value;
      }
  if (!result)
    return {};
  for (Operation *op : layer.ops)
    for (Value value : op->getOperands()) {
      Operation *source = value.getDefiningOp();
      if (!source || inside.contains(source) ||
          value.getType() != result.getType())
        continue;
      if (!read || read.getDefiningOp()->isBeforeInBlock(source))
        read = value;
    }
  return read ? std::pair(read, result) : std::pair<Value, Value>();
}

/// The elements of all matrices, counted as often as they are used. A table
/// that rows are taken from costs next to nothing.
static double countElements(func::FuncOp function) {
  double count = 0;
  function.walk([&](seq::ParameterOp parameter) {
    bool isTable = llvm::all_of(parameter->getUsers(), [](Operation *user) {
      return isa<seq::EmbeddingOp>(user);
    });
    if (!isTable)
      count +=
          double(cast<RankedTensorType>(parameter.getType()).getNumElements());
  });
  return count;
}

llvm::Expected<std::optional<LayerSample>>
effc::sampleLayers(const StoredModel &model) {
  StoredForward forward;
  if (llvm::Error error = forward.read(model))
    return error;
  double before = countElements(forward.getFunction());
  std::vector<Layer> layers = collectLayers(forward.getBody());
  llvm::StringSet<> stay = chooseKept(layers);
  LayerSample sample;
  sample.layers = layers.size();
  for (const Layer &layer : layers) {
    auto [read, result] = stay.contains(layer.name)
                              ? std::pair<Value, Value>()
                              : findStream(layer, forward.getBody());
    if (read)
      result.replaceAllUsesWith(read);
    else
      sample.kept.push_back(layer.name);
  }
  if (sample.kept.size() == layers.size())
    return std::nullopt;
  forward.prune();
  sample.share = before > 0 ? countElements(forward.getFunction()) / before : 1;
  llvm::Expected<std::string> bytecode = forward.write();
  if (!bytecode)
    return bytecode.takeError();
  sample.model = {std::move(*bytecode), model.weights};
  return sample;
}
