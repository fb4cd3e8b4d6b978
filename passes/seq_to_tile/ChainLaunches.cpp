// A launch whose items read what the same items of a launch before have written -> one
// launch.
//
//   plan.launch @linear_4(%x, %wu, %u) items <rows, tile = 1, times = 256> note "mlp.up"
//   plan.launch @linear_5(%x, %wg, %u, %h) items <rows, tile = 1, times = 256> note "mlp.gate"
// becomes
//   plan.launch @linear_4_chained(%x, %wu, %x, %wg, %h)
//       items <rows, tile = 1, times = 256> note "mlp.up+gate"
// whose item does what that of @linear_4 did, then what that of @linear_5 did, and hands
// on in registers what the second read of the first, rounded as it was in memory. What
// later launches read as well is stored besides, as the sum of a residual is, which a norm
// reads first.
#include "passes/seq_to_tile/LaunchOrder.h"
#include "passes/seq_to_tile/Passes.h"
#include "passes/seq_to_tile/ScalarCode.h"

#include "passes/kernel_facts/LaunchCost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <tuple>

using namespace mlir;

namespace effc {
#define GEN_PASS_DEF_CHAINLAUNCHESPASS
#include "passes/seq_to_tile/Passes.h.inc"

namespace {

/// Two launches, of which the second reads `link` and the first writes it.
struct Chain {
  plan::LaunchOp first, second;
  tile::KernelOp firstKernel, secondKernel;
  Value link;
  /// The operand of either that is the link.
  int64_t written, read;
  /// Whether launches behind the second read the link, too, which then is stored.
  bool isReadLater;

  bool isSame(Value a, Value b) const;
  bool isSamePlace(tile::StoreOp store, tile::LoadOp load) const;
  bool areDoneAlike(Operation *a, Operation *b) const;
  tile::StoreOp storeFor(tile::LoadOp load) const;
  bool areItemsAlike() const;

  BlockArgument getWritten() const {
    return tile::KernelOp(firstKernel).getOperandArguments()[written];
  }
  BlockArgument getRead() const {
    return tile::KernelOp(secondKernel).getOperandArguments()[read];
  }
};

class LaunchChaining {
public:
  explicit LaunchChaining(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()) {}

  void run();

private:
  std::optional<Chain> chainOf(plan::LaunchOp first);
  void replace(const Chain &chain);
  tile::KernelOp chainedKernel(const Chain &chain);
  tile::KernelOp kernelOf(plan::LaunchOp launch) {
    return symbols.lookup<tile::KernelOp>(launch.getKernel());
  }

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  /// By the names of both, and by whether the link is stored.
  std::map<std::tuple<std::string, std::string, bool>, tile::KernelOp> known;
};

} // namespace

// Whether a value of the first kernel is one of the second: computed alike from the
// item, from constants and from operands that are the same memory.
bool Chain::isSame(Value a, Value b) const {
  if (!a || !b)
    return !a && !b;
  auto argumentA = dyn_cast<BlockArgument>(a),
       argumentB = dyn_cast<BlockArgument>(b);
  if (argumentA || argumentB) {
    if (!argumentA || !argumentB ||
        argumentA.getOwner() !=
            &tile::KernelOp(firstKernel).getBody().front() ||
        argumentB.getOwner() != &tile::KernelOp(secondKernel).getBody().front())
      return false;
    unsigned numberA = argumentA.getArgNumber(),
             numberB = argumentB.getArgNumber();
    if (numberA == 0 || numberB == 0) // the item
      return numberA == numberB;
    return plan::LaunchOp(first).getOperands()[numberA - 1] ==
           plan::LaunchOp(second).getOperands()[numberB - 1];
  }
  Operation *opA = a.getDefiningOp(), *opB = b.getDefiningOp();
  if (opA->getName() != opB->getName() || opA->getNumRegions() > 0 ||
      opA->getAttrDictionary() != opB->getAttrDictionary() ||
      opA->getNumOperands() != opB->getNumOperands() ||
      !isMemoryEffectFree(opA) ||
      cast<OpResult>(a).getResultNumber() !=
          cast<OpResult>(b).getResultNumber())
    return false;
  return llvm::all_of(
      llvm::zip(opA->getOperands(), opB->getOperands()),
      [&](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair)); });
}

