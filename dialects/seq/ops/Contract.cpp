// seq.contract: products summed over the dimensions the result lacks.
#include "dialects/seq/Seq.h"
#include "dialects/seq/ShapeFormula.h"
#include "dialects/seq/reference/Frame.h"

using namespace mlir;
using namespace effc::seq;
using namespace effc::seq::reference;

void ContractOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                       StringRef lhsLetters, Value rhs, StringRef rhsLetters,
                       StringRef outLetters) {
  std::string space;
  for (char letter : (outLetters + lhsLetters + rhsLetters).str())
    if (!llvm::is_contained(space, letter))
      space.push_back(letter);
  llvm::DenseMap<char, int64_t> extents;
  auto learn = [&](Value value, StringRef letters) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(value.getType()).getShape();
    for (auto [letter, extent] : llvm::zip_equal(letters, shape))
      extents[letter] = extent;
  };
  learn(lhs, lhsLetters);
  learn(rhs, rhsLetters);
  auto mapOf = [&](StringRef letters) {
    SmallVector<unsigned> dims;
    for (char letter : letters)
      dims.push_back(space.find(letter));
    return AffineMap::getMultiDimMapWithTargets(space.size(), dims,
                                                builder.getContext());
  };
  SmallVector<int64_t> shape;
  for (char letter : outLetters)
    shape.push_back(extents.at(letter));
  build(builder, state, RankedTensorType::get(shape, builder.getF32Type()), lhs,
        rhs,
        builder.getAffineMapArrayAttr(
            {mapOf(lhsLetters), mapOf(rhsLetters), mapOf(outLetters)}));
}

static constexpr StringLiteral kOperandNames[] = {"lhs", "rhs", "out"};

// CONTRACT1 and CONTRACT2.
static LogicalResult verifyMaps(ContractOp op, ArrayRef<AffineMap> maps) {
  if (maps.size() != 3)
    return op.emitOpError() << "expects 'indexing_maps' for 'lhs', 'rhs' and "
                               "'out', but got "
                            << maps.size() << " maps";
  for (auto [name, map, type] :
       llvm::zip(kOperandNames, maps,
                 TypeRange{op.getLhs().getType(), op.getRhs().getType(),
                           op.getOut().getType()})) {
    if (map.getNumDims() != maps.front().getNumDims() ||
        map.getNumSymbols() != 0 || !map.isProjectedPermutation())
      return op.emitOpError()
             << "expects the map of '" << name << "' to choose among "
             << maps.front().getNumDims() << " dimensions, none twice, but got "
             << AffineMapAttr::get(map);
    int64_t rank = cast<RankedTensorType>(type).getRank();
    if (map.getNumResults() != rank)
      return op.emitOpError()
             << "expects the map of '" << name << "' to have " << rank
             << " results, but got " << AffineMapAttr::get(map);
  }
  return success();
}

// The extents of the iteration space's dimensions from those of the tensors;
// fails with the first dimension that has two.
struct Extents {
  SmallVector<std::optional<int64_t>> known;
  struct Conflict {
    unsigned dimension;
    int64_t expected, found;
  };
  std::optional<Conflict> conflict;

  void add(AffineMap map, ArrayRef<int64_t> shape) {
    known.resize(map.getNumDims());
    for (auto [axis, extent] : llvm::enumerate(shape)) {
      unsigned dimension = map.getDimPosition(axis);
      if (!known[dimension])
        known[dimension] = extent;
      else if (*known[dimension] != extent && !conflict)
        conflict = {dimension, *known[dimension], extent};
    }
  }
};

