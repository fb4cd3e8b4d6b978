#include "frontend/importance/WeightImportance.h"

#include "dialects/seq/Remarks.h"
#include "dialects/storage/rounding/Rounding.h"
#include "frontend/checkpoint/Refusal.h"
#include "frontend/importance/LibraryNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace effc;
using namespace effc::frontend;
using llvm::StringRef;

namespace {

/// The importance of one tensor of a checkpoint.
struct Found {
  const ImportanceFile::Numbers *numbers = nullptr;
  std::string name; // in the file
  /// Which matrix of the entry it is; none: all that the entry has.
  std::optional<uint64_t> expert;
};

class Search {
public:
  Search(const ImportanceFile &file, StringRef modelType, bool isGguf)
      : file(file), names(modelType, isGguf) {}

  Found find(StringRef source) const;

private:
  const ImportanceFile &file;
  LibraryNames names;
};

} // namespace

/// The entry under the tensor's own name, or else the first that is there.
Found Search::find(StringRef source) const {
  if (const auto *numbers = file.find(source))
    return {numbers, source.str(), {}};
  std::optional<LibraryName> known = names.find(
      source, [&](StringRef name) { return file.find(name) != nullptr; });
  if (!known)
    return {};
  return {file.find(known->name), known->name, known->expert};
}

/// The numbers of one tensor's columns, as many times as the tensor has matrices;
/// empty where the entry has another number.
static llvm::ArrayRef<float> numbersOf(const Found &found, uint64_t columns,
                                       uint64_t matrices) {
  llvm::ArrayRef<float> all = *found.numbers;
  if (all.size() % columns != 0)
    return {};
  uint64_t count = all.size() / columns;
  if (count == 1)
    return all;
  if (found.expert)
    return *found.expert < count ? all.slice(*found.expert * columns, columns)
                                 : llvm::ArrayRef<float>();
  return count == matrices ? all : llvm::ArrayRef<float>();
}

static mlir::RankedTensorType typeOf(seq::WeightOp weight) {
  return llvm::cast<mlir::RankedTensorType>(weight.getType());
}

static bool heedsImportance(seq::WeightOp weight) {
  auto blocks =
      llvm::dyn_cast<storage::BlockType>(typeOf(weight).getElementType());
  return blocks && !weight.getComputed() && storage::heedsImportance(blocks);
}

/// How many experts' matrices lie in each weight that has them one after another.
static llvm::StringMap<uint64_t> countExperts(mlir::ModuleOp module) {
  llvm::StringMap<uint64_t> counts;
  auto add = [&](mlir::Value table, int64_t count) {
    if (auto weight = table.getDefiningOp<seq::ParameterOp>())
      counts[weight.getWeight()] = uint64_t(count);
  };
  auto rowsOf = [](mlir::Value table) {
    return llvm::cast<mlir::RankedTensorType>(table.getType()).getDimSize(0);
  };
  module.walk([&](mlir::Operation *op) {
    if (auto experts = llvm::dyn_cast<seq::RoutedExpertsOp>(op)) {
      int64_t count = experts.getLogits().getType().getDimSize(1);
      add(experts.getGateUp(), count);
      add(experts.getDown(), count);
    } else if (auto hidden = llvm::dyn_cast<seq::ExpertHiddenOp>(op)) {
      add(hidden.getTable(),
          rowsOf(hidden.getTable()) / hidden.getRowsPerExpert());
    } else if (auto output = llvm::dyn_cast<seq::ExpertOutputOp>(op)) {
      add(output.getTable(),
          rowsOf(output.getTable()) / output.getY().getType().getDimSize(1));
    }
  });
  return counts;
}

