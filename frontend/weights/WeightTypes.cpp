#include "frontend/weights/WeightTypes.h"

#include "dialects/seq/Remarks.h"
#include "dialects/storage/Encoder.h"
#include "dialects/storage/Formats.h"
#include "dialects/storage/GroupedCodes.h"
#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace effc;
using namespace effc::frontend;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

// Parts between commas, but for those of a description.
static llvm::SmallVector<StringRef> splitItems(StringRef text) {
  llvm::SmallVector<StringRef> items;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += StringRef("<[(").contains(text[i]);
    depth -= StringRef(">])").contains(text[i]);
    if (text[i] != ',' || depth > 0)
      continue;
    items.push_back(text.slice(begin, i));
    begin = i + 1;
  }
  items.push_back(text.substr(begin));
  return items;
}

// GLOB and TYPE; the first is empty for all matrices. Descriptions have '=' too. Types
// are known by their names in capitals as well, "Q4_K_M"; a description of a storage has
// letters of both kinds.
static std::pair<StringRef, std::string> splitItem(StringRef item) {
  StringRef glob, type = item;
  if (!item.starts_with("!") && item.contains('='))
    std::tie(glob, type) = item.split('=');
  bool isName =
      llvm::all_of(type, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return {glob, isName ? type.lower() : type.str()};
}

static bool isStorage(StringRef name) {
  return name.starts_with("!storage.") || storage::GroupedCodes::parse(name) ||
         llvm::is_contained(storage::formatNames(), name);
}

bool WeightTypes::isText(StringRef text) {
  return llvm::all_of(splitItems(text), [](StringRef item) {
    auto [glob, type] = splitItem(item);
    return !item.starts_with("=") &&
           (isStorage(type) || (glob.empty() && findMix(type)));
  });
}

std::vector<std::string> WeightTypes::names() {
  std::vector<std::string> names;
  for (StringRef name : storage::formatNames())
    names.push_back(name.str());
  for (const WeightMix &mix : weightMixes())
    if (!llvm::is_contained(names, mix.name))
      names.push_back(mix.name.str());
  return names;
}

// Descriptions are the user's own, and what is wrong with one is said by its parser.
static llvm::Expected<mlir::Type> parseStorage(StringRef text,
                                               mlir::MLIRContext &context) {
  std::string problem;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &found) {
    if (problem.empty())
      problem = found.str();
    return mlir::success();
  });
  mlir::Type type = storage::formatOf(text, &context);
  std::optional<storage::Storage> storage = storage::Storage::of(type);
  if (!type || !storage)
    return refuse(quote(text) + " describes no storage" +
                  (problem.empty() ? "" : ": " + problem));
  if (!storage->isEncodable())
    return refuse("weights can be kept as '" + text +
                  "' but not made so: expects codes around 0 and one scale for "
                  "a block");
  return type;
}

llvm::Expected<WeightTypes> WeightTypes::parse(StringRef text,
                                               mlir::MLIRContext &context) {
  context.loadDialect<storage::StorageDialect>();
  WeightTypes types;
  for (StringRef item : splitItems(text)) {
    auto [glob, name] = splitItem(item);
    const WeightMix *mix = glob.empty() ? findMix(name) : nullptr;
    auto type =
        parseStorage(mix ? StringRef(mix->base) : StringRef(name), context);
    if (!type)
      return type.takeError();
    if (glob.empty()) {
      if (types.all)
        return refuse(
            "expects one type for all weights, but got a second one, " +
            quote(name));
      types.all = *type;
      types.mix = mix;
      continue;
    }
    auto pattern = llvm::GlobPattern::create(glob);
    if (!pattern)
      return refuse(quote(glob) + " is no pattern of names: " +
                    llvm::toString(pattern.takeError()));
    types.patterns.push_back({glob.str(), std::move(*pattern), *type});
  }
  return types;
}

//===----------------------------------------------------------------------===//
// What the model has
//===----------------------------------------------------------------------===//

