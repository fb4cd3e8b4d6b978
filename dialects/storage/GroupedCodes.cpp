#include "dialects/storage/GroupedCodes.h"

#include "dialects/storage/Bytes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace effc;
using namespace effc::storage;
using Codes = GroupedCodes::Codes;

// Of OCP Microscaling Formats 1.0, 5.3.3, in halves.
static constexpr int64_t kE2M1[] = {0, 1,  2,  3,  4,  6,  8,  12,
                                    0, -1, -2, -3, -4, -6, -8, -12};
// What get_4bit_type() of bitsandbytes' functional.py gives, in f32: in units of 2^-27
// and 2^-31.
static constexpr int64_t kNF4[] = {-134217728, -93441416, -70474112, -53004928,
                                   -38177076,  -24799870, -12220529, 0,
                                   10681087,   21599686,  33032634,  45354216,
                                   59151072,   75513176,  97033624,  134217728};
static constexpr int64_t kFP4[] = {
    0,          11184811,    1431655808, 2147483648, 715827904,   1073741824,
    357913952,  536870912,   0,          -11184811,  -1431655808, -2147483648,
    -715827904, -1073741824, -357913952, -536870912};

namespace {
struct CodesRow {
  Codes codes;
  llvm::StringLiteral name;
  int64_t bits; ///< 0: the name has them
  llvm::ArrayRef<int64_t> table = {};
  int64_t unit = 0;
};
struct ScaleRow {
  FieldKind kind;
  llvm::StringLiteral name;
  int64_t bits;
};
} // namespace

static constexpr CodesRow kCodes[] = {
    {Codes::Integers, "int", 0},        {Codes::IntegersLessZero, "z", 0},
    {Codes::E4M3, "e4m3", 8},           {Codes::E5M2, "e5m2", 8},
    {Codes::E2M1, "e2m1", 4, kE2M1, 1}, {Codes::NF4, "nf4", 4, kNF4, 27},
    {Codes::FP4, "fp4", 4, kFP4, 31}};
static constexpr ScaleRow kScales[] = {{FieldKind::Half, "f16", 16},
                                       {FieldKind::Brain, "bf16", 16},
                                       {FieldKind::Single, "f32", 32}};

static const CodesRow &rowOf(Codes codes) {
  return *llvm::find_if(
      kCodes, [&](const CodesRow &row) { return row.codes == codes; });
}

static const ScaleRow &rowOf(FieldKind scale) {
  return *llvm::find_if(kScales,
                        [&](const ScaleRow &row) { return row.kind == scale; });
}

int64_t storage::tableUnit(Codes codes) { return rowOf(codes).unit; }

llvm::ArrayRef<int64_t> storage::tableOf(Codes codes) {
  return rowOf(codes).table;
}

std::string GroupedCodes::name() const {
  std::string name;
  if (codes == Codes::Integers || codes == Codes::IntegersLessZero)
    name = "int" + std::to_string(bits) +
           (codes == Codes::IntegersLessZero ? "z" : "");
  else
    name = rowOf(codes).name.str();
  return name + "_" + std::to_string(elements) + "_" + rowOf(scale).name.str();
}

std::optional<GroupedCodes> GroupedCodes::parse(llvm::StringRef name) {
  auto [rest, scale] = name.rsplit('_');
  auto [codes, elements] = rest.rsplit('_');
  GroupedCodes parsed{Codes::Integers, 0, 0, FieldKind::Half};
  const ScaleRow *scaleRow =
      llvm::find_if(kScales, [&, scale = scale](const ScaleRow &row) {
        return row.name == scale;
      });
  // As large as a block may be, and no second spelling of a number.
  constexpr int64_t kMostElements = 1024;
  if (scaleRow == std::end(kScales) ||
      elements.getAsInteger(10, parsed.elements) || parsed.elements < 1 ||
      parsed.elements > kMostElements)
    return std::nullopt;
  parsed.scale = scaleRow->kind;
  if (codes.consume_front("int")) {
    if (codes.consume_back("z"))
      parsed.codes = Codes::IntegersLessZero;
    if (codes.getAsInteger(10, parsed.bits) || parsed.bits < 2 ||
        parsed.bits > 8)
      return std::nullopt;
  } else {
    const CodesRow *row =
        llvm::find_if(kCodes, [&, codes = codes](const CodesRow &row) {
          return row.bits != 0 && row.name == codes;
        });
    if (row == std::end(kCodes))
      return std::nullopt;
    parsed.codes = row->codes;
    parsed.bits = row->bits;
  }
  // Entries of 4 bits have no byte each.
  bool isTable = tableUnit(parsed.codes) != 0;
  if (parsed.name() != name || (isTable && parsed.elements % 2 != 0))
    return std::nullopt;
  return parsed;
}

BlockType GroupedCodes::describe(mlir::MLIRContext *context) const {
  const CodesRow &row = rowOf(codes);
  bool hasZero = codes == Codes::IntegersLessZero;
  // Planes, whose widths are powers of two, highest bits last. The first digits choose
  // among the elements that share a byte, in a wide plane among bytes too.
  int64_t least = bits & -bits, halvings = llvm::Log2_64(uint64_t(8 / least));
  bool inPlanes = bits < 8 && elements % (int64_t(1) << halvings) == 0;
  if (!inPlanes)
    halvings = 0;
  llvm::SmallVector<int64_t> digits(size_t(halvings), 2);
  digits.push_back(elements >> halvings);

  int64_t scaleBits = rowOf(scale).bits;
  llvm::SmallVector<int64_t> shared(digits.size(), 0), widths, starts, strides;
  auto whole = [&](FieldKind kind, int64_t width, int64_t start) {
    return FieldAttr::get(context, kind, {width}, {start}, shared, 0, {});
  };
  int64_t bit = scaleBits + (hasZero ? 8 : 0);
  for (int64_t width : {8, 4, 2, 1}) {
    if (inPlanes ? !(bits & width) : width != 8)
      continue;
    int64_t inByte = llvm::Log2_64(uint64_t(8 / width));
    widths.push_back(width);
    starts.push_back(bit);
    for (int64_t i = 0; i < halvings; ++i)
      strides.push_back(i < inByte ? width << (inByte - 1 - i)
                                   : (elements >> (i + 1)) * 8);
    strides.push_back(8);
    bit += elements * width;
  }
  // Pieces are lowest first.
  FieldKind kind = codes == Codes::E4M3   ? FieldKind::E4M3
                   : codes == Codes::E5M2 ? FieldKind::E5M2
                                          : FieldKind::Unsigned;
  int64_t codeBias = codes == Codes::Integers ? -bias() : 0;
  auto code = FieldAttr::get(context, kind, widths, starts, strides, codeBias,
                             row.table);
  llvm::SmallVector<FieldAttr> zero;
  if (hasZero)
    zero.push_back(whole(FieldKind::Unsigned, 8, scaleBits));
  std::string called = name();
  return BlockType::get(context, called, elements, wholeBytes(bit), digits,
                        code, zero, {whole(scale, scaleBits, 0)}, {}, {});
}

bool storage::isRowOfBytes(BlockType type) {
  if (!type)
    return false;
  GroupedCodes bytes{Codes::Integers, 8, type.getElements(), FieldKind::Single};
  return bytes.describe(type.getContext()) == type;
}
