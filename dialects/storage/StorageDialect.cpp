// Registration of the storage dialect, syntax and rules of its field and block.
#include "dialects/storage/StorageDialect.h"

#include "dialects/storage/Bytes.h"
#include "dialects/storage/Panels.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace effc::storage;

#include "dialects/storage/StorageDialect.cpp.inc"
#include "dialects/storage/StorageEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/storage/StorageAttributes.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/storage/StorageTypes.cpp.inc"

namespace {

// A text names a block's description once: `!q8_0 = !storage.block<...>`.
struct Aliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Type type, raw_ostream &os) const override {
    auto block = dyn_cast<BlockType>(type);
    if (!block)
      return AliasResult::NoAlias;
    os << block.getName();
    return AliasResult::FinalAlias;
  }
};

} // namespace

void StorageDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/storage/StorageAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/storage/StorageTypes.cpp.inc"
      >();
  addInterfaces<Aliases>();
}

//===----------------------------------------------------------------------===//
// #storage.field
//===----------------------------------------------------------------------===//

// kind [w @ a [s, ...], ...] (bias b)? (table [t, ...])?
static FailureOr<FieldAttr> parseField(AsmParser &parser) {
  StringRef keyword;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<FieldKind> kind = symbolizeFieldKind(keyword);
  if (!kind)
    return parser.emitError(start)
           << "expects a kind of field (uint, int, f16, bf16, f32, e8m0, e4m3, "
              "e5m2), but got '"
           << keyword << "'";
  SmallVector<int64_t> widths, starts, strides, table;
  auto integers = [&](SmallVectorImpl<int64_t> &into) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
      return parser.parseInteger(into.emplace_back());
    });
  };
  auto piece = [&] {
    return failure(parser.parseInteger(widths.emplace_back()) ||
                   parser.parseKeyword("at") ||
                   parser.parseInteger(starts.emplace_back()) ||
                   integers(strides));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, piece))
    return failure();
  int64_t bias = 0;
  if (succeeded(parser.parseOptionalKeyword("bias")) &&
      parser.parseInteger(bias))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("table")) && integers(table))
    return failure();
  auto field = parser.getChecked<FieldAttr>(
      start, parser.getContext(), *kind, widths, starts, strides, bias, table);
  if (!field)
    return failure();
  return field;
}

static void printField(AsmPrinter &printer, FieldAttr field) {
  auto list = [&](ArrayRef<int64_t> numbers) {
    printer << "[";
    llvm::interleaveComma(numbers, printer);
    printer << "]";
  };
  printer << stringifyFieldKind(field.getKind()) << " [";
  for (int64_t i = 0; i < field.pieces(); ++i) {
    printer << (i ? ", " : "") << field.getWidths()[i] << " at "
            << field.getStarts()[i] << " ";
    list(field.stridesOf(i));
  }
  printer << "]";
  if (field.getBias() != 0)
    printer << " bias " << field.getBias();
  if (!field.getTable().empty()) {
    printer << " table ";
    list(field.getTable());
  }
}

Attribute FieldAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<FieldAttr> field = parseField(parser);
  if (failed(field) || parser.parseGreater())
    return {};
  return *field;
}

void FieldAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printField(printer, *this);
  printer << ">";
}

int64_t FieldAttr::bits() const {
  int64_t sum = 0;
  for (int64_t width : getWidths())
    sum += width;
  return sum;
}

int64_t FieldAttr::bytes() const { return wholeBytes(bits()); }

int64_t FieldAttr::firstBit(int64_t piece, ArrayRef<int64_t> digits,
                            int64_t element) const {
  int64_t bit = getStarts()[piece];
  ArrayRef<int64_t> strides = stridesOf(piece);
  for (size_t i = digits.size(); i-- > 0; element /= digits[i])
    bit += element % digits[i] * strides[i];
  return bit;
}

std::pair<int64_t, int64_t> FieldAttr::range() const {
  if (!getTable().empty())
    return {*llvm::min_element(getTable()), *llvm::max_element(getTable())};
  int64_t values = int64_t(1) << bits();
  int64_t least = getBias() - (getKind() == FieldKind::Signed ? values / 2 : 0);
  return {least, least + values - 1};
}

