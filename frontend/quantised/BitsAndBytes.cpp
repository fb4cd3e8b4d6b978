// bitsandbytes: 4 bits by a table, or 8 bits.
//
//   X.weight                          U8 [N K / 2, 1], the first code in the upper half
//   X.weight.absmax                   F32, one of each `blocksize` numbers, across rows
//   X.weight.quant_map                F32 [16], the table
//   X.weight.quant_state.bitsandbytes__nf4 (or fp4)   U8, JSON: blocksize, shape, ...
//
//   w = map[q] absmax
//
// Where scales are codes too, absmax is U8 and stands for
// nested_quant_map[absmax] nested_absmax + nested_offset, each step rounded to f32
// (QuantState.from_dict and dequantize_4bit of bitsandbytes' functional.py).
//
//   X.weight I8 [N, K]   X.SCB F32 [N]   w[n, k] = q SCB / 127
//
// Of 8 bits the library rounds two products, q SCB and that times 1 / 127; here the
// scale is SCB / 127 rounded, so that numbers may differ by a last bit.
#include "frontend/quantised/Methods.h"

#include "frontend/checkpoint/Refusal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cmath>

using namespace effc;
using namespace effc::frontend;
using effc::storage::FieldKind;
using effc::storage::GroupedCodes;
using Axis = PackedIntegers::Axis;
using Codes = QuantisedMatrix::Codes;
using Description = QuantisedMatrix::Description;
using Part = TensorMaker::Part;

static float floatAt(llvm::ArrayRef<uint8_t> bytes, uint64_t index) {
  return std::bit_cast<float>(
      llvm::support::endian::read32le(bytes.data() + 4 * index));
}

namespace {

/// What is known of a matrix of 4 bits.
struct State {
  uint64_t outputs = 0, inputs = 0, block = 0, nestedBlock = 0;
  float nestedOffset = 0;
};

constexpr llvm::StringLiteral kState = ".weight.quant_state.bitsandbytes__";

class FourBits {
public:
  FourBits(QuantisedTensors &tensors, llvm::StringRef stem,
           llvm::StringRef table)
      : tensors(tensors), stem(stem), table(table) {}

  llvm::Error adapt();

private:
  std::string nameOf(llvm::StringRef suffix) const {
    return (stem + ".weight" + suffix).str();
  }
  llvm::Expected<State> readState();
  llvm::Error checkTable(Codes codes);
  llvm::Error readScales(const State &state, Description &matrix,
                         std::vector<Part> &parts);

  QuantisedTensors &tensors;
  llvm::StringRef stem, table;
};

} // namespace

llvm::Expected<State> FourBits::readState() {
  auto part = tensors.part((stem + kState + table).str(), {ElementType::U8});
  if (!part)
    return part.takeError();
  auto bytes = tensors.read(*part);
  if (!bytes)
    return bytes.takeError();
  auto json = parseJson(llvm::toStringRef(*bytes), part->entry.name);
  if (!json)
    return json.takeError();
  if (!json->getObject())
    return tensors.refuse(*part,
                          "expects a JSON object, but got " + json->describe());
  ConfigReader reader(part->entry.name, *json->getObject());
  State state;
  constexpr int64_t kMostBlock = 4096, kMost = int64_t(1) << 31;
  state.block = uint64_t(reader.requireInteger("blocksize", 32, kMostBlock));
  if (!llvm::isPowerOf2_64(state.block))
    reader.report("expects 'blocksize' to be a power of two, but got " +
                  llvm::Twine(state.block));
  const JsonValue *shape = reader.get("shape");
  const JsonArray *extents = shape ? shape->getArray() : nullptr;
  if (extents && extents->size() == 2) {
    state.outputs = (*extents)[0].getUnsigned().value_or(0);
    state.inputs = (*extents)[1].getUnsigned().value_or(0);
  }
  if (state.outputs < 1 || state.inputs < 1 || state.outputs > kMost ||
      state.inputs > kMost || state.inputs % 2 != 0)
    reader.report("expects 'shape' to be outputs and an even number of inputs"
                  ", at most 2^31" +
                  (shape ? ", but got " + shape->describe() : std::string()));
  if (const std::string *type = reader.getString("quant_type");
      type && *type != table)
    reader.report("expects 'quant_type' to be " + quote(table, '"') +
                  ", but got " + quote(*type, '"'));
  state.nestedBlock =
      uint64_t(reader.getInteger("nested_blocksize", 0, kMostBlock, 0));
  state.nestedOffset = float(reader.getNumber("nested_offset", -3e38, 3e38, 0));
  if (const std::string *type = reader.isSet("nested_dtype")
                                    ? reader.getString("nested_dtype")
                                    : nullptr;
      type && *type != "float32")
    reader.report("expects 'nested_dtype' to be \"float32\", but got " +
                  quote(*type, '"'));
  reader.ignore({"dtype"});
  if (llvm::Error error = reader.finish())
    return std::move(error);
  return state;
}