bool Chain::isSamePlace(tile::StoreOp store, tile::LoadOp load) const {
  return store.getTile().getType() == load.getResult().getType() &&
         store.getSizes() == load.getSizes() &&
         isSame(store.getRows(), load.getRows()) &&
         isSame(store.getColumns(), load.getColumns()) &&
         llvm::all_of(llvm::zip_equal(store.getIndices(), load.getIndices()),
                      [&](auto pair) {
                        return isSame(std::get<0>(pair), std::get<1>(pair));
                      });
}

// What the first has stored where the second loads, by every item.
tile::StoreOp Chain::storeFor(tile::LoadOp load) const {
  for (Operation *user : getWritten().getUsers())
    if (auto store = dyn_cast<tile::StoreOp>(user);
        store && isSamePlace(store, load) && areDoneAlike(store, load))
      return store;
  return {};
}

// Whether both are done by the same items, in loops of one turn or none at most.
bool Chain::areDoneAlike(Operation *a, Operation *b) const {
  Operation *aroundA = a->getParentOp(), *aroundB = b->getParentOp();
  if (isa<tile::KernelOp>(aroundA) || isa<tile::KernelOp>(aroundB))
    return isa<tile::KernelOp>(aroundA) && isa<tile::KernelOp>(aroundB);
  auto loopA = dyn_cast<scf::ForOp>(aroundA),
       loopB = dyn_cast<scf::ForOp>(aroundB);
  return loopA && loopB &&
         isSame(loopA.getLowerBound(), loopB.getLowerBound()) &&
         isSame(loopA.getUpperBound(), loopB.getUpperBound()) &&
         isSame(loopA.getStep(), loopB.getStep()) && areDoneAlike(loopA, loopB);
}

// A load within limits has zeros behind them, which no register of the first has.
bool Chain::areItemsAlike() const {
  return llvm::all_of(getWritten().getUsers(),
                      [&](Operation *user) {
                        auto store = dyn_cast<tile::StoreOp>(user);
                        Operation *made =
                            store ? store.getTile().getDefiningOp() : nullptr;
                        return made && isa<tile::KernelOp>(made->getParentOp());
                      }) &&
         llvm::all_of(getRead().getUsers(), [&](Operation *user) {
           auto load = dyn_cast<tile::LoadOp>(user);
           return load && !load.getRows() && !load.getColumns() &&
                  storeFor(load);
         });
}

// The next launch that reads what `first` alone writes. Launches between do not touch what
// the first does, so that all others that read it stand behind.
std::optional<Chain> LaunchChaining::chainOf(plan::LaunchOp first) {
  tile::KernelOp kernel = kernelOf(first);
  if (!isAlwaysLaunched(first) || kernel.getWrites().size() != 1)
    return std::nullopt;
  int64_t written = kernel.getWrites().front();
  Value link = first.getOperands()[written];
  auto view =
      cast<tile::ViewType>(kernel.getOperandArguments()[written].getType());
  if (!link.getDefiningOp<plan::ArenaOp>() ||
      !isa<FloatType>(view.getElementType()))
    return std::nullopt;
  plan::LaunchOp second;
  int64_t readers = 0;
  for (Operation *user :
       llvm::SmallPtrSet<Operation *, 8>(link.user_begin(), link.user_end())) {
    auto launch = dyn_cast<plan::LaunchOp>(user);
    if (!launch || launch->isBeforeInBlock(first))
      return std::nullopt;
    if (launch == first)
      continue;
    ++readers;
    if (!second || launch->isBeforeInBlock(second))
      second = launch;
  }
  if (!second || !isAlwaysLaunched(second) ||
      first.getItems() != second.getItems() ||
      llvm::count(first.getOperands(), link) != 1 ||
      llvm::count(second.getOperands(), link) != 1)
    return std::nullopt;
  tile::KernelOp secondKernel = kernelOf(second);
  int64_t read =
      llvm::find(second.getOperands(), link) - second.getOperands().begin();
  if (llvm::is_contained(secondKernel.getWrites(), read))
    return std::nullopt;
  LaunchAccesses ofFirst(first, kernel);
  for (Operation *op = first->getNextNode(); op != second;
       op = op->getNextNode())
    if (auto between = dyn_cast<plan::LaunchOp>(op);
        between &&
        !LaunchAccesses(between, kernelOf(between)).areIndependentOf(ofFirst))
      return std::nullopt;
  // Other items may still be at the first part when one is at the second.
  LaunchAccesses ofSecond(second, secondKernel);
  if (llvm::any_of(ofSecond.written,
                   [&](Value memory) { return ofFirst.read.contains(memory); }))
    return std::nullopt;
  Chain chain = {first, second,  kernel, secondKernel,
                 link,  written, read,   /*isReadLater=*/readers > 1};
  return chain.areItemsAlike() ? std::optional(chain) : std::nullopt;
}

