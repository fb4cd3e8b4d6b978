// Syntax and rules of the tile dialect's types.
#include "dialects/storage/Storage.h"
#include "dialects/tile/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

#define GET_TYPEDEF_CLASSES
#include "dialects/tile/TileTypes.cpp.inc"

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/tile/TileTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// !tile.tile
//===----------------------------------------------------------------------===//

int64_t TileType::rows() const {
  if (isBlock())
    return getShape()[0];
  return getRole() == Role::Column ? getShape()[0] : 1;
}

int64_t TileType::columns() const {
  if (isBlock())
    return getShape()[1];
  return getRole() == Role::Column ? 1 : getShape()[0];
}

Type TileType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  StringRef role;
  Attribute layout;
  SMLoc start = parser.getCurrentLocation(), roleLoc;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseComma() ||
      (roleLoc = parser.getCurrentLocation(), parser.parseKeyword(&role)))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseAttribute(layout))
    return {};
  if (parser.parseGreater())
    return {};
  std::optional<Role> known = symbolizeRole(role);
  if (!known) {
    parser.emitError(roleLoc)
        << "expects a role (operand, accumulator, row, column, "
           "staged), but got '"
        << role << "'";
    return {};
  }
  return parser.getChecked<TileType>(start, parser.getContext(), shape, element,
                                     *known, layout);
}

void TileType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType() << ", " << stringifyRole(getRole());
  if (getLayout())
    printer << ", " << getLayout();
  printer << ">";
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type element, Role role,
                               Attribute layout) {
  size_t rank = role == Role::Row || role == Role::Column ? 1 : 2;
  if (shape.size() != rank) // tile1
    return emitError() << "expects a tile with role '" << stringifyRole(role)
                       << "' to have " << rank << " dimensions, but got "
                       << shape.size();
  for (int64_t size : shape)
    if (size < 1) // tile2
      return emitError() << "expects positive tile dimensions, but got "
                         << size;
  if (!element.isF32() && !element.isBF16() && !element.isF16() &&
      !element.isSignlessInteger(32)) // tile3
    return emitError() << "expects a tile of f32, bf16, f16 or i32, but got "
                       << element;
  if (layout && !isa<TileLayout>(layout)) // tile4
    return emitError()
           << "expects a layout #tile.lin, #tile.mma or #tile.shared, but got "
           << layout;
  return success();
}

//===----------------------------------------------------------------------===//
// !tile.view
//===----------------------------------------------------------------------===//

Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape, strides;
  Type element;
  SMLoc start = parser.getCurrentLocation();
  auto parseStride = [&] {
    return parser.parseInteger(strides.emplace_back());
  };
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(element) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     parseStride) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<ViewType>(start, parser.getContext(), shape, element,
                                     strides);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType() << ", [";
  llvm::interleaveComma(getStrides(), printer);
  printer << "]>";
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type element,
                               ArrayRef<int64_t> strides) {
  if (shape.empty() || shape.size() != strides.size()) // view1
    return emitError()
           << "expects one stride for each of a view's dimensions, but got "
           << strides.size() << " for " << shape.size();
  for (auto [i, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size) ? i != 0 : size < 1) // view2
      return emitError()
             << "expects a view's dimensions past the first to be static "
                "and positive, but got dimension "
             << i << " = " << size;
  std::optional<storage::Storage> storage = storage::Storage::of(element);
  if (!storage) // view3
    return emitError() << "expects a view of f32, bf16, f16, i32, i64 or "
                          "blocks of codes, but got "
                       << element;
  for (int64_t stride : strides.drop_back())
    if (!storage->divides(stride)) // view4
      return emitError() << "expects rows of whole blocks, multiples of "
                         << storage->blockElements()
                         << " elements, but got a stride of " << stride;
  return success();
}
