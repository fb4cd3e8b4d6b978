#include "dialects/storage/DenseKind.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <string>

using namespace effc;
using namespace effc::storage;

namespace {

struct Dense {
  llvm::StringLiteral name;
  int64_t bytes;
  /// Of floating-point numbers; 0 of integers.
  double largest;
};

// In the order of the enumeration.
constexpr Dense kDense[] = {{"f32", 4, 0x1.fffffep127},
                            {"bf16", 2, 0x1.fep127},
                            {"f16", 2, 65504},
                            {"i32", 4, 0},
                            {"i64", 8, 0}};
static_assert(std::size(kDense) == size_t(DenseKind::I64) + 1);

} // namespace

std::optional<DenseKind> storage::denseKindOf(mlir::Type element) {
  if (!element)
    return std::nullopt;
  if (element.isF32())
    return DenseKind::F32;
  if (element.isBF16())
    return DenseKind::BF16;
  if (element.isF16())
    return DenseKind::F16;
  if (element.isSignlessInteger(32))
    return DenseKind::I32;
  if (element.isSignlessInteger(64))
    return DenseKind::I64;
  return std::nullopt;
}

DenseKind storage::getDenseKind(mlir::Type element) {
  if (std::optional<DenseKind> kind = denseKindOf(element))
    return *kind;
  std::string text;
  llvm::raw_string_ostream(text)
      << "expects a type whose numbers have bytes of their own, but got "
      << element;
  llvm::report_fatal_error(llvm::StringRef(text));
}

std::optional<DenseKind> storage::denseKindNamed(llvm::StringRef name) {
  for (size_t i = 0; i < std::size(kDense); ++i)
    if (kDense[i].name == name)
      return DenseKind(i);
  return std::nullopt;
}

llvm::StringRef storage::nameOf(DenseKind kind) {
  return kDense[size_t(kind)].name;
}

int64_t storage::bytesOf(DenseKind kind) { return kDense[size_t(kind)].bytes; }

double storage::largestOf(DenseKind kind) {
  assert(kDense[size_t(kind)].largest != 0 && "integers have no such number");
  return kDense[size_t(kind)].largest;
}