void LaunchChaining::run() {
  for (auto entry : module.getOps<plan::EntryOp>()) {
    if (entry.getKind() != plan::EntryKind::Decode)
      continue;
    SmallVector<plan::LaunchOp> launches(
        entry.getBody().getOps<plan::LaunchOp>());
    llvm::SmallPtrSet<Operation *, 16> gone;
    for (plan::LaunchOp first : launches)
      if (!gone.contains(first))
        if (std::optional<Chain> chain = chainOf(first)) {
          gone.insert(chain->first);
          gone.insert(chain->second);
          replace(*chain);
        }
  }
  std::vector<std::string> parts;
  for (const auto &[names, chained] : known) {
    parts.push_back(std::get<0>(names));
    parts.push_back(std::get<1>(names));
  }
  eraseUnlaunched(module, symbols, parts);
}

/// All of `values` but the one at `index`.
template <typename Range> static auto without(Range values, int64_t index) {
  auto all = llvm::to_vector(values);
  all.erase(all.begin() + index);
  return all;
}

void LaunchChaining::replace(const Chain &chain) {
  plan::LaunchOp first = chain.first, second = chain.second;
  tile::KernelOp kernel = chainedKernel(chain);
  SmallVector<Value> operands =
      chain.isReadLater ? SmallVector<Value>(first.getOperands())
                        : without(first.getOperands(), chain.written);
  llvm::append_range(operands, without(second.getOperands(), chain.read));
  int64_t flops = first.getFlops().value_or(0) + second.getFlops().value_or(0);
  builder.setInsertionPoint(second);
  auto chained = plan::LaunchOp::create(
      builder, second.getLoc(), FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
      operands, second.getItems(),
      builder.getStringAttr(joinNotes({first, second})),
      flops ? builder.getI64IntegerAttr(flops) : IntegerAttr(),
      plan::CallResultAttr(), plan::ProductAttr());
  emitRemark(chained.getLoc())
      << "one launch of 2, whose items read what they have written";
  first.erase();
  second.erase();
  if (!chain.isReadLater)
    chain.link.getDefiningOp()->erase();
}

/// The numbers that a view's memory would have of a tile.
static Value roundAsStored(OpBuilder &builder, Value tile, Value view) {
  Type stored = cast<tile::ViewType>(view.getType()).getElementType();
  if (stored.isF32())
    return tile;
  Location loc = tile.getLoc();
  auto map = tile::MapOp::create(builder, loc, tile.getType(), tile);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&map.getBody());
  Value number = body->addArgument(builder.getF32Type(), loc);
  tile::YieldOp::create(builder, loc,
                        emitRounded(builder, loc, number, stored));
  return map;
}

