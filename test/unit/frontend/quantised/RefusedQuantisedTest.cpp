// What is wrong with a quantised checkpoint is told by the name of the key or tensor.
#include "frontend/quantised/Methods.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/SafetensorsImage.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSwitch.h"

#include <gtest/gtest.h>

#include <map>

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;

namespace {

std::string words(std::initializer_list<int32_t> numbers) {
  return {reinterpret_cast<const char *>(numbers.begin()), 4 * numbers.size()};
}

class QuantisedCheckpoint {
public:
  struct Tensor {
    std::string type;
    std::vector<uint64_t> shape;
    std::string bytes = ""; ///< empty: ones
  };
  /// Texts of JSON.
  std::map<std::string, std::string> config;
  std::map<std::string, Tensor> tensors;

  std::string textOf(const std::map<std::string, std::string> &members) const {
    std::string text;
    for (const auto &[key, value] : members)
      text += (text.empty() ? "{\"" : ", \"") + key + "\": " + value;
    return text + "}";
  }

  /// The message, or "success"; where it is read, the data as well.
  std::string outcome() {
    SafetensorsBuilder builder;
    for (const auto &[name, tensor] : tensors) {
      uint64_t bytes = llvm::StringSwitch<uint64_t>(tensor.type)
                           .Cases({"I32", "F32"}, 4)
                           .Cases({"F16", "BF16"}, 2)
                           .Case("I64", 8)
                           .Default(1);
      for (uint64_t extent : tensor.shape)
        bytes *= extent;
      builder.add(name, tensor.type, tensor.shape,
                  tensor.bytes.empty() ? std::string(bytes, 1) : tensor.bytes);
    }
    TemporaryDirectory directory;
    directory.write("model.safetensors", builder.build());
    auto checkpoint = Checkpoint::open(directory.path);
    if (!checkpoint)
      return test::outcome(checkpoint.takeError());
    std::string text = R"({"quantization_config": )" + textOf(config) + "}";
    auto json = parseJson(text, "config.json");
    if (!json)
      return test::outcome(json.takeError());
    ConfigReader reader("config.json", *json->getObject());
    mlir::MLIRContext context;
    remarks.clear();
    if (llvm::Error error =
            readQuantised(reader, context, **checkpoint, remarks))
      return test::outcome(std::move(error));
    if (llvm::Error error = reader.finish())
      return test::outcome(std::move(error));
    std::vector<std::string> names;
    for (const auto &file : (*checkpoint)->getFiles())
      for (const TensorEntry &entry : file->getEntries())
        names.push_back(entry.name);
    for (const std::string &name : names)
      if (auto data = (*checkpoint)->getData(name); !data)
        return test::outcome(data.takeError());
    (*checkpoint)->take("a.weight");
    return test::outcome((*checkpoint)->checkAllRead());
  }

  Remarks remarks;
};

/// 16 outputs, 64 inputs in groups of 32, 4 bits.
QuantisedCheckpoint gptq() {
  return {{{"quant_method", "\"gptq\""},
           {"bits", "4"},
           {"group_size", "32"},
           {"desc_act", "false"},
           {"sym", "true"}},
          {{"a.qweight", {"I32", {8, 16}}},
           {"a.qzeros", {"I32", {2, 2}}},
           {"a.scales", {"F16", {2, 16}}}},
          {}};
}

/// 16 outputs, 64 inputs in groups of 32.
QuantisedCheckpoint awq() {
  return {{{"quant_method", "\"awq\""},
           {"bits", "4"},
           {"group_size", "32"},
           {"version", "\"gemm\""},
           {"zero_point", "true"}},
          {{"a.qweight", {"I32", {64, 2}}},
           {"a.qzeros", {"I32", {2, 2}}},
           {"a.scales", {"F16", {2, 16}}}},
          {}};
}

/// 6 outputs, 40 inputs, blocks of 4 x 16.
QuantisedCheckpoint fp8() {
  return {{{"quant_method", "\"fp8\""}, {"weight_block_size", "[4, 16]"}},
          {{"a.weight", {"F8_E4M3", {6, 40}}},
           {"a.weight_scale_inv", {"F32", {2, 3}}}},
          {}};
}

std::string group(const std::string &weights, const std::string &targets,
                  const std::string &further = "") {
  return R"({"targets": [)" + targets + R"(], "weights": {)" + weights + "}" +
         further + "}";
}

/// 6 outputs, 64 inputs in groups of 32, 4 bits with zeros.
QuantisedCheckpoint packed() {
  std::string weights = R"("num_bits": 4, "type": "int", "symmetric": false,
                           "strategy": "group", "group_size": 32)";
  return {{{"quant_method", "\"compressed-tensors\""},
           {"format", "\"pack-quantized\""},
           {"config_groups", R"({"g": )" + group(weights, "\"Linear\"") + "}"}},
          {{"a.weight_packed", {"I32", {6, 8}}},
           {"a.weight_scale", {"BF16", {6, 2}}},
           {"a.weight_zero_point", {"I32", {1, 2}}},
           {"a.weight_shape", {"I32", {2}, words({6, 64})}}},
          {}};
}