/// The file's table is the one that codes are known by.
llvm::Error FourBits::checkTable(Codes codes) {
  auto part = tensors.part(nameOf(".quant_map"), {ElementType::F32}, {16},
                           "a number of each code");
  if (!part)
    return part.takeError();
  auto bytes = tensors.read(*part);
  if (!bytes)
    return bytes.takeError();
  llvm::ArrayRef<int64_t> known = storage::tableOf(codes);
  for (uint64_t i = 0; i < known.size(); ++i) {
    auto expected =
        float(std::ldexp(double(known[i]), -int(storage::tableUnit(codes))));
    if (float found = floatAt(*bytes, i); found != expected)
      return tensors.refuse(*part, "expects the table of " + table +
                                       ", in which number " + llvm::Twine(i) +
                                       " is " + describeNumber(expected) +
                                       ", but got " + describeNumber(found));
  }
  return llvm::Error::success();
}

llvm::Error FourBits::readScales(const State &state, Description &matrix,
                                 std::vector<Part> &parts) {
  uint64_t count = llvm::divideCeil(state.outputs * state.inputs, state.block);
  std::string why = "a scale for each " + std::to_string(state.block) + " of " +
                    std::to_string(state.outputs) + " x " +
                    std::to_string(state.inputs);
  bool isNested = state.nestedBlock != 0;
  auto scales = tensors.part(nameOf(".absmax"),
                             {isNested ? ElementType::U8 : ElementType::F32},
                             {count}, why);
  if (!scales)
    return scales.takeError();
  parts.push_back(*scales);
  matrix.scaleType = ElementType::F32;
  matrix.scaleCount = count;
  if (!isNested)
    return llvm::Error::success();
  uint64_t nested = llvm::divideCeil(count, state.nestedBlock);
  auto outer = tensors.part(nameOf(".nested_absmax"), {ElementType::F32},
                            {nested}, "a scale for each scales");
  if (!outer)
    return outer.takeError();
  auto map = tensors.part(nameOf(".nested_quant_map"), {ElementType::F32},
                          {256}, "a number of each code");
  if (!map)
    return map.takeError();
  parts.insert(parts.end(), {*outer, *map});
  matrix.scales = [count, state](QuantisedMatrix::Bytes bytes)
      -> llvm::Expected<std::vector<uint32_t>> {
    std::vector<uint32_t> scales(count);
    for (uint64_t i = 0; i < count; ++i) {
      float product = floatAt(bytes[3], bytes[1][i]) *
                      floatAt(bytes[2], i / state.nestedBlock);
      // Kept apart from the sum: two roundings, as the library's.
      volatile float rounded = product;
      scales[i] = std::bit_cast<uint32_t>(float(rounded + state.nestedOffset));
    }
    return scales;
  };
  return llvm::Error::success();
}