tile::KernelOp LaunchChaining::chainedKernel(const Chain &chain) {
  tile::KernelOp first = chain.firstKernel, second = chain.secondKernel;
  tile::KernelOp &chained = known[{
      first.getSymName().str(), second.getSymName().str(), chain.isReadLater}];
  if (chained)
    return chained;
  // Where an operand of either is among those of both.
  int64_t dropped = chain.isReadLater ? -1 : chain.written;
  int64_t ofFirstKept =
      first.getOperandArguments().size() - (chain.isReadLater ? 0 : 1);
  auto places = [&](std::optional<ArrayRef<int64_t>> a,
                    std::optional<ArrayRef<int64_t>> b) {
    SmallVector<int64_t> all;
    for (int64_t index : a.value_or(ArrayRef<int64_t>{}))
      if (index != dropped)
        all.push_back(index - (dropped >= 0 && index > dropped));
    for (int64_t index : b.value_or(ArrayRef<int64_t>{}))
      if (index != chain.read)
        all.push_back(ofFirstKept + index - (index > chain.read));
    return all;
  };
  auto attributeOf = [&](ArrayRef<int64_t> list) {
    return list.empty() ? DenseI64ArrayAttr()
                        : builder.getDenseI64ArrayAttr(list);
  };
  builder.setInsertionPointAfter(second);
  chained = tile::KernelOp::create(
      builder, second.getLoc(),
      builder.getStringAttr(first.getSymName() + "_chained"), second.getItems(),
      builder.getDenseI64ArrayAttr(
          places(first.getWrites(), second.getWrites())),
      attributeOf(places(first.getStreamed(), second.getStreamed())),
      attributeOf(places(first.getAligned(), second.getAligned())),
      tile::ScheduleAttr());
  Block *body = builder.createBlock(&chained.getBody());
  body->addArgument(builder.getIndexType(), second.getLoc());
  // Of either part, since both may be one kernel.
  IRMapping ofFirst, ofSecond;
  auto addArguments = [&](tile::KernelOp part, BlockArgument without,
                          IRMapping &mapping) {
    mapping.map(part.getItem(), chained.getItem());
    for (BlockArgument argument : part.getOperandArguments())
      if (argument != without)
        mapping.map(argument,
                    body->addArgument(argument.getType(), part.getLoc()));
  };
  addArguments(first, chain.isReadLater ? BlockArgument() : chain.getWritten(),
               ofFirst);
  addArguments(second, chain.getRead(), ofSecond);
  if (!chain.isReadLater)
    ofFirst.map(
        chain.getWritten(),
        body->addArgument(chain.getWritten().getType(), second.getLoc()));
  auto link = cast<BlockArgument>(ofFirst.lookup(chain.getWritten()));
  ofSecond.map(chain.getRead(), link);
  builder.setInsertionPointToEnd(body);
  for (Operation &op : first.getBody().front())
    builder.clone(op, ofFirst);
  for (Operation &op : second.getBody().front())
    builder.clone(op, ofSecond);
  // What loads from the link goes, and where nobody else does the link itself, with what
  // stores to it.
  for (Operation *user : chain.getRead().getUsers()) {
    auto load = cast<tile::LoadOp>(user);
    Value copy = ofSecond.lookup(load.getResult());
    Value made = ofFirst.lookup(chain.storeFor(load).getTile());
    builder.setInsertionPoint(copy.getDefiningOp());
    copy.replaceAllUsesWith(roundAsStored(builder, made, load.getView()));
    copy.getDefiningOp()->erase();
  }
  if (!chain.isReadLater) {
    for (Operation *store : llvm::to_vector(link.getUsers()))
      store->erase();
    body->eraseArgument(link.getArgNumber());
  }
  symbols.insert(chained); // under a name of its own
  return chained;
}

namespace {
struct ChainLaunchesPass : impl::ChainLaunchesPassBase<ChainLaunchesPass> {
  void runOnOperation() override {
    if (takesLaunches(tile::getTarget(getOperation())))
      LaunchChaining(getOperation()).run();
  }
};
} // namespace
} // namespace effc