/// 4 outputs, 32 inputs.
QuantisedCheckpoint nf4() {
  std::string state = R"({"quant_type": "nf4", "blocksize": 64,
                          "dtype": "bfloat16", "shape": [4, 32]})";
  float map[16] = {-1.0f,
                   -0.6961928009986877f,
                   -0.5250730514526367f,
                   -0.39491748809814453f,
                   -0.28444138169288635f,
                   -0.18477343022823334f,
                   -0.09105003625154495f,
                   0,
                   0.07958029955625534f,
                   0.16093020141124725f,
                   0.24611230194568634f,
                   0.33791524171829224f,
                   0.44070982933044434f,
                   0.5626170039176941f,
                   0.7229568362236023f,
                   1};
  return {{{"quant_method", "\"bitsandbytes\""}, {"load_in_4bit", "true"}},
          {{"a.weight", {"U8", {64, 1}}},
           {"a.weight.absmax", {"F32", {2}, words({0x3f800000, 0x3f000000})}},
           {"a.weight.quant_map",
            {"F32", {16}, {reinterpret_cast<char *>(map), sizeof map}}},
           {"a.weight.quant_state.bitsandbytes__nf4",
            {"U8", {state.size()}, state}}},
          {}};
}

} // namespace

TEST(RefusedGptq, ByTheNameOfTheTensor) {
  EXPECT_EQ(gptq().outcome(), "success");
  auto with = [](const char *name, QuantisedCheckpoint::Tensor tensor) {
    QuantisedCheckpoint spoiled = gptq();
    spoiled.tensors[name] = std::move(tensor);
    return spoiled.outcome();
  };
  EXPECT_EQ(with("a.scales", {"F16", {3, 16}}),
            "model.safetensors: tensor 'a.scales': expects shape 2x16 (a scale "
            "for each group of 32 of 64 inputs), but got 3x16");
  EXPECT_EQ(with("a.scales", {"I32", {2, 16}}),
            "model.safetensors: tensor 'a.scales': expects elements of F16, "
            "BF16 or F32, but got I32");
  EXPECT_EQ(with("a.qzeros", {"I32", {2, 16}}),
            "model.safetensors: tensor 'a.qzeros': expects shape 2x2 (a zero "
            "for each scale), but got 2x16");
  EXPECT_EQ(with("a.qweight", {"I32", {128}}),
            "model.safetensors: tensor 'a.qweight': expects two dimensions of "
            "1 or more, but got 128");
  EXPECT_EQ(with("a.qweight", {"I32", {0, 16}}),
            "model.safetensors: tensor 'a.qweight': expects two dimensions of "
            "1 or more, but got 0x16");
  EXPECT_EQ(with("a.qweight", {"I32", {8, 15}}),
            "model.safetensors: tensor 'a.qweight': expects outputs whose "
            "zeros fill words of 32 bits, but got 15 of 4 bits");
  EXPECT_EQ(with("a.weight", {"F16", {16, 64}}),
            "tensor 'a.weight' is there beside its codes, 'a.qweight'");
  // Of output 2 and the second group 15 is stored, 16 is meant.
  EXPECT_EQ(with("a.qzeros", {"I32", {2, 2}, words({0, 0, 0xf00, 0})}),
            "tensor 'a.qzeros': expects zeros below 16, but got 16 in row 2 of "
            "the matrix, group 1");
  QuantisedCheckpoint without = gptq();
  without.tensors.erase("a.scales");
  EXPECT_EQ(without.outcome(), "model.safetensors: lacks tensor 'a.scales'");
  without.tensors = {{"a.weight", {"F16", {4, 4}}}};
  EXPECT_EQ(without.outcome(),
            "config.json: 'quantization_config' says that the weights are "
            "quantised ('gptq', 4 bits), but 'model.safetensors' has no such "
            "matrix: where its weights are whole, --allow quantization_config");
}

