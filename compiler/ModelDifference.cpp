// Modules are compared as bytes, and as text where the bytes differ.
#include "compiler/ModelDifference.h"

#include "dialects/seq/SeqDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace effc;

static std::string moduleText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Without aliases, whose lines come first and say nothing.
  module->print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

/// A line, or what of a long one lies around the place `at`.
static std::string shorten(StringRef line, size_t at) {
  constexpr size_t kShown = 160, kBefore = 60;
  size_t begin = line.size() <= kShown || at <= kBefore ? 0 : at - kBefore;
  StringRef shown = line.substr(begin, kShown);
  return ((begin > 0 ? "..." : "") + shown +
          (begin + shown.size() < line.size() ? "..." : ""))
      .str();
}

/// By which line two texts differ first; empty: by none.
static std::string describeFirstDifference(StringRef expected,
                                           StringRef found) {
  while (!expected.empty() || !found.empty()) {
    auto [own, ownRest] = expected.split('\n');
    auto [other, otherRest] = found.split('\n');
    if (own != other) {
      own = own.trim();
      other = other.trim();
      size_t at =
          std::mismatch(own.begin(),
                        own.begin() + std::min(own.size(), other.size()),
                        other.begin())
              .first -
          own.begin();
      auto show = [&](StringRef line) {
        return line.empty() ? "its end" : "'" + shorten(line, at) + "'";
      };
      return "expects " + show(own) + ", but got " + show(other);
    }
    expected = ownRest;
    found = otherRest;
  }
  return "";
}

llvm::Error effc::checkSameModel(llvm::ArrayRef<uint8_t> stored,
                                 StringRef bytecode, ModuleOp found,
                                 StringRef name) {
  StringRef expected = llvm::toStringRef(stored);
  if (expected == bytecode)
    return llvm::Error::success();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(expected, found.getContext());
  if (!module)
    return llvm::createStringError("the file's seq module cannot be read");
  // Of models that differ in what they are, not by which op they begin to.
  auto describe = [](ModuleOp of) {
    std::string text;
    llvm::raw_string_ostream(text) << of->getAttr(seq::kModelAttr);
    return text;
  };
  std::string difference =
      describeFirstDifference(describe(*module), describe(found));
  if (difference.empty())
    difference =
        describeFirstDifference(moduleText(*module), moduleText(found));
  if (difference.empty())
    return llvm::Error::success();
  return llvm::createStringError(
      "'" + name + "' is not the model that the file was compiled from, " +
      "weights aside: " + difference);
}