LogicalResult FieldAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                FieldKind kind, ArrayRef<int64_t> widths,
                                ArrayRef<int64_t> starts,
                                ArrayRef<int64_t> strides, int64_t bias,
                                ArrayRef<int64_t> table) {
  if (widths.empty() || starts.size() != widths.size() || strides.empty() ||
      strides.size() % widths.size() != 0) // field1
    return emitError() << "expects a field to have a piece, and as many "
                          "strides in each, but got "
                       << widths.size() << " pieces with " << strides.size()
                       << " strides in all";
  int64_t bits = 0;
  for (int64_t width : widths) {
    if (width < 1 || width > 32) // field2
      return emitError() << "expects a piece of 1 to 32 bits, but got "
                         << width;
    bits += width;
  }
  bool integer = kind == FieldKind::Unsigned || kind == FieldKind::Signed;
  bool half = kind == FieldKind::Half || kind == FieldKind::Brain;
  int64_t expected = kind == FieldKind::Single ? 32 : integer || half ? 16 : 8;
  if (integer ? bits > expected : bits != expected) // field2
    return emitError() << "expects '" << stringifyFieldKind(kind)
                       << "' to have "
                       << (integer ? "1 to 16" : llvm::Twine(expected).str())
                       << " bits, but got " << bits;
  if (!integer && widths.size() > 1) // field2
    return emitError() << "expects '" << stringifyFieldKind(kind)
                       << "' to be one piece, but got " << widths.size();
  if (!integer && // field3
      (!table.empty() || (bias != 0 && kind != FieldKind::Exponent)))
    return emitError() << "expects a table of an integer alone, and a bias of "
                          "one or of an exponent, but got one of '"
                       << stringifyFieldKind(kind) << "'";
  if (bias != 0 && !table.empty()) // field3
    return emitError() << "expects a bias or a table, but got both";
  if (!table.empty() && int64_t(table.size()) != int64_t(1) << bits) // field4
    return emitError() << "expects a table of " << (int64_t(1) << bits)
                       << " entries for " << bits << " bits, but got "
                       << table.size();
  return success();
}

//===----------------------------------------------------------------------===//
// !storage.block
//===----------------------------------------------------------------------===//

Type BlockType::parse(AsmParser &parser) {
  std::string name;
  int64_t elements = 0, bytes = 0;
  SmallVector<int64_t> digits;
  SMLoc start = parser.getCurrentLocation();
  auto number = [&](StringRef keyword, int64_t &into) {
    return ParseResult(
        failure(parser.parseComma() || parser.parseKeyword(keyword) ||
                parser.parseEqual() || parser.parseInteger(into)));
  };
  auto digit = [&] { return parser.parseInteger(digits.emplace_back()); };
  if (parser.parseLess() || parser.parseString(&name) ||
      number("elements", elements) || number("bytes", bytes) ||
      parser.parseComma() || parser.parseKeyword("digits") ||
      parser.parseEqual() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, digit) ||
      parser.parseComma() || parser.parseKeyword("code") || parser.parseEqual())
    return {};
  FailureOr<FieldAttr> code = parseField(parser);
  if (failed(code))
    return {};
  constexpr llvm::StringLiteral names[] = {"zero", "scale", "plus", "minus"};
  SmallVector<FieldAttr> factors[std::size(names)];
  size_t next = 0;
  while (succeeded(parser.parseOptionalComma())) {
    StringRef keyword;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return {};
    while (next < std::size(names) && names[next] != keyword)
      ++next;
    if (next == std::size(names)) {
      parser.emitError(at) << "expects 'zero', 'scale', 'plus' and 'minus' in "
                              "this order, each once, but got '"
                           << keyword << "'";
      return {};
    }
    auto factor = [&]() -> ParseResult {
      FailureOr<FieldAttr> field = parseField(parser);
      if (failed(field))
        return failure();
      factors[next].push_back(*field);
      return success();
    };
    if (parser.parseEqual() ||
        parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, factor))
      return {};
    ++next;
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BlockType>(
      start, parser.getContext(), name, elements, bytes, digits, *code,
      factors[0], factors[1], factors[2], factors[3]);
}