TEST(RefusedGptq, OrdersOfInputs) {
  QuantisedCheckpoint model = gptq();
  std::string groups;
  for (int32_t k = 0; k < 64; ++k)
    groups += words({k / 32});
  model.tensors["a.g_idx"] = {"I32", {64}, groups};
  model.config["desc_act"] = "true";
  EXPECT_EQ(model.outcome(), "success");
  model.tensors["a.g_idx"].bytes[4 * 40] = 2;
  EXPECT_EQ(model.outcome(),
            "model.safetensors: tensor 'a.g_idx': expects groups of 0 to 1, "
            "but got 2 of input 40");
  model.tensors.erase("a.g_idx");
  EXPECT_EQ(model.outcome(),
            "config.json: quantization_config: 'desc_act' says that inputs "
            "have groups of their own, but there is no 'a.g_idx'");
}

TEST(RefusedGptq, KeysOfTheConfiguration) {
  auto with = [](const char *key, const char *value) {
    QuantisedCheckpoint spoiled = gptq();
    spoiled.config[key] = value;
    return spoiled.outcome();
  };
  EXPECT_EQ(with("bits", "5"),
            "config.json: quantization_config: expects 'bits' to be 2, 3, 4 or "
            "8, but got 5");
  EXPECT_EQ(with("group_size", "0"),
            "config.json: quantization_config: expects 'group_size' to be -1 "
            "or 1 and more, but got 0");
  EXPECT_EQ(with("checkpoint_format", "\"marlin\""),
            "config.json: quantization_config: expects 'checkpoint_format' to "
            "be \"gptq\" or \"gptq_v2\", but got \"marlin\"");
  EXPECT_EQ(with("dynamic", R"({"lm_head": {"bits": 8}})"),
            "config.json: quantization_config: expects 'dynamic' to be {}, "
            "since all matrices are alike, but got an object");
  EXPECT_NE(with("rotation", "\"hadamard\"").find("'quantization_config.rotat"),
            std::string::npos);
}

// Old tools write zeros for every module.
TEST(RefusedGptq, ButNotBiasesOfZeros) {
  QuantisedCheckpoint model = gptq();
  model.tensors["a.bias"] = {"F16", {2}, std::string(4, '\0')};
  EXPECT_EQ(model.outcome(), "success");
  model.tensors["a.bias"].bytes[1] = 1;
  EXPECT_EQ(model.outcome(),
            "model.safetensors: tensor 'a.bias' has no place in the model");
}

