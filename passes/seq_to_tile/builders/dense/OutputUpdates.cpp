#include "passes/seq_to_tile/builders/dense/OutputUpdates.h"

#include "passes/seq_to_tile/ScalarCode.h"

using namespace mlir;
using namespace effc;

OutputUpdates::OutputUpdates(KernelBuilder &k, int64_t outputs, int64_t tile,
                             int64_t rows)
    : k(k), tile(tile), rootResult(k.getRoot()->getResult(0)),
      type(k.columnType(tile)) {
  std::vector<std::unique_ptr<OutputUpdate>> updates;
  for (Operation &op : k.getSourceBody()) {
    if (!TakenOutputs::of(&op).product)
      continue;
    auto convolution = dyn_cast<seq::ShortConvolutionOp>(op);
    std::unique_ptr<OutputUpdate> update =
        convolution
            ? createOutputConvolution(k, convolution)
            : createOutputRecurrence(k, cast<seq::MixerOpInterface>(op));
    if (!update) {
      broken = true;
      continue;
    }
    auto behind = llvm::upper_bound(
        updates, update->taken.first,
        [](int64_t output, const std::unique_ptr<OutputUpdate> &other) {
          return output < other->taken.first;
        });
    updates.insert(behind, std::move(update));
  }
  if (updates.empty())
    return;
  int64_t at = 0;
  auto skipTo = [&](int64_t output) {
    if (at < output)
      addSection({{}, at, /*heads=*/1, output - at});
  };
  for (std::unique_ptr<OutputUpdate> &update : updates) {
    if (sections.empty() || !sections.back().outputs.isLike(update->taken)) {
      skipTo(update->taken.first);
      addSection(update->taken);
    }
    sections.back().updates.push_back({std::move(update)});
    at = sections.back().outputs.end();
  }
  skipTo(outputs);
  // A row that the call does not have is its last one again, of which nothing is
  // stored twice.
  OpBuilder &b = k.ops();
  Value last;
  if (rows > 1)
    last =
        k.sub(tile::CountOp::create(b, k.loc(), tile::Count::Rows), k.index(1));
  for (int64_t i = 0; i < rows; ++i) {
    Value row = i == 0 ? k.index(0) : k.min(k.index(i), last);
    segments.push_back(
        tile::SegmentOp::create(b, k.loc(), k.segmentTable(), row));
  }
}

void OutputUpdates::addSection(const TakenOutputs &outputs) {
  sections.push_back({outputs, runs});
  runs += outputs.heads * runsPerHead(sections.back());
}

int64_t OutputUpdates::runsPerHead(const Section &section) const {
  return llvm::divideCeil(section.outputs.channels, tile);
}

// Whether one convolution takes all outputs, which nobody else reads.
bool OutputUpdates::isWhole() const {
  return sections.size() == 1 && sections.front().updates.size() == 1 &&
         isa<seq::ShortConvolutionOp>(
             sections.front().updates.front().code->op) &&
         k.getSourceBody().getOps<seq::ConcatOp>().empty() &&
         !llvm::is_contained(k.getSourceBody().getTerminator()->getOperands(),
                             rootResult);
}

OutputPlace OutputUpdates::placeIn(const Section &section, size_t i) {
  const TakenOutputs &outputs = section.outputs;
  Value channel = k.sub(first, k.index(outputs.first)), head;
  if (outputs.heads > 1)
    std::tie(head, channel) = k.divide(channel, outputs.channels);
  else
    head = k.index(0);
  return {segments[i], head, channel, count, type};
}

