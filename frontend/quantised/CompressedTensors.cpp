// compressed-tensors (llm-compressor): formats of groups of modules, K inputs and N
// outputs each.
//
//   pack-quantized        X.weight_packed I32 [N, ceil(K b / 32)], q + 2^(b-1) from bit 0;
//                         X.weight_shape I64 [2]: N, K;
//                         X.weight_zero_point I32 [ceil(N b / 32), G] likewise
//   int-quantized         X.weight I8, X.weight_zero_point I8
//   float-quantized       X.weight F8_E4M3
//   mxfp4-pack-quantized  X.weight_packed U8 [N, K / 2], the lower half first;
//                         X.weight_scale U8 [N, K / 32], exponents of powers of two
//   nvfp4-pack-quantized  X.weight_packed as above; X.weight_scale F8_E4M3 [N, K / 16];
//                         X.weight_global_scale F32, a divisor
//
//   w[n, k] = (q[n, k] - z) X.weight_scale
//
// with scales and zeros of [N, K / group_size], [N, 1], one, or one for blocks. Source:
// compressors/ and quantization/lifecycle/forward.py of release 0.20. Older releases pack
// codes of 3, 5, 6 and 7 bits with gaps; shapes tell.
#include "frontend/quantised/Methods.h"

#include "frontend/checkpoint/Refusal.h"
#include "frontend/quantised/ModuleTargets.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <bit>

using namespace effc::frontend;
using Axis = PackedIntegers::Axis;
using Description = QuantisedMatrix::Description;
using Part = TensorMaker::Part;

namespace {

enum class Format { Packed, Integers, Floats, MXFP4, NVFP4 };
enum class Strategy { Tensor, Channel, Group, Block };

struct Group {
  ModuleTargets targets;
  Format format;
  unsigned bits;
  bool isSymmetric;
  Strategy strategy;
  uint64_t groupSize = 0, blockRows = 0, blockColumns = 0;
};

/// A matrix of one module.
class Module {
public:
  Module(QuantisedTensors &tensors, const Group &group, llvm::StringRef name)
      : tensors(tensors), group(group), name(name) {}

  llvm::Error adapt();

private:
  std::string nameOf(llvm::StringRef suffix) const {
    return (name + suffix).str();
  }
  llvm::Error readCodes();
  llvm::Error readPacked();
  llvm::Error readHalves();
  llvm::Error readScales();
  llvm::Error readZeros();
  llvm::Error readDivisor();

  QuantisedTensors &tensors;
  const Group &group;
  llvm::StringRef name;
  uint64_t outputs = 0, inputs = 0, down = 0, across = 0;
  Description matrix;
  std::vector<Part> parts;
};

} // namespace

llvm::Error Module::readPacked() {
  auto codes = tensors.part(nameOf(".weight_packed"), {ElementType::I32});
  if (!codes)
    return codes.takeError();
  auto shape = tensors.part(nameOf(".weight_shape"),
                            {ElementType::I64, ElementType::I32}, {2},
                            "outputs and inputs");
  if (!shape)
    return shape.takeError();
  auto bytes = tensors.read(*shape);
  if (!bytes)
    return bytes.takeError();
  bool isLong = shape->entry.type == TensorType(ElementType::I64);
  auto extent = [&](int index) -> uint64_t {
    const uint8_t *at = bytes->data() + index * (isLong ? 8 : 4);
    return isLong ? llvm::support::endian::read64le(at)
                  : llvm::support::endian::read32le(at);
  };
  outputs = extent(0), inputs = extent(1);
  // Negative ones too.
  constexpr uint64_t kMost = uint64_t(1) << 31;
  if (outputs < 1 || inputs < 1 || outputs > kMost || inputs > kMost)
    return tensors.refuse(*shape, "expects outputs and inputs of 1 to 2^31, "
                                  "but got " +
                                      llvm::Twine(int64_t(outputs)) + " and " +
                                      llvm::Twine(int64_t(inputs)));
  matrix.packed = PackedIntegers::alongColumns(outputs, inputs, group.bits);
  parts = {*codes};
  return tensors.checkShape(*codes, {outputs, matrix.packed.wordsFor(inputs)},
                            std::to_string(inputs) + " codes of " +
                                std::to_string(group.bits) +
                                " bits, without gaps");
}