// Of the first format 7 is stored for the middle of 4 bits.
TEST(RefusedAutoRound, ByWhatIsWrong) {
  QuantisedCheckpoint model = gptq();
  model.config = {{"quant_method", "\"auto-round\""},
                  {"packing_format", "\"auto_round:auto_gptq\""},
                  {"bits", "4"},
                  {"group_size", "32"},
                  {"sym", "true"}};
  constexpr int32_t kSevens = 0x77777777;
  model.tensors["a.qzeros"].bytes = words({kSevens, kSevens, kSevens, kSevens});
  EXPECT_EQ(model.outcome(), "success");
  QuantisedCheckpoint spoiled = model;
  spoiled.tensors["a.qzeros"].bytes =
      words({kSevens, kSevens, kSevens, kSevens + 0x100});
  EXPECT_EQ(spoiled.outcome(),
            "tensor 'a.qzeros': expects a zero of 8 ('sym'), but got 9 in row "
            "10 of the matrix, group 1");
  spoiled = model;
  spoiled.config["packing_format"] = "\"auto_round:auto_awq\"";
  EXPECT_EQ(spoiled.outcome(),
            "config.json: quantization_config: expects 'packing_format' to be "
            "\"auto_round:auto_gptq\", but got \"auto_round:auto_awq\"");
  spoiled = model;
  spoiled.config["sym"] = "false";
  EXPECT_EQ(spoiled.outcome(), "config.json: quantization_config: expects "
                               "'sym' to be true, but got false");
}

TEST(RefusedAwq, ByWhatIsWrong) {
  EXPECT_EQ(awq().outcome(), "success");
  auto with = [](const char *key, const char *value) {
    QuantisedCheckpoint spoiled = awq();
    spoiled.config[key] = value;
    return spoiled.outcome();
  };
  EXPECT_EQ(with("version", "\"gemv\""),
            "config.json: quantization_config: expects 'version' to be "
            "\"gemm\", but got \"gemv\": the order of codes is another one");
  EXPECT_EQ(with("bits", "3"),
            "config.json: quantization_config: expects 'bits' to be 4, but got "
            "3");
  EXPECT_EQ(with("zero_point", "false"),
            "config.json: quantization_config: expects 'zero_point' to be "
            "true, but got false");
  EXPECT_EQ(with("group_size", "48"),
            "model.safetensors: tensor 'a.qweight': expects inputs in groups "
            "of 48 ('group_size'), but got 64");
}

TEST(RefusedFp8, ByWhatIsWrong) {
  EXPECT_EQ(fp8().outcome(), "success");
  QuantisedCheckpoint spoiled = fp8();
  spoiled.config["weight_block_size"] = "[4]";
  EXPECT_EQ(spoiled.outcome(),
            "config.json: quantization_config: expects 'weight_block_size' to "
            "be rows and columns, two integers of 1 or more, but got an array "
            "of 1");
  spoiled = fp8();
  spoiled.tensors["a.weight_scale_inv"] = {"F32", {3, 2}};
  EXPECT_EQ(spoiled.outcome(),
            "model.safetensors: tensor 'a.weight_scale_inv': expects shape 2x3 "
            "(a scale for 4 x 16 of 6 x 40), but got 3x2");
  spoiled.tensors.erase("a.weight_scale_inv");
  EXPECT_EQ(spoiled.outcome(),
            "model.safetensors: lacks tensor 'a.weight_scale_inv'");
  // One scale for all.
  spoiled.config.erase("weight_block_size");
  spoiled.tensors["a.weight_scale_inv"] = {"F32", {}};
  EXPECT_EQ(spoiled.outcome(), "success");
  // Kernels do not look for what is no number.
  std::string &codes = spoiled.tensors["a.weight"].bytes;
  codes = std::string(240, 1);
  for (char none : {'\x7f', '\xff'}) {
    codes[2 * 40 + 7] = none;
    EXPECT_EQ(spoiled.outcome(),
              "tensor 'a.weight': expects numbers, but got NaN in row 2, "
              "column 7");
  }
  codes[2 * 40 + 7] = 0x7e;
  // 2^118, and 2^119.
  spoiled.tensors["a.weight_scale_inv"].bytes = words({0x7a800000});
  EXPECT_EQ(spoiled.outcome(), "success");
  spoiled.tensors["a.weight_scale_inv"].bytes = words({0x7b000000});
  EXPECT_EQ(spoiled.outcome(),
            "tensor 'a.weight_scale_inv': expects scales "
            "below 2^119 beside codes of e4m3, but got 6.64614e+35 "
            "as number 0");
  spoiled.tensors["a.weight_scale_inv"].bytes = "";
  spoiled.tensors["a.input_scale"] = {"F32", {}};
  EXPECT_EQ(spoiled.outcome(), "success");
  EXPECT_EQ(spoiled.remarks.back(),
            "tensor 'a.input_scale' is left aside: activations, keys and "
            "values are not rounded");
}