llvm::Error FourBits::adapt() {
  auto state = readState();
  if (!state)
    return state.takeError();
  Description matrix;
  matrix.codes = table == "nf4" ? Codes::NF4 : Codes::FP4;
  if (llvm::Error error = checkTable(matrix.codes))
    return error;
  uint64_t bytes = state->outputs * state->inputs / 2;
  auto codes = tensors.part(nameOf(""), {ElementType::U8}, {bytes, 1},
                            "two codes in a byte, of the shape that the state "
                            "says");
  if (!codes)
    return codes.takeError();
  static constexpr uint8_t kHighFirst[] = {1, 0};
  matrix.packed = PackedIntegers::halves(state->outputs, state->inputs);
  matrix.packed.places = kHighFirst;
  matrix.grid = {.rowsEach = 1,
                 .columnsEach = state->block,
                 .rowStride = 0,
                 .columnStride = 1,
                 .columnsOfRow = state->inputs};
  std::vector<Part> parts = {*codes};
  if (llvm::Error error = readScales(*state, matrix, parts))
    return error;
  return tensors.define(nameOf(""), matrix, parts);
}

/// A matrix of 8 bits.
static llvm::Error adaptEightBits(QuantisedTensors &tensors,
                                  llvm::StringRef stem) {
  auto codes = tensors.part((stem + ".weight").str(), {ElementType::I8});
  if (!codes)
    return codes.takeError();
  if (llvm::Error error = tensors.checkMatrix(*codes))
    return error;
  uint64_t outputs = codes->entry.shape[0], inputs = codes->entry.shape[1];
  auto scales = tensors.part((stem + ".SCB").str(), {ElementType::F32},
                             {outputs}, "a scale for each output");
  if (!scales)
    return scales.takeError();
  std::string formatName = (stem + ".weight_format").str();
  if (tensors.find(formatName)) {
    auto format = tensors.part(formatName, {ElementType::U8});
    if (!format)
      return format.takeError();
    auto bytes = tensors.read(*format);
    if (!bytes)
      return bytes.takeError();
    if (bytes->size() != 1 || bytes->front() != 0)
      return tensors.refuse(*format, "expects 0, for matrices row by row");
  }
  Description matrix;
  matrix.packed = PackedIntegers::bytes(outputs, inputs);
  matrix.flipped = 0x80; // from two's complement
  matrix.grid = {
      .rowsEach = 1, .columnsEach = inputs, .rowStride = 1, .columnStride = 1};
  matrix.scaleType = ElementType::F32;
  matrix.scaleCount = outputs;
  matrix.scales = [outputs](QuantisedMatrix::Bytes bytes)
      -> llvm::Expected<std::vector<uint32_t>> {
    std::vector<uint32_t> made(outputs);
    for (uint64_t i = 0; i < outputs; ++i)
      made[i] = std::bit_cast<uint32_t>(floatAt(bytes[1], i) / 127);
    return made;
  };
  return tensors.define(codes->entry.name, matrix, {*codes, *scales});
}

QuantisedStep effc::frontend::readBitsAndBytes(ConfigReader &config) {
  bool has4 = config.getBoolean("load_in_4bit", false),
       has8 = config.getBoolean("load_in_8bit", false);
  has4 |= config.getBoolean("_load_in_4bit", has4);
  has8 |= config.getBoolean("_load_in_8bit", has8);
  if (has4 == has8)
    config.report(
        "expects one of 'load_in_4bit' and 'load_in_8bit' to be true");
  if (const std::string *type = config.isSet("bnb_4bit_quant_storage")
                                    ? config.getString("bnb_4bit_quant_storage")
                                    : nullptr;
      type && *type != "uint8")
    config.report("expects 'bnb_4bit_quant_storage' to be \"uint8\", but got " +
                  quote(*type, '"'));
  config.ignore({"bnb_4bit_quant_type", "bnb_4bit_use_double_quant",
                 "bnb_4bit_compute_dtype", "llm_int8_threshold",
                 "llm_int8_skip_modules", "llm_int8_has_fp16_weight",
                 "llm_int8_enable_fp32_cpu_offload"});
  return [has4](QuantisedTensors &tensors) -> llvm::Error {
    if (has4) {
      for (llvm::StringRef table : {"nf4", "fp4"})
        for (const std::string &stem : tensors.stemsOf((kState + table).str()))
          if (llvm::Error error = FourBits(tensors, stem, table).adapt())
            return error;
      return llvm::Error::success();
    }
    for (const std::string &stem : tensors.stemsOf(".SCB"))
      if (llvm::Error error = adaptEightBits(tensors, stem))
        return error;
    return llvm::Error::success();
  };
}
