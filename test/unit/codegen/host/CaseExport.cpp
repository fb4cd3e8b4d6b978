#include "test/unit/codegen/host/CaseExport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>

using namespace mlir;
using namespace effc;
using namespace effc::test;
using seq::reference::Datum;

/// Numbers of more bytes than these get no states of further slots.
static constexpr size_t kNumbersWithStates = 128 * 1024;

bool CaseExport::isAsked() { return std::getenv("EFFC_EXPORT_DIR"); }

//===----------------------------------------------------------------------===//
// Which cases, and their names
//===----------------------------------------------------------------------===//

/// Counts the runners of a test: "Suite.Test" and a number from 0 on.
static std::pair<std::string, int> nameNext() {
  static llvm::StringMap<int> counts;
  const testing::TestInfo *test =
      testing::UnitTest::GetInstance()->current_test_info();
  std::string name =
      test ? std::string(test->test_suite_name()) + "." + test->name()
           : "outside";
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '.')
      c = '_';
  return {name, counts[name]++};
}

static bool isPicked(int number) {
  const char *text = std::getenv("EFFC_EXPORT_PICK");
  if (!text)
    return true;
  SmallVector<StringRef> numbers;
  StringRef(text).split(numbers, ',');
  return llvm::is_contained(numbers, std::to_string(number));
}

/// All that there are. Never destroyed: some runners end with the program.
static std::set<CaseExport *> &alive() {
  static auto *all = new std::set<CaseExport *>;
  return *all;
}

namespace {
/// Writes what is alive when a test ends, since at the end of the program it is
/// too late.
class AtTestEnd : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo &) override {
    for (CaseExport *one : alive())
      one->write();
  }
};
} // namespace

CaseExport::CaseExport(const TestModel &model, const PipelineOptions &options,
                       seq::StateLayoutAttr layout, int64_t slots)
    : model(model), options(options), layout(layout), slotCount(slots) {
  auto [test, number] = nameNext();
  name = test + "." + std::to_string(number);
  picked = isPicked(number);
  static bool once = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new AtTestEnd);
    return true;
  }();
  (void)once;
  alive().insert(this);
  auto forward = model.get().lookupSymbol<func::FuncOp>("forward");
  width = cast<RankedTensorType>(forward.getResultTypes()[0]).getDimSize(1);
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// How a state's elements lie in memory; null, and a failure, where they are no
/// floats.
static const llvm::fltSemantics *semanticsOf(seq::StateAttr state) {
  if (auto type = dyn_cast<FloatType>(state.getType().getElementType()))
    return &type.getFloatSemantics();
  ADD_FAILURE() << "state " << state.getName().str()
                << " cannot be exported: its elements are no floats";
  return nullptr;
}

/// A state with a row for each of some tokens: rows that no token has reached
/// are what they were.
static bool hasRows(seq::StateAttr state) {
  return state.getKind() == seq::StateKind::Window ||
         state.getKind() == seq::StateKind::Growing;
}

/// As the model has it: in slots a state may have more rows.
SmallVector<int64_t> CaseExport::shapeOf(seq::StateAttr state) const {
  auto forward = model.get().lookupSymbol<func::FuncOp>("forward");
  for (BlockArgument argument : forward.getArguments())
    if (auto name = forward.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), "seq.state_name");
        name && name.getValue() == state.getName())
      return SmallVector<int64_t>(
          cast<RankedTensorType>(argument.getType()).getShape());
  ADD_FAILURE() << "no state " << state.getName().str();
  return {};
}

ArrayRef<uint8_t> CaseExport::bytesOf(const uint8_t *memory,
                                      int64_t slot) const {
  return {memory + slot * layout.getSlotBytes(),
          static_cast<size_t>(layout.getSlotBytes())};
}

/// Neutral states; in memory NaN where the sequence's beginning has to hide it.
void CaseExport::begin(Slot &slot, uint8_t *memory) const {
  std::memset(memory, 0xff, layout.getSlotBytes());
  slot.states.clear();
  for (seq::StateAttr state : layout.getStates()) {
    Tensor exact(shapeOf(state));
    llvm::fill(exact.elements(), state.getNeutral().getValueAsDouble());
    slot.states.push_back(std::move(exact));
    if (hasRows(state))
      std::memset(memory + state.getOffset(), 0, state.getSizeBytes());
  }
}

/// States as a test has written them.
void CaseExport::take(Slot &slot, const uint8_t *memory) const {
  slot.states.clear();
  for (seq::StateAttr state : layout.getStates()) {
    Tensor exact(shapeOf(state));
    if (const llvm::fltSemantics *semantics = semanticsOf(state)) {
      unsigned width = llvm::APFloat::getSizeInBits(*semantics);
      const uint8_t *at = memory + state.getOffset();
      for (double &element : exact.elements()) {
        uint64_t bits = 0;
        std::memcpy(&bits, at, width / 8);
        element = llvm::APFloat(*semantics, llvm::APInt(width, bits))
                      .convertToDouble();
        at += width / 8;
      }
    }
    slot.states.push_back(std::move(exact));
  }
}