/// Two codes in a byte.
llvm::Error Module::readHalves() {
  auto codes = tensors.part(nameOf(".weight_packed"), {ElementType::U8});
  if (!codes)
    return codes.takeError();
  if (llvm::Error error = tensors.checkMatrix(*codes))
    return error;
  outputs = codes->entry.shape[0], inputs = codes->entry.shape[1] * 2;
  matrix.packed = PackedIntegers::halves(outputs, inputs);
  matrix.codes = QuantisedMatrix::Codes::E2M1;
  if (group.format == Format::MXFP4)
    matrix.storage = "mxfp4";
  parts = {*codes};
  return llvm::Error::success();
}

llvm::Error Module::readCodes() {
  if (group.format == Format::Packed)
    return readPacked();
  if (group.format == Format::MXFP4 || group.format == Format::NVFP4)
    return readHalves();
  bool isFloat = group.format == Format::Floats;
  auto codes = tensors.part(nameOf(".weight"),
                            {isFloat ? ElementType::F8E4M3 : ElementType::I8});
  if (!codes)
    return codes.takeError();
  if (llvm::Error error = tensors.checkMatrix(*codes))
    return error;
  outputs = codes->entry.shape[0], inputs = codes->entry.shape[1];
  matrix.packed = PackedIntegers::bytes(outputs, inputs);
  if (isFloat)
    matrix.codes = QuantisedMatrix::Codes::E4M3;
  else
    matrix.flipped = matrix.flippedZero = 0x80; // from two's complement
  parts = {*codes};
  return llvm::Error::success();
}

llvm::Error Module::readScales() {
  uint64_t rows = 1, columns = inputs;
  switch (group.strategy) {
  case Strategy::Tensor:
    rows = outputs;
    break;
  case Strategy::Channel:
    break;
  case Strategy::Group:
    columns = group.groupSize;
    if (inputs % columns != 0)
      return tensors.refuse(
          parts.front(), "expects inputs in groups of " + llvm::Twine(columns) +
                             " ('group_size'), but got " + llvm::Twine(inputs));
    break;
  case Strategy::Block:
    rows = group.blockRows, columns = group.blockColumns;
    break;
  }
  down = llvm::divideCeil(outputs, rows);
  across = llvm::divideCeil(inputs, columns);
  matrix.grid = {.rowsEach = rows,
                 .columnsEach = columns,
                 .rowStride = across,
                 .columnStride = 1};
  matrix.scaleCount = down * across;
  std::vector<ElementType> types = {ElementType::BF16, ElementType::F16,
                                    ElementType::F32};
  if (group.format == Format::MXFP4)
    types = {ElementType::U8, ElementType::F8E8M0};
  else if (group.format == Format::NVFP4)
    types = {ElementType::F8E4M3};
  else if (group.format == Format::Floats)
    types.insert(types.end(), {ElementType::U8, ElementType::F8E8M0});
  auto scales = tensors.part(nameOf(".weight_scale"), types);
  if (!scales)
    return scales.takeError();
  // One scale has no, one or two dimensions.
  bool isOne = matrix.scaleCount == 1 &&
               llvm::all_of(scales->entry.shape,
                            [](uint64_t extent) { return extent == 1; });
  if (!isOne)
    if (llvm::Error error = tensors.checkShape(
            *scales, {down, across},
            "a scale for " + std::to_string(rows) + " x " +
                std::to_string(columns) + " of " + std::to_string(outputs) +
                " x " + std::to_string(inputs)))
      return error;
  matrix.scaleType = scales->entry.type.getElement();
  parts.push_back(*scales);
  return llvm::Error::success();
}