/// Empty where a tensor of the weight has no entry. `experts`: how many have matrices
/// in the weight.
static llvm::Expected<ColumnImportance>
importanceOf(seq::WeightOp weight, const Search &search, uint64_t experts,
             const ImportanceFile &file) {
  llvm::ArrayRef<int64_t> shape = typeOf(weight).getShape();
  llvm::SmallVector<StringRef> sources = weight.getSources();
  auto columns = uint64_t(shape.back());
  // Turned tensors follow one another along the columns.
  if (weight.getTransposed() && sources.size() > 1)
    return ColumnImportance();
  uint64_t all = shape.size() == 3 ? uint64_t(shape[0]) : experts;
  uint64_t matrices = std::max<uint64_t>(1, all / sources.size());
  auto refuseSize = [&](const Found &found, uint64_t columns,
                        uint64_t matrices) {
    return refuse(file.getName() + ": expects " + llvm::Twine(columns) +
                  " numbers for " + quote(found.name) +
                  (matrices > 1 ? ", or as many for each of " +
                                      std::to_string(matrices) + " matrices"
                                : std::string()) +
                  ", which are the columns of " + quote(weight.getSymName()) +
                  ", but got " + llvm::Twine(found.numbers->size()) +
                  ": the file is of another model");
  };
  // As effc names what has no name elsewhere (EntryNames.h).
  if (const auto *own = file.find(weight.getSymName())) {
    Found found = {own, weight.getSymName().str(), {}};
    llvm::ArrayRef<float> numbers =
        numbersOf(found, columns, std::max<uint64_t>(1, all));
    if (numbers.empty())
      return refuseSize(found, columns, all);
    return ColumnImportance(numbers);
  }
  ColumnImportance importance;
  size_t each = 0;
  for (StringRef source : sources) {
    Found found = search.find(source);
    if (!found.numbers)
      return ColumnImportance();
    llvm::ArrayRef<float> numbers = numbersOf(found, columns, matrices);
    if (numbers.empty())
      return refuseSize(found, columns, matrices);
    // Equal parts of the weight have equally many.
    if (each > 0 && numbers.size() != each)
      return ColumnImportance();
    each = numbers.size();
    importance.insert(importance.end(), numbers.begin(), numbers.end());
  }
  return importance;
}

/// The tables of embeddings and of outputs, of which importance is not gathered unless
/// that is asked for.
static llvm::StringSet<> findOuter(mlir::ModuleOp module) {
  llvm::StringSet<> names;
  module.walk([&](mlir::Operation *op) {
    if (llvm::isa<seq::EmbeddingOp, seq::LmHeadOp>(op))
      for (mlir::Value operand : op->getOperands())
        if (auto weight = operand.getDefiningOp<seq::ParameterOp>())
          names.insert(weight.getWeight());
  });
  return names;
}

llvm::Expected<WeightImportance>
WeightImportance::find(const ImportanceFile &file, mlir::ModuleOp module,
                       StringRef modelType, bool isGguf, Remarks &remarks) {
  Search search(file, modelType, isGguf);
  llvm::StringMap<uint64_t> experts = countExperts(module);
  WeightImportance result;
  std::vector<std::string> without;
  for (auto weight : module.getOps<seq::WeightOp>()) {
    if (!heedsImportance(weight))
      continue;
    auto importance =
        importanceOf(weight, search, experts.lookup(weight.getSymName()), file);
    if (!importance)
      return importance.takeError();
    if (importance->empty())
      without.push_back(weight.getSymName().str());
    else
      result.bySymbol[weight.getSymName()] = std::move(*importance);
  }
  if (result.bySymbol.empty() && without.empty())
    return refuse("importance changes nothing: no matrix gets a type whose "
                  "rounding heeds it, as q4_k does and q8_0 does not "
                  "(--weights-type)");
  if (result.bySymbol.empty())
    return refuse(file.getName() + ": has no matrix of this model: it has " +
                  quote(file.getExample()) + " and the like, the model " +
                  quote(without.front()));
  remarks.push_back("importance of " + std::to_string(result.bySymbol.size()) +
                    " matrices is that of " + quote(file.getName()));
  llvm::StringSet<> outer = findOuter(module);
  for (const std::string &name : without)
    remarks.push_back((outer.contains(name) ? "" : seq::kFallbackRemark.str()) +
                      ("matrix " + quote(name)) +
                      " is rounded without importance, since " +
                      quote(file.getName()) + " has none of it");
  return std::move(result);
}
