// Verifiers of tile.top_k, tile.take and tile.gather_rows.
#include "dialects/tile/Tile.h"

using namespace mlir;
using namespace effc::tile;

LogicalResult TopKOp::verify() {
  auto scores = getScores().getTypes();
  bool fits = scores.size() == 1 || scores.size() == 2;
  for (Type type : scores) {
    auto tile = cast<TileType>(type);
    fits &= tile.getRole() == Role::Row && tile.getElementType().isF32() &&
            tile.columns() == cast<TileType>(scores[0]).columns();
  }
  if (!fits) { // tile_top_k1
    auto diagnostic = emitOpError("expects one or two rows of as many f32, "
                                  "but got ");
    llvm::interleaveComma(scores, diagnostic);
    return diagnostic;
  }
  int64_t width = cast<TileType>(scores[0]).columns();
  int64_t most = scores.size() == 1 ? width : width * width;
  TileType values = getValues().getType(), numbers = getNumbers().getType();
  if (values.getRole() != Role::Row || !values.getElementType().isF32() ||
      numbers.getRole() != Role::Row || !numbers.getElementType().isInteger() ||
      values.columns() != numbers.columns() ||
      values.columns() > most) // tile_top_k2
    return emitOpError("expects rows of K f32 and of K i32 with K at most ")
           << most << ", but got " << values << " and " << numbers;
  return success();
}

LogicalResult TakeOp::verify() {
  TileType tile = getTile().getType(), numbers = getNumbers().getType(),
           result = getResult().getType();
  if (tile.getRole() != Role::Row || !tile.getElementType().isF32() ||
      numbers.getRole() != Role::Row ||
      !(numbers.getElementType().isInteger(32) ||
        numbers.getElementType().isF32())) // tile_take1
    return emitOpError("expects a row of f32 and one of i32 or f32, but got ")
           << tile << " and " << numbers;
  if (result.getRole() != Role::Row || !result.getElementType().isF32() ||
      result.columns() != numbers.columns()) // tile_take2
    return emitOpError("expects a row of ")
           << numbers.columns() << " f32, but got " << result;
  return success();
}

LogicalResult GatherRowsOp::verify() {
  ViewType view = getView().getType(), numbers = getNumbers().getType();
  if (view.getShape().size() != 2 ||
      view.getStrides()[1] != 1) // tile_gather_rows1
    return emitOpError("expects a view of two dimensions with columns one "
                       "element apart, but got ")
           << view;
  if (!numbers.getElementType().isSignlessInteger(32) ||
      numbers.getStrides().back() != 1 ||
      getIndices().size() != numbers.getShape().size()) // tile_gather_rows2
    return emitOpError("expects numbers of i32, the last dimension one element "
                       "apart, and an index for each dimension, but got ")
           << numbers << " and " << getIndices().size() << " indices";
  if (!getResult().getType().isBlock() ||
      getResult().getType().getElementType().isInteger()) // tile_gather_rows3
    return emitOpError("expects a block of numbers as its result, but got ")
           << getResult().getType();
  return success();
}