llvm::Error Module::readZeros() {
  std::string zeroName = nameOf(".weight_zero_point");
  if (group.isSymmetric && !tensors.find(zeroName))
    return llvm::Error::success();
  bool isPacked = group.format == Format::Packed;
  PackedIntegers zeros = PackedIntegers::bytes(outputs, across);
  std::vector<uint64_t> shape = {outputs, across};
  if (isPacked) {
    zeros = {.rows = outputs,
             .columns = across,
             .bits = group.bits,
             .packed = Axis::Rows,
             .packedStride = across,
             .otherStride = 1};
    shape.front() = zeros.wordsFor(outputs);
  }
  auto part =
      tensors.part(zeroName, {isPacked ? ElementType::I32 : ElementType::I8},
                   shape, "a zero for each scale");
  if (!part)
    return part.takeError();
  matrix.zeros = zeros;
  matrix.codes = QuantisedMatrix::Codes::IntegersLessZero;
  parts.push_back(*part);
  return llvm::Error::success();
}

/// What scales are divided by, each rounded to f32.
llvm::Error Module::readDivisor() {
  auto divisor =
      tensors.part(nameOf(".weight_global_scale"), {ElementType::F32});
  if (!divisor)
    return divisor.takeError();
  if (llvm::any_of(divisor->entry.shape,
                   [](uint64_t extent) { return extent != 1; }))
    return tensors.refuse(*divisor, "expects one number, but got shape " +
                                        describeShape(divisor->entry.shape));
  parts.push_back(*divisor);
  matrix.scaleType = ElementType::F32;
  matrix.scales = [count = matrix.scaleCount](QuantisedMatrix::Bytes bytes)
      -> llvm::Expected<std::vector<uint32_t>> {
    auto divisor =
        std::bit_cast<float>(llvm::support::endian::read32le(bytes[2].data()));
    std::vector<uint32_t> scales(count);
    for (uint64_t i = 0; i < count; ++i)
      scales[i] = std::bit_cast<uint32_t>(numberOfE4M3(bytes[1][i]) / divisor);
    return scales;
  };
  return llvm::Error::success();
}

llvm::Error Module::adapt() {
  if (llvm::Error error = readCodes())
    return error;
  if (llvm::Error error = readScales())
    return error;
  if (group.format == Format::NVFP4) {
    if (llvm::Error error = readDivisor())
      return error;
  } else if (group.format == Format::Packed ||
             group.format == Format::Integers) {
    if (llvm::Error error = readZeros())
      return error;
  }
  std::string order = nameOf(".weight_g_idx");
  if (group.strategy == Strategy::Group && group.format == Format::Packed &&
      tensors.find(order)) {
    auto groups = tensors.readGroups(order, inputs, matrix.grid.columnsEach);
    if (!groups)
      return groups.takeError();
    matrix.groups = std::move(*groups);
  }
  return tensors.define(nameOf(".weight"), matrix, parts);
}

//===----------------------------------------------------------------------===//
// The configuration
//===----------------------------------------------------------------------===//

static std::optional<Format> findFormat(llvm::StringRef name, bool isFloat) {
  return llvm::StringSwitch<std::optional<Format>>(name)
      .Case("pack-quantized", Format::Packed)
      .Case("int-quantized", Format::Integers)
      .Cases({"float-quantized", "mxfp8-quantized"}, Format::Floats)
      .Case("naive-quantized", isFloat ? Format::Floats : Format::Integers)
      .Case("mxfp4-pack-quantized", Format::MXFP4)
      .Case("nvfp4-pack-quantized", Format::NVFP4)
      .Default(std::nullopt);
}

