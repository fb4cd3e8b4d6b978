#include "passes/seq_to_tile/builders/linear/ScanMemory.h"

#include "passes/kernel_facts/MethodSizes.h"
#include "passes/seq_to_tile/builders/linear/RunningMaximum.h"
#include "passes/seq_to_tile/builders/linear/TokenSteps.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace effc;

// Below every logarithm of a gate, and finite: what is scaled by it is 0.
static constexpr double kNoMaximum = -1e38;

ScanMemory::ScanMemory(KernelBuilder &k, const Recurrence &r, int64_t places,
                       bool written)
    : k(k), r(r), columns(r.map.valueChannels) {
  add(&Carried::matrix, r.matrix.type, 0);
  if (r.imaginary)
    add(&Carried::imaginary, r.imaginary->type, 0);
  if (r.sum)
    add(&Carried::sum, r.sum->type, 0);
  if (r.maximum)
    add(&Carried::maximum, r.maximum->type, kNoMaximum);

  double unit = r.map.hasFactors ? 1 : 0;
  seq::DecayAxis axis = r.linear.getDecay();
  if (r.imaginary) {
    add(&Carried::decay, r.matrix.type, unit);
    add(&Carried::decayImaginary, r.matrix.type, 0);
  } else if (r.map.getQuantities().logDecay) {
    Type type = k.ops().getF32Type();
    if (axis == seq::DecayAxis::Element)
      type = r.matrix.type;
    else if (axis == seq::DecayAxis::Key || axis == seq::DecayAxis::KeyAndValue)
      type = k.columnType(r.map.keyChannels);
    add(&Carried::decay, type, unit);
  }
  if (r.map.getQuantities().valueLogDecay)
    add(&Carried::valueDecay, k.rowType(r.map.getValueBlock()), unit);
  view = k.scratch({places, r.map.heads, rows,
                    int64_t(llvm::alignTo(columns, kSectorElements))},
                   written);
}

void ScanMemory::add(Value Carried::*member, Type type, double neutral) {
  Part part = {member, dyn_cast<tile::TileType>(type), rows, 0, neutral};
  if (part.type && part.type.getRole() == tile::Role::Column) {
    part.row = 0;
    part.column = columns++;
  } else {
    rows += part.type && part.type.isBlock() ? r.map.keyChannels : 1;
  }
  parts.push_back(part);
}

tile::TileType ScanMemory::storedType(const Part &part) const {
  return part.type ? part.type : k.rowType(1);
}

SmallVector<Value> ScanMemory::at(const Part &part, Value place) const {
  tile::TileType type = storedType(part);
  Value column = k.index(part.column);
  if (type.getRole() == tile::Role::Row && type.columns() == 1)
    column = k.divide(r.firstValue, r.map.getValueBlock()).first;
  else if (type.getRole() != tile::Role::Column)
    column = r.firstValue;
  return {place, r.head, k.index(part.row), column};
}

SmallVector<int64_t> ScanMemory::sizesOf(const Part &part) const {
  tile::TileType type = storedType(part);
  ArrayRef<int64_t> shape = type.getShape();
  if (type.isBlock())
    return {1, 1, shape[0], shape[1]};
  if (type.getRole() == tile::Role::Column)
    return {1, 1, shape[0], 1};
  return {1, 1, 1, shape[0]};
}

Carried ScanMemory::nothing() const {
  Carried none;
  for (const Part &part : parts) {
    Value neutral = k.scalar(part.neutral);
    none.*part.member =
        part.type ? tile::SplatOp::create(k.ops(), k.loc(), part.type, neutral)
                        .getResult()
                  : neutral;
  }
  return none;
}

Carried ScanMemory::ofSequence() const {
  Carried before = nothing();
  auto load = [&](const ItemState &state) { return state.load(k, r.segment); };
  before.matrix = load(r.matrix);
  if (r.imaginary)
    before.imaginary = load(*r.imaginary);
  if (r.sum)
    before.sum = load(*r.sum);
  if (r.maximum)
    before.maximum = load(*r.maximum);
  return before;
}

void ScanMemory::keep(Value place, const Carried &piece) {
  auto store = [&](const Part &part) {
    Value tile = piece.*part.member;
    if (!part.type)
      tile = tile::SplatOp::create(k.ops(), k.loc(), storedType(part), tile);
    k.store(tile, view, at(part, place), sizesOf(part));
  };
  // What all items of a head have alike, one of them leaves.
  Value isFirst = k.compare(arith::CmpIPredicate::eq, r.firstValue, k.index(0));
  for (const Part &part : parts)
    if (storedType(part).getRole() == tile::Role::Column)
      k.when(isFirst, [&] { store(part); });
    else
      store(part);
}