/// States as a compiled call would leave them, so that the test can read them.
void CaseExport::leave(Slot &slot, uint8_t *memory) const {
  for (auto [state, exact] : llvm::zip_equal(layout.getStates(), slot.states)) {
    const llvm::fltSemantics *semantics = semanticsOf(state);
    if (!semantics)
      continue;
    uint8_t *at = memory + state.getOffset();
    for (double element : exact.elements()) {
      llvm::APFloat rounded(static_cast<float>(element));
      bool lost;
      rounded.convert(*semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
      uint64_t bits = rounded.bitcastToAPInt().getZExtValue();
      unsigned bytes = llvm::APFloat::getSizeInBits(*semantics) / 8;
      std::memcpy(at, &bits, bytes);
      at += bytes;
    }
  }
  slot.bytes = ArrayRef(memory, layout.getSlotBytes()).vec();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

std::vector<double> CaseExport::evaluate(const Segment &segment,
                                         Slot &slot) const {
  int64_t count = segment.tokens.size();
  auto forward = model.get().lookupSymbol<func::FuncOp>("forward");
  std::vector<Datum<double>> inputs;
  std::vector<size_t> order; // of the states, as arguments
  for (BlockArgument argument : forward.getArguments()) {
    unsigned index = argument.getArgNumber();
    if (auto state =
            forward.getArgAttrOfType<StringAttr>(index, "seq.state_name")) {
      for (auto [i, attr] : llvm::enumerate(layout.getStates()))
        if (attr.getName() == state.getValue())
          order.push_back(i);
      inputs.push_back(slot.states[order.back()]);
      continue;
    }
    // Tokens, output rows, positions.
    seq::reference::Tensor<int32_t> table({count}, segment.tokens);
    if (index > 0)
      std::iota(table.elements().begin(), table.elements().end(),
                index == 1 ? 0 : segment.start);
    inputs.push_back(std::move(table));
  }
  std::vector<Datum<double>> results =
      model.evaluate(std::move(inputs), weights);
  if (results.size() != order.size() + 1)
    return std::vector<double>(count * width); // the test has failed by now
  for (auto [i, state] : llvm::enumerate(order))
    slot.states[state] = std::get<Tensor>(results[i + 1]);
  return std::get<Tensor>(results[0]).elements().vec();
}

int64_t CaseExport::append(const void *bytes, size_t size) {
  int64_t at = numbers.size();
  if (picked)
    numbers.append(static_cast<const char *>(bytes), size);
  return at;
}

void CaseExport::addSlot(int64_t index, const Slot &slot) {
  int64_t at = append(slot.bytes.data(), slot.bytes.size());
  steps.push_back(llvm::json::Object{{"write_slot", index}, {"at", at}});
}

std::vector<float> CaseExport::call(plan::EntryKind kind,
                                    ArrayRef<Segment> call, uint8_t *memory) {
  llvm::json::Array segments;
  std::vector<double> expected;
  for (const Segment &segment : call) {
    Slot &slot = slots[segment.slot];
    uint8_t *place = memory + segment.slot * layout.getSlotBytes();
    ArrayRef<uint8_t> found = bytesOf(memory, segment.slot);
    if (segment.begins)
      begin(slot, place);
    else if (found != ArrayRef(slot.bytes))
      take(slot, place);
    if (layout.getSlotBytes() > 0 && found != ArrayRef(slot.bytes)) {
      slot.bytes = found.vec();
      addSlot(segment.slot, slot);
    }
    llvm::append_range(expected, evaluate(segment, slot));
    leave(slot, place);
    segments.push_back(
        llvm::json::Object{{"slot", segment.slot},
                           {"start", segment.start},
                           {"begins", segment.begins},
                           {"tokens", llvm::json::Array(segment.tokens)}});
  }
  int64_t at = append(expected.data(), expected.size() * sizeof(double));
  steps.push_back(llvm::json::Object{
      {"call", kind == plan::EntryKind::Prefill ? "prefill" : "decode"},
      {"segments", std::move(segments)},
      {"at", at},
      {"count", static_cast<int64_t>(expected.size())}});
  return {expected.begin(), expected.end()};
}

/// The last states of slots, as long as there is room.
void CaseExport::addStates() {
  for (const auto &[index, slot] : slots)
    for (auto [state, exact] :
         llvm::zip_equal(layout.getStates(), slot.states)) {
      if (numbers.size() > kNumbersWithStates)
        return;
      // Rows of the slot that the model has not are never written.
      std::vector<double> all = exact.elements().vec();
      all.resize(state.getType().getNumElements());
      steps.push_back(llvm::json::Object{
          {"read_state", state.getName()},
          {"slot", index},
          {"at", append(all.data(), all.size() * sizeof(double))},
          {"count", static_cast<int64_t>(all.size())}});
    }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// The module with what an artifact needs besides: `seq.model`, and tables of
/// tokens with at least as many rows as there are results, which it takes for
/// logits.
OwningOpRef<ModuleOp> CaseExport::completed() const {
  OwningOpRef<ModuleOp> module = model.get().clone();
  int64_t tokenWidth = width;
  auto forward = module->lookupSymbol<func::FuncOp>("forward");
  for (Operation *user : forward.getArgument(0).getUsers()) {
    auto embedding = dyn_cast<seq::EmbeddingOp>(user);
    if (!embedding)
      continue;
    auto type = cast<RankedTensorType>(embedding.getTable().getType());
    tokenWidth = type.getDimSize(1);
    if (type.getDimSize(0) >= width)
      continue;
    auto wide =
        RankedTensorType::get({width, tokenWidth}, type.getElementType());
    auto parameter = embedding.getTable().getDefiningOp<seq::ParameterOp>();
    module->lookupSymbol<seq::WeightOp>(parameter.getWeight()).setType(wide);
    embedding.getTable().setType(wide);
  }
  (*module)->removeAttr("tile.target");
  (*module)->setAttr("seq.model",
                     seq::ModelAttr::get(module->getContext(), "kernel_test",
                                         width, tokenWidth, 0));
  return module;
}

/// A safetensors file; rows that a table was widened by are zeros.
std::string CaseExport::weightsFile(ModuleOp module) const {
  llvm::json::Object header;
  std::string data;
  for (auto weight : module.getOps<seq::WeightOp>()) {
    auto type = cast<RankedTensorType>(weight.getType());
    const std::vector<float> &elements = weights.at(weight.getSymName());
    bool narrow = type.getElementType().isBF16();
    size_t begin = data.size();
    for (float element : elements) {
      uint32_t bits = llvm::bit_cast<uint32_t>(element);
      data.append(reinterpret_cast<const char *>(&bits) + (narrow ? 2 : 0),
                  narrow ? 2 : 4);
    }
    data.resize(begin + type.getNumElements() * (narrow ? 2 : 4));
    header[weight.getSources().front()] = llvm::json::Object{
        {"dtype", narrow ? "BF16" : "F32"},
        {"shape", llvm::json::Array(type.getShape())},
        {"data_offsets", llvm::json::Array{static_cast<int64_t>(begin),
                                           static_cast<int64_t>(data.size())}}};
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(header));
  text.resize(llvm::alignTo(text.size(), 8), ' ');
  uint64_t size = text.size();
  return std::string(reinterpret_cast<const char *>(&size), 8) + text + data;
}

llvm::json::Array CaseExport::compileOptions() const {
  auto list = [](ArrayRef<int64_t> numbers) {
    return llvm::join(
        llvm::map_range(numbers, [](int64_t n) { return std::to_string(n); }),
        ",");
  };
  llvm::json::Array arguments{
      "--prefill-rows", list(options.prefillRows), "--max-batch",
      std::to_string(*llvm::max_element(options.decodeRows))};
  if (options.forceForm) {
    arguments.push_back("--force-form");
    arguments.push_back(spell(*options.forceForm));
  }
  arguments.push_back("--products");
  arguments.push_back(nameOf(options.products));
  if (options.stateStorage == StateStorage::BF16) {
    arguments.push_back("--state-dtype");
    arguments.push_back("bf16");
  } else if (!options.bitStable)
    arguments.push_back("--no-bit-stable");
  else if (options.bitStableOnGpu)
    arguments.push_back("--bit-stable");
  return arguments;
}

static void writeFile(const std::string &path, StringRef bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), bytes.size());
  file.close();
  EXPECT_TRUE(file) << path << " cannot be written";
}

CaseExport::~CaseExport() {
  write();
  alive().erase(this);
}

void CaseExport::write() {
  if (!picked || steps.empty())
    return;
  addStates();
  picked = false; // once
  std::string folder = std::getenv("EFFC_EXPORT_DIR");
  folder += "/" + name;
  EXPECT_FALSE(llvm::sys::fs::create_directories(folder)) << folder;
  llvm::json::Object file{
      {"name", name},
      {"tolerance", options.stateStorage == StateStorage::BF16 ||
                            options.products == Products::BF16
                        ? 2e-2
                    : roundsOnGpus(options.products) ? 2e-2 / 8
                                                     : 1e-5},
      {"slots", slotCount},
      {"slot_bytes", layout.getSlotBytes()},
      {"compile", compileOptions()},
      {"steps", std::move(steps)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(file));
  writeFile(folder + "/case.json", text);
  writeFile(folder + "/numbers.bin", numbers);
  OwningOpRef<ModuleOp> module = completed();
  std::string modelText;
  llvm::raw_string_ostream(modelText) << *module;
  writeFile(folder + "/model.mlir", modelText);
  writeFile(folder + "/model.safetensors", weightsFile(*module));
}
