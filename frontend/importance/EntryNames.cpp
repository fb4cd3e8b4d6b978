#include "frontend/importance/EntryNames.h"

#include "llvm/ADT/STLExtras.h"

using namespace effc;
using namespace effc::frontend;

/// 63 bytes, of which ".in_sum2" takes 8.
static constexpr size_t kMostBytes = 55;

static void append(const std::vector<LibraryName> &known,
                   std::vector<std::string> &names) {
  for (const LibraryName &one : known)
    names.push_back(one.name);
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
    std::vector<LibraryName> known = library.own(source, hasExperts);
    if (known.empty() || known.front().isOfExperts)
      names.push_back(source.str());
    else
      append(known, names);
  }
  return orOwn(std::move(names), weight);
}

std::vector<std::string> EntryNames::ofExperts(seq::WeightOp weight) const {
  llvm::SmallVector<llvm::StringRef> sources = weight.getSources();
  std::vector<std::string> names;
  for (llvm::StringRef source : sources) {
    std::vector<LibraryName> known = library.own(source, hasExperts);
    if (known.empty())
      return orOwn(
          {sources.size() == 1 ? source.str() : weight.getSymName().str()},
          weight);
    append(known, names);
  }
  return orOwn(std::move(names), weight);
}