/// `blockRows` and `blockColumns`.
static void readBlocks(ConfigReader &config, Group &group) {
  constexpr llvm::StringLiteral kKey = "block_structure";
  const JsonValue *value = config.get(kKey);
  const JsonArray *pair = value ? value->getArray() : nullptr;
  if (pair && pair->size() == 2) {
    group.blockRows = (*pair)[0].getUnsigned().value_or(0);
    group.blockColumns = (*pair)[1].getUnsigned().value_or(0);
  }
  constexpr uint64_t kMost = uint64_t(1) << 24;
  if (group.blockRows < 1 || group.blockColumns < 1 ||
      group.blockRows > kMost || group.blockColumns > kMost)
    config.report("expects 'block_structure' to be rows and columns, two "
                  "integers of 1 or more" +
                  (value ? ", but got " + value->describe() : std::string()));
}

static void readWeights(ConfigReader &config, llvm::StringRef format,
                        Group &group) {
  const std::string *type = config.getString("type");
  bool isFloat = type && *type == "float";
  if (type && *type != "int" && *type != "float")
    config.report("expects 'type' to be \"int\" or \"float\", but got " +
                  quote(*type, '"'));
  std::optional<Format> found = findFormat(format, isFloat);
  if (!found)
    config.report("'format' " + quote(format, '"') +
                  " is not read (what is: pack-quantized, int-quantized, "
                  "naive-quantized, float-quantized, mxfp8-quantized, "
                  "mxfp4-pack-quantized, nvfp4-pack-quantized)");
  group.format = found.value_or(Format::Packed);
  bool ofFloats =
      group.format != Format::Packed && group.format != Format::Integers;
  if (found && isFloat != ofFloats)
    config.report("expects 'type' to be " +
                  llvm::StringRef(ofFloats ? "\"float\"" : "\"int\"") +
                  " where 'format' is " + quote(format, '"') + ", but got " +
                  (isFloat ? "\"float\"" : "\"int\""));
  int64_t least = 2, most = 8;
  if (ofFloats)
    least = most = group.format == Format::Floats ? 8 : 4;
  group.bits = unsigned(config.getInteger("num_bits", least, most, most));
  group.isSymmetric = config.getBoolean("symmetric", true);
  constexpr int64_t kMostGroup = int64_t(1) << 24;
  std::optional<int64_t> size =
      config.getIntegerIfSet("group_size", -1, kMostGroup);
  const std::string *strategy =
      config.isSet("strategy") ? config.getString("strategy") : nullptr;
  std::string named = strategy    ? *strategy
                      : !size     ? "tensor"
                      : *size > 0 ? "group"
                                  : "channel";
  auto known = llvm::StringSwitch<std::optional<Strategy>>(named)
                   .Case("tensor", Strategy::Tensor)
                   .Case("channel", Strategy::Channel)
                   .Cases({"group", "tensor_group"}, Strategy::Group)
                   .Case("block", Strategy::Block)
                   .Default(std::nullopt);
  if (!known)
    config.report("'strategy' " + quote(named, '"') +
                  " is not read (what is: tensor, channel, group, "
                  "tensor_group, block)");
  group.strategy = known.value_or(Strategy::Channel);
  if (group.strategy == Strategy::Group) {
    int64_t expected = group.format == Format::MXFP4   ? 32
                       : group.format == Format::NVFP4 ? 16
                                                       : 0;
    if (size.value_or(0) < 1 || (expected != 0 && *size != expected))
      config.report(
          "expects 'group_size' to be " +
          (expected ? std::to_string(expected) : std::string("1 or more")) +
          ", but got " + (size ? std::to_string(*size) : "none"));
    group.groupSize = uint64_t(std::max<int64_t>(size.value_or(1), 1));
  } else if (group.format == Format::MXFP4 || group.format == Format::NVFP4) {
    config.report("expects 'strategy' to be a group's, but got " +
                  quote(named, '"'));
  }
  if (group.strategy == Strategy::Block)
    readBlocks(config, group);
  if (!group.isSymmetric &&
      (group.strategy == Strategy::Tensor || group.strategy == Strategy::Block))
    config.report("expects 'symmetric' to be true where 'strategy' is " +
                  quote(named, '"') + ", but got false");
  if (const JsonValue *dynamic = config.get("dynamic");
      dynamic && !dynamic->isNull() && dynamic->getBoolean() != false)
    config.reportMismatch("dynamic", "false", *dynamic);
  config.ignore({"actorder", "block_structure", "observer", "observer_kwargs",
                 "scale_dtype", "zp_dtype"});
}