LogicalResult ContractOp::verify() {
  SmallVector<AffineMap, 3> maps = getMaps();
  if (failed(verifyMaps(*this, maps)))
    return failure();
  Extents extents;
  extents.add(maps[0], getLhs().getType().getShape());
  extents.add(maps[1], getRhs().getType().getShape());
  for (auto [dimension, extent] : llvm::enumerate(extents.known))
    if (!extent)
      return emitOpError() << "expects dimension d" << dimension
                           << " in the map of 'lhs' or of 'rhs', but got it "
                              "in neither";
  extents.add(maps[2], getOut().getType().getShape());
  if (!extents.conflict)
    return success();
  unsigned dimension = extents.conflict->dimension;
  InFlightDiagnostic error = emitOpError()
                             << "expects dimension d" << dimension
                             << " of one extent, but got "
                             << printExtent(extents.conflict->expected)
                             << " and " << printExtent(extents.conflict->found);
  std::string places;
  for (auto [name, map] : llvm::zip(kOperandNames, maps))
    if (std::optional<unsigned> axis =
            map.getResultPosition(getAffineDimExpr(dimension, getContext())))
      places += (places.empty() ? "" : ", ") +
                ("axis " + Twine(*axis) + " of '" + name + "'").str();
  error.attachNote() << "d" << dimension << " is " << places
                     << ": a map perhaps names its operand's dimensions in "
                        "another order";
  return error;
}

// How far a step along each dimension of the space moves in a row-major tensor;
// 0 for those that `map` does not choose.
static SmallVector<int64_t> stridesOf(AffineMap map, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(map.getNumDims(), 0);
  int64_t stride = 1;
  for (unsigned axis = map.getNumResults(); axis-- > 0;) {
    strides[map.getDimPosition(axis)] = stride;
    stride *= shape[axis];
  }
  return strides;
}

namespace {
// The points of the space in row-major order.
template <typename S> struct Contraction {
  ArrayRef<int64_t> space;
  ArrayRef<int64_t> lhsStrides, rhsStrides, outStrides;
  ArrayRef<S> lhs, rhs;
  MutableArrayRef<S> out;

  // All points that share the coordinates before `axis`, which lie at the given
  // places.
  void run(size_t axis, int64_t l, int64_t r, int64_t o) {
    if (axis == space.size()) {
      out[o] += lhs[l] * rhs[r];
      return;
    }
    // Nearly all of the work is in the last loop, which calls nothing.
    bool last = axis + 1 == space.size();
    for (int64_t i = 0; i < space[axis]; ++i) {
      if (last)
        out[o] += lhs[l] * rhs[r];
      else
        run(axis + 1, l, r, o);
      l += lhsStrides[axis];
      r += rhsStrides[axis];
      o += outStrides[axis];
    }
  }
};
} // namespace

template <typename S>
static llvm::Error evaluate(ContractOp op, Frame<S> &frame) {
  const Tensor<S> &lhs = frame[op.getLhs()];
  const Tensor<S> &rhs = frame[op.getRhs()];
  SmallVector<AffineMap, 3> maps = op.getMaps();
  Extents extents;
  extents.add(maps[0], lhs.getShape());
  extents.add(maps[1], rhs.getShape());
  if (extents.conflict)
    return fail("expects dimension d" + Twine(extents.conflict->dimension) +
                " of one extent, but got " + Twine(extents.conflict->expected) +
                " and " + Twine(extents.conflict->found));
  SmallVector<int64_t> space, shape;
  for (std::optional<int64_t> extent : extents.known)
    space.push_back(*extent);
  for (unsigned axis = 0; axis < maps[2].getNumResults(); ++axis)
    shape.push_back(space[maps[2].getDimPosition(axis)]);
  Tensor<S> out(shape);
  SmallVector<int64_t> lhsStrides = stridesOf(maps[0], lhs.getShape()),
                       rhsStrides = stridesOf(maps[1], rhs.getShape()),
                       outStrides = stridesOf(maps[2], shape);
  Contraction<S>{space,          lhsStrides,     rhsStrides,    outStrides,
                 lhs.elements(), rhs.elements(), out.elements()}
      .run(0, 0, 0, 0);
  frame.set(op.getOut(), std::move(out));
  return llvm::Error::success();
}
EFFC_SEQ_REFERENCE(ContractOp)