TEST(RefusedCompressedTensors, ByTheNameOfTheTensor) {
  EXPECT_EQ(packed().outcome(), "success");
  auto with = [](const char *name, QuantisedCheckpoint::Tensor tensor) {
    QuantisedCheckpoint spoiled = packed();
    spoiled.tensors[name] = std::move(tensor);
    return spoiled.outcome();
  };
  EXPECT_EQ(with("a.weight_shape", {"I32", {2}, words({6, 65})}),
            "model.safetensors: tensor 'a.weight_packed': expects shape 6x9 "
            "(65 codes of 4 bits, without gaps), but got 6x8");
  EXPECT_EQ(with("a.weight_shape", {"I32", {2}, words({6, -1})}),
            "model.safetensors: tensor 'a.weight_shape': expects outputs and "
            "inputs of 1 to 2^31, but got 6 and 4294967295");
  EXPECT_EQ(with("a.weight_shape", {"I32", {3}}),
            "model.safetensors: tensor 'a.weight_shape': expects shape 2 "
            "(outputs and inputs), but got 3");
  EXPECT_EQ(with("a.weight_zero_point", {"I32", {6, 2}}),
            "model.safetensors: tensor 'a.weight_zero_point': expects shape "
            "1x2 (a zero for each scale), but got 6x2");
  EXPECT_EQ(with("a.weight_scale", {"BF16", {6, 1}}),
            "model.safetensors: tensor 'a.weight_scale': expects shape 6x2 (a "
            "scale for 1 x 32 of 6 x 64), but got 6x1");
  QuantisedCheckpoint spoiled = packed();
  spoiled.tensors["a.weight_packed"] = {"I32", {6, 6}};
  spoiled.tensors["a.weight_shape"].bytes = words({6, 48});
  EXPECT_EQ(spoiled.outcome(),
            "model.safetensors: tensor 'a.weight_packed': expects inputs in "
            "groups of 32 ('group_size'), but got 48");
  spoiled = packed();
  spoiled.tensors.erase("a.weight_zero_point");
  EXPECT_EQ(spoiled.outcome(),
            "model.safetensors: lacks tensor 'a.weight_zero_point'");
}

TEST(RefusedCompressedTensors, KeysOfTheConfiguration) {
  auto with = [](const char *key, const std::string &value) {
    QuantisedCheckpoint spoiled = packed();
    spoiled.config[key] = value;
    return spoiled.outcome();
  };
  EXPECT_EQ(
      with("format", "\"marlin-24\""),
      "config.json: quantization_config: config_groups: g: weights: 'format' "
      "\"marlin-24\" is not read (what is: pack-quantized, int-quantized, "
      "naive-quantized, float-quantized, mxfp8-quantized, "
      "mxfp4-pack-quantized, nvfp4-pack-quantized)");
  EXPECT_EQ(with("sparsity_config", R"({"format": "sparse-24-bitmask"})"),
            "config.json: quantization_config: 'sparsity_config' says that "
            "weights are sparse, which is not read");
  EXPECT_EQ(with("sparsity_config", R"({"format": "dense"})"), "success");
  EXPECT_EQ(with("transform_config", R"({"config_groups": {"u": {}}})"),
            "config.json: quantization_config: 'transform_config' says that "
            "weights are turned, which is not read");
  EXPECT_EQ(with("quantization_status", "\"calibration\""),
            "config.json: quantization_config: expects 'quantization_status' "
            "to be \"compressed\" or \"frozen\", but got \"calibration\"");
  EXPECT_EQ(with("config_groups", "{}"),
            "config.json: quantization_config: expects 'config_groups' to have "
            "a group");
  auto ofGroup = [&](const std::string &weights,
                     const std::string &targets = "\"Linear\"") {
    return with("config_groups", R"({"g": )" + group(weights, targets) + "}");
  };
  EXPECT_EQ(ofGroup(R"("num_bits": 9, "type": "int", "group_size": 32)"),
            "config.json: quantization_config: config_groups: g: weights: "
            "expects 'num_bits' to be an integer in 2..8, but got 9");
  EXPECT_EQ(ofGroup(R"("num_bits": 4, "type": "float", "group_size": 32)"),
            "config.json: quantization_config: config_groups: g: weights: "
            "expects 'type' to be \"int\" where 'format' is "
            "\"pack-quantized\", but got \"float\"");
  EXPECT_EQ(
      ofGroup(R"("num_bits": 4, "type": "int", "strategy": "token")"),
      "config.json: quantization_config: config_groups: g: weights: "
      "'strategy' \"token\" is not read (what is: tensor, channel, group, "
      "tensor_group, block)");
  EXPECT_EQ(ofGroup(R"("num_bits": 4, "type": "int", "group_size": 32)",
                    R"("re:.*\\dproj")"),
            "config.json: quantization_config: config_groups: g: the pattern "
            "'.*\\dproj' in 'targets' is not read");
}

