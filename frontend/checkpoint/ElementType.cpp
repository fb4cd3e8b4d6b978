#include "frontend/checkpoint/ElementType.h"

#include "dialects/storage/Bytes.h"
#include "runtime/abi/NarrowFloats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/ErrorHandling.h"

#include <bit>

using namespace effc::frontend;

namespace {

struct ElementTypeInfo {
  llvm::StringLiteral name;
  unsigned bits;
};

// In the order of the enumeration.
constexpr ElementTypeInfo kElementTypes[] = {
    {"BOOL", 8},    {"F4", 4},          {"F6_E2M3", 6},     {"F6_E3M2", 6},
    {"U8", 8},      {"I8", 8},          {"F8_E5M2", 8},     {"F8_E4M3", 8},
    {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"I16", 16},
    {"U16", 16},    {"F16", 16},        {"BF16", 16},       {"I32", 32},
    {"U32", 32},    {"F32", 32},        {"C64", 64},        {"F64", 64},
    {"I64", 64},    {"U64", 64}};
static_assert(std::size(kElementTypes) == size_t(ElementType::U64) + 1);

} // namespace

std::optional<ElementType>
effc::frontend::parseElementType(llvm::StringRef name) {
  for (size_t i = 0; i < std::size(kElementTypes); ++i)
    if (kElementTypes[i].name == name)
      return ElementType(i);
  return std::nullopt;
}

llvm::StringRef effc::frontend::getName(ElementType type) {
  return kElementTypes[size_t(type)].name;
}

unsigned effc::frontend::getBits(ElementType type) {
  return kElementTypes[size_t(type)].bits;
}

bool effc::frontend::isDecodable(ElementType type) {
  return llvm::is_contained(
      {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64},
      type);
}

std::optional<effc::storage::Storage>
effc::frontend::storageOf(ElementType type, mlir::MLIRContext *context) {
  switch (type) {
  case ElementType::F32:
    return storage::Storage::of(mlir::Float32Type::get(context));
  case ElementType::BF16:
    return storage::Storage::of(mlir::BFloat16Type::get(context));
  case ElementType::F16:
    return storage::Storage::of(mlir::Float16Type::get(context));
  default:
    return std::nullopt;
  }
}

template <typename S>
std::vector<S> effc::frontend::decode(ElementType type,
                                      llvm::ArrayRef<uint8_t> bytes) {
  using namespace llvm::support::endian;
  auto step = size_t(storage::wholeBytes(getBits(type)));
  std::vector<S> elements(bytes.size() / step);
  for (size_t i = 0; i < elements.size(); ++i) {
    const uint8_t *at = bytes.data() + i * step;
    switch (type) {
    case ElementType::F16:
      elements[i] = S(rt::fromF16(read16le(at)));
      break;
    case ElementType::BF16:
      elements[i] = S(rt::fromBF16(read16le(at)));
      break;
    case ElementType::F32:
      elements[i] = S(std::bit_cast<float>(read32le(at)));
      break;
    case ElementType::F64:
      elements[i] = S(std::bit_cast<double>(read64le(at)));
      break;
    default:
      llvm_unreachable("not a decodable type");
    }
  }
  return elements;
}

template std::vector<float>
    effc::frontend::decode<float>(ElementType, llvm::ArrayRef<uint8_t>);
template std::vector<double>
    effc::frontend::decode<double>(ElementType, llvm::ArrayRef<uint8_t>);