namespace {

/// What choices depend on.
class Model {
public:
  Model(mlir::ModuleOp module, llvm::ArrayRef<Matrix> matrices);

  bool isHead(seq::WeightOp weight) const {
    return heads.contains(weight.getSymName());
  }
  bool hasEightExperts() const { return experts == 8; }
  MatrixRole roleOf(Matrix matrix) const;
  /// Number among those of its role, and how many there are.
  std::pair<int64_t, int64_t> placeOf(seq::WeightOp weight,
                                      MatrixRole role) const;

private:
  // A tensor of the checkpoint may hold several weights.
  using Numbers = llvm::MapVector<StringRef, int64_t>;

  llvm::StringSet<> heads;
  int64_t experts = 0, layers = 0;
  std::map<MatrixRole, Numbers> numbers; // by source
};

} // namespace

// "layers.12.mlp.down": 12.
static std::optional<int64_t> layerOf(StringRef weight) {
  int64_t layer;
  StringRef rest = weight.split('.').second;
  if (rest.empty() || rest.split('.').first.getAsInteger(10, layer))
    return std::nullopt;
  return layer;
}

Model::Model(mlir::ModuleOp module, llvm::ArrayRef<Matrix> matrices) {
  module.walk([&](seq::LmHeadOp head) {
    if (auto weight = head.getWeight().getDefiningOp<seq::ParameterOp>())
      heads.insert(weight.getWeight());
  });
  for (auto [weight, role] : matrices) {
    layers = std::max(layers, layerOf(weight.getSymName()).value_or(-1) + 1);
    if (role == MatrixRole::Router)
      experts =
          llvm::cast<mlir::RankedTensorType>(weight.getType()).getDimSize(0);
    Numbers &known = numbers[role];
    known.insert({weight.getSource(), int64_t(known.size())});
  }
}

// Queries, keys and values of one tensor have the role that values have.
MatrixRole Model::roleOf(Matrix matrix) const {
  auto values = numbers.find(MatrixRole::Values);
  bool isWithValues = values != numbers.end() &&
                      values->second.contains(matrix.weight.getSource());
  return isWithValues ? MatrixRole::Values : matrix.role;
}

// Of layers with experts, the layer's number counts.
std::pair<int64_t, int64_t> Model::placeOf(seq::WeightOp weight,
                                           MatrixRole role) const {
  const Numbers &known = numbers.at(role);
  std::optional<int64_t> layer = layerOf(weight.getSymName());
  if (role == MatrixRole::Values)
    return {known.lookup(weight.getSource()), int64_t(known.size())};
  return {experts > 1 && layer ? *layer : known.lookup(weight.getSource()),
          layers};
}

//===----------------------------------------------------------------------===//
// What each matrix gets
//===----------------------------------------------------------------------===//

static StringRef chooseByMix(const WeightMix &mix, const Matrix &matrix,
                             const Model &model, bool hasImportance) {
  if (model.isHead(matrix.weight))
    return mix.head;
  MatrixRole role = model.roleOf(matrix);
  auto [index, count] = model.placeOf(matrix.weight, role);
  auto find = [&, index = index, count = count](auto rows) -> StringRef {
    for (const RoleStorage &row : rows)
      if (row.role == role && isChosen(row.choice, index, count))
        return row.storage;
    return "";
  };
  StringRef found = model.hasEightExperts() ? find(mix.withEightExperts) : "";
  if (found.empty() && hasImportance)
    found = find(mix.withImportance);
  if (found.empty())
    found = find(mix.roles);
  return found.empty() ? StringRef(mix.base) : found;
}

static mlir::RankedTensorType tensorOf(seq::WeightOp weight) {
  return llvm::cast<mlir::RankedTensorType>(weight.getType());
}

static std::string nameOf(mlir::Type element) {
  return storage::Storage::get(element).name().str();
}

static void setType(seq::WeightOp weight, mlir::Type element) {
  auto type = mlir::RankedTensorType::get(tensorOf(weight).getShape(), element);
  weight.setType(type);
}