// Two groups: patterns choose, and what none names is a class's.
TEST(RefusedCompressedTensors, ModulesOfNoGroup) {
  std::string weights = R"("num_bits": 4, "type": "int", "symmetric": false,
                           "group_size": 32)",
              others = R"("num_bits": 8, "type": "int", "group_size": 32)";
  auto outcome = [&](const std::string &first, const std::string &second) {
    QuantisedCheckpoint model = packed();
    model.config["config_groups"] = R"({"g": )" + group(others, first) +
                                    R"(, "h": )" + group(weights, second) + "}";
    return model.outcome();
  };
  EXPECT_EQ(outcome("\"re:.*b$\"", "\"re:a$\""), "success");
  EXPECT_EQ(outcome("\"re:.*b$\"", "\"Linear\""), "success");
  EXPECT_EQ(outcome("\"re:.*b$\"", "\"re:b.*\""),
            "config.json: quantization_config: no group of 'config_groups' "
            "says that it is the one of module 'a'");
  EXPECT_EQ(outcome("\"Linear\"", "\"Linear\""),
            "config.json: quantization_config: no group of 'config_groups' "
            "says that it is the one of module 'a'");
}

TEST(RefusedBitsAndBytes, ByWhatIsWrong) {
  EXPECT_EQ(nf4().outcome(), "success");
  auto with = [](const std::string &state) {
    QuantisedCheckpoint spoiled = nf4();
    spoiled.tensors["a.weight.quant_state.bitsandbytes__nf4"] = {
        "U8", {state.size()}, state};
    return spoiled.outcome();
  };
  constexpr const char *kState = "a.weight.quant_state.bitsandbytes__nf4: ";
  EXPECT_EQ(with("[]"), "model.safetensors: tensor "
                        "'a.weight.quant_state.bitsandbytes__nf4': expects a "
                        "JSON object, but got an array of 0");
  EXPECT_EQ(with(R"({"blocksize": 64, "quant_type": "nf4", "shape": [4, 33]})"),
            std::string(kState) +
                "expects 'shape' to be outputs and an even number of inputs, "
                "at most 2^31, but got an array of 2");
  EXPECT_EQ(with(R"({"blocksize": 64, "quant_type": "fp4", "shape": [4, 32]})"),
            std::string(kState) +
                "expects 'quant_type' to be \"nf4\", but got \"fp4\"");
  EXPECT_EQ(with(R"({"blocksize": 64, "quant_type": "nf4", "shape": [4, 34]})"),
            "model.safetensors: tensor 'a.weight': expects shape 68x1 (two "
            "codes in a byte, of the shape that the state says), but got 64x1");
  EXPECT_EQ(with(R"({"blocksize": 32, "quant_type": "nf4", "shape": [4, 32]})"),
            "model.safetensors: tensor 'a.weight.absmax': expects shape 4 (a "
            "scale for each 32 of 4 x 32), but got 2");
  EXPECT_EQ(with(R"({"blocksize": 67, "quant_type": "nf4", "shape": [4, 32]})"),
            std::string(kState) +
                "expects 'blocksize' to be a power of two, but got 67");
  QuantisedCheckpoint spoiled = nf4();
  spoiled.tensors["a.weight.quant_map"].bytes[2] = char(0xc0);
  EXPECT_EQ(spoiled.outcome(),
            "model.safetensors: tensor 'a.weight.quant_map': expects the table "
            "of nf4, in which number 0 is -1, but got -1.5");
  // 2^-120, of which no 2^-27th is a whole f32.
  spoiled = nf4();
  spoiled.tensors["a.weight.absmax"].bytes = words({0x03800001, 0x3f000000});
  EXPECT_EQ(spoiled.outcome(),
            "tensor 'a.weight.absmax': expects scales of 2^-99 or more, or 0, "
            "but got 7.52316e-37 as number 0");
  spoiled = nf4();
  spoiled.config["load_in_8bit"] = "true";
  EXPECT_EQ(spoiled.outcome(),
            "config.json: quantization_config: expects one of 'load_in_4bit' "
            "and 'load_in_8bit' to be true");
  spoiled = nf4();
  spoiled.config["bnb_4bit_quant_storage"] = "\"bfloat16\"";
  EXPECT_EQ(spoiled.outcome(),
            "config.json: quantization_config: expects "
            "'bnb_4bit_quant_storage' to be \"uint8\", but got \"bfloat16\"");
}