Carried ScanMemory::load(Value place) {
  Carried piece;
  for (const Part &part : parts) {
    Value tile = k.load(view, at(part, place), sizesOf(part), storedType(part));
    // A row of one element.
    if (!part.type && isa<tile::TileType>(tile.getType()))
      tile = RunningMaximum::numberOf(k, tile);
    piece.*part.member = tile;
  }
  return piece;
}

Carried ScanMemory::behind(const Carried &before, const Carried &piece) {
  Carried after = before;
  if (r.imaginary) {
    auto plus = [&](Value decayed, Value own) {
      return k.map(r.matrix.type, {decayed, own},
                   [&](OpBuilder &in, ValueRange e) -> Value {
                     return arith::AddFOp::create(in, k.loc(), e[0], e[1]);
                   });
    };
    auto times = [&](Value real, Value imaginary, bool subtract) {
      return emitTwoProducts(k, r.matrix.type, piece.decay, real,
                             piece.decayImaginary, imaginary, subtract);
    };
    after.matrix =
        plus(times(before.matrix, before.imaginary, /*subtract=*/true),
             piece.matrix);
    after.imaginary =
        plus(times(before.imaginary, before.matrix, /*subtract=*/false),
             piece.imaginary);
    return after;
  }
  // What the state before is multiplied by, and the piece's own.
  SmallVector<Value> decays;
  Value ownScale;
  if (piece.maximum) {
    bool perValue = bool(piece.valueDecay);
    Value own =
        perValue ? piece.maximum : RunningMaximum::numberOf(k, piece.maximum);
    RunningMaximum maximum = RunningMaximum::of(
        k, before.maximum, perValue ? piece.valueDecay : piece.decay, own,
        perValue);
    after.maximum = maximum.carried;
    decays.push_back(emitExponential(k, maximum.logKept));
    ownScale = emitExponential(k, maximum.logAdded);
    // A decay of key channels beside that of values is no part of the maximum.
    if (perValue && piece.decay)
      decays.push_back(emitExponential(k, piece.decay));
  } else {
    for (Value decay : {piece.decay, piece.valueDecay})
      if (decay)
        decays.push_back(decay);
  }
  auto join = [&](Value state, Value own) {
    SmallVector<Value> inputs = {state, own};
    llvm::append_range(inputs, decays);
    if (ownScale)
      inputs.push_back(ownScale);
    size_t last = decays.size();
    return k.map(cast<tile::TileType>(state.getType()), inputs,
                 [&](OpBuilder &in, ValueRange e) -> Value {
                   Value kept = e[0], added = e[1];
                   for (Value decay : e.slice(2, last))
                     kept = arith::MulFOp::create(in, k.loc(), kept, decay);
                   if (!ownScale)
                     return arith::AddFOp::create(in, k.loc(), kept, added);
                   return math::FmaOp::create(in, k.loc(), added, e.back(),
                                              kept);
                 });
  };
  after.matrix = join(before.matrix, piece.matrix);
  if (piece.sum)
    after.sum = join(before.sum, piece.sum);
  return after;
}

Carried ScanMemory::sum(Value from, Value to) {
  OpBuilder &b = k.ops();
  auto overPlaces =
      [&](Value first, Value end, const Carried &start,
          function_ref<Carried(Value place, const Carried &)> step) {
        auto loop = scf::ForOp::create(b, k.loc(), first, end, k.index(1),
                                       start.values());
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(loop.getBody());
        Carried next =
            step(loop.getInductionVar(), start.with(loop.getRegionIterArgs()));
        scf::YieldOp::create(b, k.loc(), next.values());
        return start.with(loop.getResults());
      };
  // The first place is the start of all: a sum with nothing would be of
  // logarithms that no sequence has.
  Value second = k.min(k.add(from, k.index(1)), to);
  Carried first =
      overPlaces(from, second, nothing(), [&](Value place, const Carried &) {
        Carried piece = load(place), neutral = nothing();
        piece.decay = neutral.decay;
        piece.decayImaginary = neutral.decayImaginary;
        piece.valueDecay = neutral.valueDecay;
        return piece;
      });
  return overPlaces(second, to, first, [&](Value place, const Carried &before) {
    return behind(before, load(place));
  });
}
