#include "frontend/importance/EntryNames.h"

#include "frontend/gguf/Names.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc;
using namespace effc::frontend;

/// 63 bytes, of which ".in_sum2" takes 8.
static constexpr size_t kMostBytes = 55;

EntryNames::Known EntryNames::knownNameOf(llvm::StringRef source) const {
  for (const GgufArchitecture *architecture : listGgufArchitectures()) {
    if (architecture->modelType != modelType)
      continue;
    GgufGivenName given = findGivenName(*architecture, source,
                                        [](llvm::StringRef) { return false; });
    if (given.name.empty() || (!isGguf && given.hasOtherColumns))
      continue;
    // Tensors of all experts have no such end in some checkpoints.
    llvm::StringRef end = llvm::StringRef(given.name).ends_with(".weight") ||
                                  llvm::StringRef(given.name).ends_with(".bias")
                              ? ""
                              : ".weight";
    return {given.name + end.str(), given.expert.has_value()};
  }
  return {};
}

/// Each once, if they all fit.
static std::vector<std::string> orOwn(std::vector<std::string> names,
                                      seq::WeightOp weight) {
  std::vector<std::string> each;
  for (std::string &name : names) {
    if (name.size() > kMostBytes)
      return {weight.getSymName().str()};
    if (!llvm::is_contained(each, name))
      each.push_back(std::move(name));
  }
  return each;
}

std::vector<std::string> EntryNames::ofMatrix(seq::WeightOp weight) const {
  // Blocks of heads may be parts of a tensor that has other parts.
  if (llvm::cast<mlir::RankedTensorType>(weight.getType()).getRank() > 2)
    return {weight.getSymName().str()};
  std::vector<std::string> names;
  for (llvm::StringRef source : weight.getSources()) {
    Known known = knownNameOf(source);
    names.push_back(known.name.empty() || known.isExperts ? source.str()
                                                          : known.name);
  }
  return orOwn(std::move(names), weight);
}

std::vector<std::string> EntryNames::ofExperts(seq::WeightOp weight) const {
  llvm::SmallVector<llvm::StringRef> sources = weight.getSources();
  std::vector<std::string> names;
  for (llvm::StringRef source : sources) {
    Known known = knownNameOf(source);
    if (known.name.empty())
      return orOwn(
          {sources.size() == 1 ? source.str() : weight.getSymName().str()},
          weight);
    names.push_back(known.name);
  }
  return orOwn(std::move(names), weight);
}
