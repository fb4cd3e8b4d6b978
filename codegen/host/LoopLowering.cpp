// Loops, whose tiles are carried in their buffers.
#include "codegen/host/ElementGroup.h"
#include "codegen/host/Lowerings.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace effc;
using namespace effc::tile;

namespace effc::host {

// Lets a map that replaces a carried tile write over it, and those that lead to
// it by way of tiles of its type: each element is read before it is written,
// provided that nothing reads the old tile, or the one before, later.
static void bindInPlaceResults(KernelState &s, Block &body, ValueRange yielded,
                               ValueRange carried) {
  auto mapOf = [&](Value tile) {
    auto map = tile.getDefiningOp<MapOp>();
    return map && map->getBlock() == &body ? map : MapOp();
  };
  auto readAfter = [&](Value tile, MapOp map) {
    return llvm::any_of(tile.getUsers(), [&](Operation *user) {
      return user->getBlock() != &body || map->isBeforeInBlock(user);
    });
  };
  for (auto [next, old] : llvm::zip_equal(yielded, carried)) {
    MapOp map = mapOf(next);
    if (!map || !isa<TileType>(next.getType()) ||
        llvm::count(yielded, next) != 1 || readAfter(old, map))
      continue;
    Place place = s.places.lookup(old);
    s.places[next] = place;
    Type type = next.getType();
    while (true) {
      auto inputs = map.getInputs();
      auto found = llvm::find_if(
          inputs, [&](Value input) { return input.getType() == type; });
      MapOp before = found == inputs.end() ? MapOp() : mapOf(*found);
      if (!before || readAfter(*found, map) || readAfter(old, before))
        break;
      s.places[*found] = place;
      map = before;
    }
  }
}

// Writes the yielded tiles into the carried ones. A value that itself is a
// carried tile overwritten earlier in the list is saved first.
static void assignCarried(KernelState &s, ValueRange yielded,
                          ValueRange carried) {
  SmallVector<Value> sources(yielded);
  for (size_t i = 0; i < sources.size(); ++i) {
    auto type = dyn_cast<TileType>(sources[i].getType());
    if (!type || s.splats.count(sources[i]))
      continue;
    Value base = s.placeOf(sources[i]).first.address;
    for (size_t j = 0; j < i; ++j)
      if (isa<TileType>(carried[j].getType()) &&
          s.places.lookup(carried[j]).first.address == base &&
          sources[j] != carried[j]) {
        Place saved = s.allocate(type);
        s.copy(sources[i], type, saved);
        s.places[sources[i]] = saved;
        break;
      }
  }
  for (auto [source, target] : llvm::zip_equal(sources, carried))
    if (auto type = dyn_cast<TileType>(target.getType()))
      s.copy(source, type, s.places.lookup(target));
}

LogicalResult lower(scf::ForOp loop, KernelState &s) {
  keepWindowsBeforeLoop(s, loop);
  SmallVector<Value> scalarInits;
  for (auto [init, carried] :
       llvm::zip_equal(loop.getInitArgs(), loop.getRegionIterArgs())) {
    auto type = dyn_cast<TileType>(init.getType());
    if (!type) {
      scalarInits.push_back(s.lookup(init));
      continue;
    }
    // What a loop before has left, and nothing else sees, is worked on; around
    // both of them a loop would come to it again.
    auto before = init.getDefiningOp<scf::ForOp>();
    bool goesOn =
        before && before->getBlock() == loop->getBlock() && init.hasOneUse();
    Place place = goesOn ? s.placeOf(init) : s.allocate(type);
    s.copy(init, type, place);
    s.places[carried] = place;
  }
  auto lowered = scf::ForOp::create(s.b, s.lookup(loop.getLowerBound()),
                                    s.lookup(loop.getUpperBound()),
                                    s.lookup(loop.getStep()), scalarInits);
  s.scalars.map(loop.getInductionVar(), lowered.getInductionVar());
  unsigned next = 0;
  for (auto [carried, result] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults())) {
    if (isa<TileType>(result.getType())) {
      s.places[result] = s.places.lookup(carried);
      continue;
    }
    s.scalars.map(carried, lowered.getRegionIterArg(next));
    s.scalars.map(result, lowered.getResult(next++));
  }
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(lowered.getBody());
  ValueRange yielded = loop.getBody()->getTerminator()->getOperands();
  bindInPlaceResults(s, *loop.getBody(), yielded, loop.getRegionIterArgs());
  if (failed(lowerBlock(*loop.getBody(), s)))
    return failure();
  assignCarried(s, yielded, loop.getRegionIterArgs());
  SmallVector<Value> scalarYields;
  for (Value value : yielded)
    if (!isa<TileType>(value.getType()))
      scalarYields.push_back(s.lookup(value));
  // The builder closes a loop without carried scalars by itself.
  if (!scalarYields.empty()) {
    s.b.setInsertionPointToEnd(lowered.getBody());
    scf::YieldOp::create(s.b, scalarYields);
  }
  return success();
}

// On the host a load region costs nothing (its tiles are windows), so its ops
// simply precede the compute region's.
LogicalResult lower(PipelineOp pipeline, KernelState &s) {
  Block &load = pipeline.getLoad().front(),
        &compute = pipeline.getCompute().front();
  ValueRange loaded = load.getTerminator()->getOperands();
  ValueRange yielded = compute.getTerminator()->getOperands();
  auto loadedArguments = compute.getArguments().take_front(loaded.size());
  auto carried = compute.getArguments().drop_front(loaded.size());
  auto body = [&](Value k) -> LogicalResult {
    s.scalars.map(load.getArgument(0), k);
    if (failed(lowerBlock(load, s)))
      return failure();
    for (auto [argument, tile] : llvm::zip_equal(loadedArguments, loaded))
      s.places[argument] = s.placeOf(tile);
    return lowerBlock(compute, s);
  };
  keepWindowsBeforeLoop(s, pipeline);
  int64_t extent = pipeline.getExtent(), step = pipeline.getStep();
  if (extent == step) { // a single iteration: no copies, no loop
    for (auto [argument, init] :
         llvm::zip_equal(carried, pipeline.getInits())) {
      if (Value splat = s.splats.lookup(init))
        s.splats[argument] = splat;
      else
        s.places[argument] = s.placeOf(init);
    }
    if (failed(body(s.memory.constant(0))))
      return failure();
    for (auto [result, value] : llvm::zip_equal(pipeline.getResults(), yielded))
      s.places[result] = s.placeOf(value);
    return success();
  }
  for (auto [argument, init] : llvm::zip_equal(carried, pipeline.getInits())) {
    auto type = cast<TileType>(init.getType());
    Place place = s.allocate(type);
    s.copy(init, type, place);
    s.places[argument] = place;
  }
  auto loop =
      scf::ForOp::create(s.b, s.memory.constant(0), s.memory.constant(extent),
                         s.memory.constant(step));
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(loop.getBody());
  if (failed(body(loop.getInductionVar())))
    return failure();
  assignCarried(s, yielded, carried);
  for (auto [result, argument] :
       llvm::zip_equal(pipeline.getResults(), carried))
    s.places[result] = s.places.lookup(argument);
  return success();
}

} // namespace effc::host