TEST(RefusedModelOpt, ByWhatIsWrong) {
  // 6 outputs, 32 inputs.
  QuantisedCheckpoint nvfp4{
      {{"quant_method", "\"modelopt\""}, {"quant_algo", "\"NVFP4\""}},
      {{"a.weight", {"U8", {6, 16}}},
       {"a.weight_scale", {"F8_E4M3", {6, 2}}},
       {"a.weight_scale_2", {"F32", {}, words({0x3f800000})}}},
      {}};
  EXPECT_EQ(nvfp4.outcome(), "success");
  QuantisedCheckpoint spoiled = nvfp4;
  spoiled.config["quant_algo"] = "\"W4A8_AWQ\"";
  EXPECT_EQ(spoiled.outcome(),
            "config.json: quantization_config: 'quant_algo' \"W4A8_AWQ\" is "
            "not read (what is: FP8, NVFP4, W4A16_NVFP4, MIXED_PRECISION of "
            "these)");
  spoiled = nvfp4;
  spoiled.tensors["a.weight_scale_2"] = {"F32", {6}};
  EXPECT_EQ(spoiled.outcome(),
            "model.safetensors: tensor 'a.weight_scale_2': expects one number, "
            "but got shape 6");
  spoiled = nvfp4;
  spoiled.tensors["a.weight"] = {"U8", {6, 12}};
  EXPECT_EQ(spoiled.outcome(),
            "model.safetensors: tensor 'a.weight': expects inputs in groups of "
            "16, but got 24");
  // A factor of activations.
  spoiled = nvfp4;
  spoiled.tensors["a.pre_quant_scale"] = {"F32", {32}};
  EXPECT_EQ(spoiled.outcome(),
            "model.safetensors: tensor 'a.pre_quant_scale' has no place in the "
            "model");
  QuantisedCheckpoint fp8{
      {{"quant_method", "\"modelopt\""}, {"quant_algo", "\"FP8\""}},
      {{"a.weight", {"F8_E4M3", {6, 16}}}, {"a.weight_scale", {"F32", {6}}}},
      {}};
  EXPECT_EQ(fp8.outcome(), "success");
  fp8.tensors["a.weight_scale"] = {"F32", {16}};
  EXPECT_EQ(fp8.outcome(),
            "model.safetensors: tensor 'a.weight_scale': expects shape 6 (a "
            "scale for each output, or one), but got 16");
}