// `wanted`, or blocks that divide the matrix's rows; null: none do.
static mlir::Type divide(seq::WeightOp weight, mlir::Type wanted,
                         Remarks &remarks) {
  int64_t columns = tensorOf(weight).getShape().back();
  std::string rows = "matrices with rows of " + std::to_string(columns) + " ";
  auto remark = [&](const std::string &text) {
    if (!llvm::is_contained(remarks, text))
      remarks.push_back(text);
  };
  storage::Storage storage = storage::Storage::get(wanted);
  if (storage.divides(columns))
    return wanted;
  std::string blocks = storage.name().str() + " has blocks of " +
                       std::to_string(storage.blockElements());
  mlir::Type smaller =
      storage::formatOf(findSmaller(storage.name()), weight.getContext());
  if (smaller && storage::Storage::get(smaller).divides(columns)) {
    remark(rows + "get " + nameOf(smaller) + ": " + blocks);
    return smaller;
  }
  remark(rows + "stay " + nameOf(tensorOf(weight).getElementType()) + ": " +
         blocks);
  return {};
}

// What there is to say where numbers that were rounded before are rounded again; ""
// where there is nothing.
static std::string roundedTwice(mlir::Type from, mlir::Type to) {
  storage::Storage before = storage::Storage::get(from),
                   after = storage::Storage::get(to);
  if (before.isDense() || after.isDense() || from == to)
    return "";
  return seq::kFallbackRemark.str() + "weights of " + before.name().str() +
         " are rounded a second time, to " + after.name().str() +
         ", and lose more than the wide ones would";
}

static void retypeUses(mlir::ModuleOp module) {
  llvm::DenseMap<mlir::StringAttr, mlir::Type> types;
  for (auto weight : module.getOps<seq::WeightOp>())
    types[weight.getSymNameAttr()] = weight.getType();
  module.walk([&](seq::ParameterOp use) {
    if (mlir::Type type = types.lookup(use.getWeightAttr().getAttr()))
      use.getResult().setType(llvm::cast<mlir::RankedTensorType>(type));
  });
}

llvm::Error WeightTypes::apply(mlir::ModuleOp module,
                               llvm::ArrayRef<Matrix> matrices,
                               Remarks &remarks) const {
  Model model(module, matrices);
  llvm::DenseSet<const Pattern *> used;
  auto findPattern = [&](seq::WeightOp weight) -> const Pattern * {
    for (const Pattern &pattern : patterns)
      if (pattern.glob.match(weight.getSymName()) ||
          llvm::any_of(weight.getSources(), [&](StringRef source) {
            return pattern.glob.match(source);
          }))
        return &pattern;
    return nullptr;
  };
  for (const Matrix &matrix : matrices) {
    seq::WeightOp weight = matrix.weight;
    mlir::Type wanted = all;
    if (const Pattern *pattern = findPattern(weight)) {
      used.insert(pattern);
      wanted = pattern->type;
    } else if (all && !storage::Storage::get(all).isDense()) {
      if (StringRef why = whyWide(matrix.role); !why.empty()) {
        remarks.push_back("matrix " + quote(weight.getSymName()) + " stays " +
                          nameOf(tensorOf(weight).getElementType()) + ": " +
                          why.str());
        continue;
      }
      if (mix)
        wanted =
            storage::formatOf(chooseByMix(*mix, matrix, model, hasImportance),
                              weight.getContext());
    }
    mlir::Type type = wanted ? divide(weight, wanted, remarks) : wanted;
    if (!type)
      continue;
    if (std::string twice =
            roundedTwice(tensorOf(weight).getElementType(), type);
        !twice.empty() && !llvm::is_contained(remarks, twice))
      remarks.push_back(twice);
    setType(weight, type);
  }
  for (const Pattern &pattern : patterns)
    if (!used.contains(&pattern))
      return refuse("no matrix has a name like " + quote(pattern.text) +
                    " that no pattern before it has too (--weights-type)");
  retypeUses(module);
  return llvm::Error::success();
}