void BlockType::print(AsmPrinter &printer) const {
  printer << "<\"" << getName() << "\", elements = " << getElements()
          << ", bytes = " << getBytes() << ", digits = [";
  llvm::interleaveComma(getDigits(), printer);
  printer << "], code = ";
  printField(printer, getCode());
  auto list = [&](StringRef name, ArrayRef<FieldAttr> fields) {
    if (fields.empty())
      return;
    printer << ", " << name << " = [";
    llvm::interleaveComma(fields, printer,
                          [&](FieldAttr field) { printField(printer, field); });
    printer << "]";
  };
  list("zero", getZero());
  list("scale", getScale());
  list("plus", getPlus());
  list("minus", getMinus());
  printer << ">";
}

// Marks the bits that an element's field has; fails where one is outside.
static bool mark(FieldAttr field, ArrayRef<int64_t> digits, int64_t element,
                 llvm::BitVector &bits) {
  for (int64_t i = 0; i < field.pieces(); ++i) {
    int64_t first = field.firstBit(i, digits, element);
    int64_t width = field.getWidths()[i];
    bool inByte = first % 8 + width <= 8;
    bool whole = first % 8 == 0 && width % 8 == 0;
    if (first < 0 || first + width > int64_t(bits.size()) ||
        (!inByte && !whole))
      return false;
    bits.set(first, first + width);
  }
  return true;
}

static int64_t significantBits(int64_t value) {
  auto magnitude = uint64_t(std::abs(value));
  if (magnitude != 0)
    magnitude >>= llvm::countr_zero(magnitude);
  return llvm::bit_width(magnitude);
}

// Significant bits of what a field stands for.
static int64_t significantBits(FieldAttr field) {
  switch (field.getKind()) {
  case FieldKind::Unsigned:
  case FieldKind::Signed: {
    int64_t most = 0;
    if (!field.getTable().empty()) {
      for (int64_t value : field.getTable())
        most = std::max(most, significantBits(value));
      return most;
    }
    auto [least, largest] = field.range();
    for (int64_t value = least; value <= largest; ++value)
      most = std::max(most, significantBits(value));
    return most;
  }
  case FieldKind::Half:
    return 11;
  case FieldKind::Brain:
    return 8;
  case FieldKind::Single:
    return 24;
  case FieldKind::Exponent:
    return 0;
  case FieldKind::E4M3:
    return 4;
  case FieldKind::E5M2:
    return 3;
  }
  llvm_unreachable("every kind is listed");
}

// Of the differences of two integers: at most as many as the largest has.
static int64_t significantBits(FieldAttr code, FieldAttr zero) {
  auto [least, largest] = code.range();
  auto [leastZero, largestZero] = zero.range();
  auto magnitude =
      std::max(std::abs(largest - leastZero), std::abs(least - largestZero));
  return llvm::bit_width(uint64_t(magnitude));
}

static LogicalResult verifyBits(function_ref<InFlightDiagnostic()> emitError,
                                int64_t elements, int64_t bytes,
                                ArrayRef<int64_t> digits, FieldAttr code,
                                ArrayRef<FieldAttr> others) {
  llvm::BitVector codes(bytes * 8), shared(bytes * 8);
  for (int64_t element = 0; element < elements; ++element) {
    llvm::BitVector own(bytes * 8);
    bool inside = mark(code, digits, element, own);
    for (FieldAttr field : others)
      inside &= mark(field, digits, element, shared);
    if (!inside) // stored3
      return emitError() << "expects every piece inside " << bytes
                         << " bytes, each within a byte or of whole ones, but "
                            "element "
                         << element << " has one that is not";
    if (codes.anyCommon(own)) // stored4
      return emitError() << "expects each element to have a code of its own, "
                            "but that of element "
                         << element << " shares bits with an earlier one's";
    codes |= own;
  }
  if (codes.anyCommon(shared)) // stored4
    return emitError()
           << "expects codes apart from other fields, but they share bit "
           << (codes &= shared).find_first();
  return success();
}

