#include "compiler/Taps.h"

#include "compiler/HiddenRows.h"
#include "compiler/MixerQuantities.h"
#include "compiler/ModelLayers.h"
#include "compiler/NamedRows.h"
#include "compiler/RowValues.h"
#include "dialects/seq/Seq.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/StringSaver.h"

using namespace mlir;
using namespace effc;

/// Names that an error lists.
static constexpr size_t kMostListed = 60;

namespace {
/// Values by their names, in the order of the ops. Makes ops for those that no op gives;
/// they have no use.
class NamedValues {
public:
  explicit NamedValues(func::FuncOp forward) {
    for (Operation &op : forward.getBody().front().without_terminator())
      addValuesOf(&op);
  }

  const llvm::MapVector<StringRef, Value> &get() const { return values; }

  /// "layers.N.mixer:dt": each name once, whatever the layer.
  std::vector<std::string> kinds() const {
    std::vector<std::string> kinds;
    llvm::StringSet<> seen;
    for (auto &[name, value] : values) {
      SmallVector<StringRef> words;
      name.split(words, '.');
      std::string kind;
      for (StringRef word : words)
        kind += (kind.empty() ? "" : ".") +
                (llvm::all_of(word, llvm::isDigit) ? "N" : word.str());
      if (seen.insert(kind).second)
        kinds.push_back(kind);
    }
    return kinds;
  }

private:
  void add(const Twine &name, Value value) {
    if (value && RowValues::countColumns(value) > 0) {
      std::string text = name.str();
      // What an earlier op of the part gives is not what the part gives.
      values.erase(text);
      values[saver.save(text)] = value;
    }
  }

  void addValuesOf(Operation *op) {
    StringRef name = partOf(op);
    if (name.empty())
      return;
    if (auto mixer = dyn_cast<seq::MixerOpInterface>(op)) {
      // Operands come second: what an op calls so is that.
      for (auto [quantity, value] : computeQuantities(mixer))
        add(name + ":" + quantity, value);
      for (auto [operand, value] : mixer.getNamedOperands())
        add(name + ":" + operand, value);
    }
    if (op->getNumResults() > 0 && !op->hasTrait<seq::OpTrait::View>())
      add(name, op->getResult(0));
  }

  llvm::MapVector<StringRef, Value> values;
  llvm::BumpPtrAllocator memory;
  llvm::StringSaver saver{memory};
};
} // namespace

/// Which names some pattern matches. Fails where one matches none.
static llvm::Error match(ArrayRef<std::string> patterns,
                         const NamedValues &values,
                         llvm::DenseSet<StringRef> &matched) {
  for (const std::string &pattern : patterns) {
    llvm::Regex whole("^(" + pattern + ")$");
    std::string problem;
    if (!whole.isValid(problem))
      return llvm::createStringError("--tap expects a regular expression, but "
                                     "got '" +
                                     pattern + "': " + problem);
    bool isFound = false;
    for (auto &[name, value] : values.get())
      if (whole.match(name)) {
        matched.insert(name);
        isFound = true;
      }
    if (isFound)
      continue;
    std::vector<std::string> kinds = values.kinds();
    size_t more = kinds.size() - std::min(kinds.size(), kMostListed);
    kinds.resize(kinds.size() - more);
    return llvm::createStringError(
        "--tap '" + pattern +
        "' matches no inner value; this model has, N being a number: " +
        llvm::join(kinds, ", ") +
        (more > 0 ? ", and " + std::to_string(more) + " more" : ""));
  }
  return llvm::Error::success();
}

llvm::Error effc::giveTaps(ModuleOp module, ArrayRef<std::string> patterns) {
  llvm::Expected<func::FuncOp> forward = findForward(module);
  if (!forward)
    return forward.takeError();
  NamedValues values(*forward);
  llvm::DenseSet<StringRef> matched;
  if (llvm::Error error = match(patterns, values, matched))
    return error;

  std::vector<NamedValue> chosen;
  for (auto &[name, value] : values.get())
    if (matched.contains(name))
      chosen.push_back({name.str(), value});
  return giveNamedRows(*forward, chosen, "--tap");
}