static Group readGroup(ConfigReader &config, const std::string &format,
                       bool &rounds) {
  Group group;
  group.targets = ModuleTargets::read(config, "targets");
  const std::string *own =
      config.isSet("format") ? config.getString("format") : nullptr;
  for (llvm::StringRef key : {"input_activations", "output_activations"})
    if (config.isSet(key)) {
      rounds = true;
      config.ignore({key});
    }
  if (const JsonObject *weights = config.getObjectIfSet("weights")) {
    ConfigReader inner(config, "weights", *weights);
    readWeights(inner, own ? *own : format, group);
    config.finishInner(inner);
  } else {
    config.report("lacks 'weights', which say how codes are stored");
  }
  return group;
}

/// Whether a setting is there that is more than {} or a dense format.
static void refuseUnless(ConfigReader &config, llvm::StringRef key,
                         llvm::StringRef what) {
  if (!config.isSet(key))
    return;
  const JsonObject *object = config.get(key)->getObject();
  const JsonValue *format = object ? object->find("format") : nullptr;
  bool isDense =
      format && format->getString() && *format->getString() == "dense";
  if (object && (object->getMembers().empty() || isDense))
    return;
  config.report(quote(key) + " says that " + what + ", which is not read");
}

QuantisedStep effc::frontend::readCompressedTensors(ConfigReader &config) {
  const std::string *named = config.getString("format");
  std::string format = named ? *named : "";
  // Tools call weights "frozen" that are compressed: tensors tell.
  if (config.isSet("quantization_status"))
    if (const std::string *status = config.getString("quantization_status");
        status && *status != "compressed" && *status != "frozen")
      config.report("expects 'quantization_status' to be \"compressed\" or "
                    "\"frozen\", but got " +
                    quote(*status, '"'));
  refuseUnless(config, "sparsity_config", "weights are sparse");
  refuseUnless(config, "transform_config", "weights are turned");
  config.ignore(
      {"ignore", "version", "global_compression_ratio", "kv_cache_scheme"});
  std::vector<Group> groups;
  bool rounds = false;
  const JsonObject *all = config.getObjectIfSet("config_groups");
  if (!all || all->getMembers().empty())
    config.report("expects 'config_groups' to have a group");
  else {
    ConfigReader outer(config, "config_groups", *all);
    for (const JsonMember &member : all->getMembers())
      if (const JsonObject *object = outer.getObjectIfSet(member.key)) {
        ConfigReader inner(outer, member.key, *object);
        groups.push_back(readGroup(inner, format, rounds));
        outer.finishInner(inner);
      }
    config.finishInner(outer);
  }
  return [groups = std::move(groups),
          rounds](QuantisedTensors &tensors) -> llvm::Error {
    std::vector<ModuleTargets> targets;
    for (const Group &group : groups)
      targets.push_back(group.targets);
    std::vector<std::string> names = tensors.stemsOf(".weight_packed");
    for (const std::string &stem : tensors.stemsOf(".weight"))
      if (TensorType type = tensors.find(stem + ".weight")->type;
          type == TensorType(ElementType::I8) ||
          type == TensorType(ElementType::F8E4M3))
        names.push_back(stem);
    for (const std::string &name : names) {
      auto index = ModuleTargets::find(targets, name);
      if (!index)
        return index.takeError();
      if (llvm::Error error = Module(tensors, groups[*index], name).adapt())
        return error;
    }
    tensors.leaveAside({".input_scale", ".input_zero_point", ".output_scale",
                        ".output_zero_point", ".input_global_scale", ".k_scale",
                        ".v_scale", ".q_scale"});
    if (rounds)
      tensors.remark("quantization_config asks for rounded activations, which "
                     "are not: logits are nearer to those of the unquantised "
                     "model");
    return llvm::Error::success();
  };
}