// What `body` gives in the runs of a section; elsewhere nothing runs, and
// nobody may look at the results, which have `types`.
SmallVector<Value>
OutputUpdates::onlyIn(const Section &section, TypeRange types,
                      function_ref<SmallVector<Value>()> body) {
  if (!section.trips)
    return body();
  OpBuilder &b = k.ops();
  SmallVector<Value> inits;
  for (Type each : types)
    inits.push_back(
        isa<tile::TileType>(each)
            ? tile::SplatOp::create(b, k.loc(), each, k.scalar(0)).getResult()
            : k.scalar(0));
  auto loop = scf::ForOp::create(b, k.loc(), k.index(0), section.trips,
                                 k.index(1), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results = body();
  if (!inits.empty())
    scf::YieldOp::create(b, k.loc(), results);
  return SmallVector<Value>(loop.getResults());
}

// The first output of run number `run`, one of a section's, and the end of
// those that may be in it. Outputs follow one another as runs do but where a
// head ends within a tile.
std::pair<Value, Value> OutputUpdates::runIn(const Section &section,
                                             Value run) {
  const TakenOutputs &outputs = section.outputs;
  if (outputs.heads == 1 || outputs.channels % tile == 0)
    return {k.sub(k.mul(run, tile),
                  k.index(section.firstRun * tile - outputs.first)),
            k.index(outputs.end())};
  auto [head, block] =
      k.divide(k.sub(run, k.index(section.firstRun)), runsPerHead(section));
  Value begin = k.add(k.mul(head, outputs.channels), k.index(outputs.first));
  return {k.add(begin, k.mul(block, tile)),
          k.add(begin, k.index(outputs.channels))};
}

std::pair<Value, Value> OutputUpdates::begin(Value run) {
  OpBuilder &b = k.ops();
  Value one = k.index(1), zero = k.index(0), end;
  std::tie(first, end) = runIn(sections.front(), run);
  for (auto [i, section] : llvm::enumerate(sections)) {
    Value trips;
    if (i + 1 < sections.size()) {
      Value before =
          arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::ult, run,
                                k.index(sections[i + 1].firstRun));
      trips = arith::SelectOp::create(b, k.loc(), before, one, zero);
    }
    if (i > 0) {
      Value behind =
          arith::CmpIOp::create(b, k.loc(), arith::CmpIPredicate::uge, run,
                                k.index(section.firstRun));
      trips = arith::SelectOp::create(b, k.loc(), behind, trips ? trips : one,
                                      zero);
      auto [firstHere, endHere] = runIn(section, run);
      first = arith::SelectOp::create(b, k.loc(), behind, firstHere, first);
      end = arith::SelectOp::create(b, k.loc(), behind, endHere, end);
    }
    section.trips = trips;
  }
  if (llvm::any_of(sections, [&](const Section &section) {
        return section.outputs.channels % tile != 0;
      }))
    count = k.min(k.sub(end, first), k.index(tile));

  for (Section &section : sections) {
    SmallVector<Type> types;
    for (size_t i = 0; i < segments.size(); ++i)
      for (const Update &update : section.updates)
        llvm::append_range(types, update.code->loadedTypes(type));
    if (types.empty())
      continue;
    SmallVector<Value> loaded =
        onlyIn(section, types, [&]() -> SmallVector<Value> {
          SmallVector<Value> all;
          for (size_t i = 0; i < segments.size(); ++i) {
            OutputPlace place = placeIn(section, i);
            for (Update &update : section.updates)
              llvm::append_range(all, update.code->load(place));
          }
          return all;
        });
    ArrayRef<Value> rest = loaded;
    for (size_t i = 0; i < segments.size(); ++i)
      for (Update &update : section.updates) {
        size_t own = update.code->loadedTypes(type).size();
        update.loaded.emplace_back(rest.take_front(own));
        rest = rest.drop_front(own);
      }
  }
  return {first, count};
}

std::optional<std::pair<Value, Value>>
OutputUpdates::finish(size_t i, Value row, Value y) {
  if (isWhole()) {
    Section &section = sections.front();
    Update &update = section.updates.front();
    return std::pair(
        update.code->getResult(),
        update.code->apply(placeIn(section, i), update.loaded[i], y));
  }
  for (Section &section : sections)
    if (!section.updates.empty())
      onlyIn(section, {}, [&]() -> SmallVector<Value> {
        applyAll(section, i, row, y);
        return {};
      });
  for (auto [result, yielded] :
       llvm::enumerate(k.getSourceBody().getTerminator()->getOperands()))
    if (yielded == rootResult)
      k.store(y, k.write(result), {row, first}, {1, tile}, count);
  return std::nullopt;
}

// The updates of a section, and what is computed of their results.
void OutputUpdates::applyAll(Section &section, size_t i, Value row, Value y) {
  OutputPlace place = placeIn(section, i);
  llvm::DenseMap<Value, Value> tiles;
  for (Update &update : section.updates)
    tiles[update.code->getResult()] =
        update.code->apply(place, update.loaded[i], y);
  for (Operation &op : k.getSourceBody()) {
    if (!seq::isElementwiseOp(&op))
      continue;
    SmallVector<Value> inputs;
    for (Value operand : op.getOperands())
      if (Value input = tiles.lookup(elementsOf(operand)))
        inputs.push_back(input);
    if (inputs.size() == op.getNumOperands())
      tiles[op.getResult(0)] =
          k.map(type, inputs, [&](OpBuilder &b, ValueRange elements) {
            return emitScalarCode(b, k.loc(), &op, elements);
          });
  }
  store(section, place, row, tiles);
}

// Stores those of a section's tiles that the kernel gives, and those that are
// joined to one that it gives.
void OutputUpdates::store(const Section &section, const OutputPlace &place,
                          Value row,
                          const llvm::DenseMap<Value, Value> &tiles) {
  Value channel = k.sub(first, k.index(section.outputs.first));
  for (auto [i, yielded] :
       llvm::enumerate(k.getSourceBody().getTerminator()->getOperands())) {
    if (Value given = tiles.lookup(yielded)) {
      if (cast<RankedTensorType>(yielded.getType()).getRank() == 3)
        k.store(given, k.write(i), {row, place.head, place.channel},
                {1, 1, tile}, count);
      else
        k.store(given, k.write(i), {row, channel}, {1, tile}, count);
    }
    auto concat = yielded.getDefiningOp<seq::ConcatOp>();
    if (!concat)
      continue;
    int64_t offset = 0;
    for (Value part : concat.getXs()) {
      if (Value given = tiles.lookup(elementsOf(part)))
        k.store(given, k.write(i), {row, k.add(channel, k.index(offset))},
                {1, tile}, count);
      offset += cast<RankedTensorType>(part.getType()).getDimSize(1);
    }
  }
}