LogicalResult BlockType::verify(function_ref<InFlightDiagnostic()> emitError,
                                StringRef, int64_t elements, int64_t bytes,
                                ArrayRef<int64_t> digits, FieldAttr code,
                                ArrayRef<FieldAttr> zero,
                                ArrayRef<FieldAttr> scale,
                                ArrayRef<FieldAttr> plus,
                                ArrayRef<FieldAttr> minus) {
  // Bounds that every published format keeps, so that a check of all bits ends. What
  // describes a panel has them for each of its rows.
  bool isPanel = digits.size() == kPanelDigits && digits.front() == kPanelRows;
  int64_t rows = isPanel ? kPanelRows : 1;
  int64_t mostElements = 1024 * rows, mostBytes = 4096 * rows;
  int64_t product = digits.empty() ? 0 : 1;
  for (int64_t digit : digits)
    product = digit < 1 || product > mostElements ? 0 : product * digit;
  if (product != elements || elements > mostElements || elements < 1 ||
      bytes < 1 || bytes > mostBytes) // stored1
    return emitError() << "expects digits that multiply to 'elements' (1 to "
                       << mostElements << ") and 1 to " << mostBytes
                       << " bytes, but got " << elements << " elements, "
                       << bytes << " bytes and digits of " << product;
  SmallVector<FieldAttr> others;
  for (ArrayRef<FieldAttr> factors : {zero, scale, plus, minus})
    llvm::append_range(others, factors);
  SmallVector<FieldAttr> all = others;
  all.push_back(code);
  for (FieldAttr field : all)
    if (field.digits() != int64_t(digits.size())) // stored2
      return emitError() << "expects a stride for each of " << digits.size()
                         << " digits, but got " << field.digits();
  bool isEighth =
      code.getKind() == FieldKind::E4M3 || code.getKind() == FieldKind::E5M2;
  if (!(code.isInteger() || isEighth) || scale.size() > 2 || plus.size() > 2 ||
      minus.size() > 2) // stored5
    return emitError() << "expects a code of integers or of 8 bits and at most "
                          "two factors each of 'scale', 'plus' and 'minus', "
                          "but got a code of '"
                       << stringifyFieldKind(code.getKind()) << "' and "
                       << scale.size() << ", " << plus.size() << ", "
                       << minus.size();
  if (zero.size() > 1 ||
      (!zero.empty() && (!code.isInteger() || !zero[0].isInteger()))) // stored5
    return emitError() << "expects at most one 'zero', an integer as its code "
                          "is one, but got "
                       << zero.size() << " beside a code of '"
                       << stringifyFieldKind(code.getKind()) << "'";
  int64_t significant = zero.empty() ? significantBits(code)
                                     : significantBits(code, zero.front());
  bool rounded = false, fits = significant <= 24;
  for (FieldAttr field : scale) {
    significant += significantBits(field);
    rounded |= field.getKind() == FieldKind::Single;
  }
  if (!fits || (rounded ? !plus.empty() || !minus.empty() || scale.size() > 1
                        : significant > 24)) // stored6
    return emitError() << "expects an exact product of code and scale, or an "
                          "f32 scale alone, but got "
                       << significant << " significant bits";
  return verifyBits(emitError, elements, bytes, digits, code, others);
}

//===----------------------------------------------------------------------===//
// !storage.panel, !storage.digits
//===----------------------------------------------------------------------===//

LogicalResult PanelType::verify(function_ref<InFlightDiagnostic()> emitError,
                                BlockType rows) {
  if (!hasPanels(rows)) // panel1, panel2
    return emitError() << "expects blocks of a multiple of 32 elements with "
                          "codes of integers of at most 8 bits, and scales of "
                          "all of them or of 8 bits for 16 or more, but got '"
                       << rows.getName() << "'";
  return success();
}

LogicalResult DigitsType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t count) {
  if (count < 1 || count > 3) // digits1
    return emitError() << "expects 1 to 3 digits, but got " << count;
  return success();
}
