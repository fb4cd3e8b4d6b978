#include "frontend/families/Mamba2.h"

#include "dialects/seq/Seq.h"
#include "frontend/Import.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TinyMamba2.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

using namespace effc;
using namespace effc::frontend;
using namespace effc::test;

namespace {

class Mamba2Test : public testing::Test {
protected:
  ImportedModel import(const ImportOptions &options = {}) {
    tiny.write(directory);
    return llvm::cantFail(importModel(context, directory.path, options));
  }
  std::string importing(const ImportOptions &options = {}) {
    tiny.write(directory);
    return outcome(importModel(context, directory.path, options));
  }
  /// What comes of the import with one key of config.json replaced.
  std::string importingWith(const std::string &key, const std::string &value) {
    TinyMamba2 kept = tiny;
    tiny.config[key] = value;
    std::string found = importing();
    tiny = kept;
    return found;
  }
  std::string importingWithout(const std::string &key) {
    TinyMamba2 kept = tiny;
    tiny.config.erase(key);
    std::string found = importing();
    tiny = kept;
    return found;
  }

  template <typename Op> static std::vector<Op> opsOf(ImportedModel &model) {
    std::vector<Op> ops;
    model.module->walk([&](Op op) { ops.push_back(op); });
    return ops;
  }
  static std::string typeOf(ImportedModel &model, llvm::StringRef weight) {
    auto op = model.module->lookupSymbol<seq::WeightOp>(weight);
    if (!op)
      return "none";
    std::string text;
    llvm::raw_string_ostream(text) << op.getType();
    return text;
  }
  static bool hasRemark(const ImportedModel &model, llvm::StringRef part) {
    return llvm::any_of(model.remarks, [&](llvm::StringRef remark) {
      return remark.contains(part);
    });
  }

  mlir::MLIRContext context;
  TemporaryDirectory directory;
  TinyMamba2 tiny;
};

} // namespace

//===----------------------------------------------------------------------===//
// What is built
//===----------------------------------------------------------------------===//

TEST_F(Mamba2Test, DescribesTheModel) {
  ImportedModel model = import();
  auto description =
      (*model.module)->getAttrOfType<seq::ModelAttr>("seq.model");
  EXPECT_EQ(description.getFamily(), "mamba2");
  EXPECT_EQ(description.getVocabulary(), 7);
  EXPECT_EQ(description.getWidth(), 6);
  EXPECT_EQ(description.getMaxContext(), 0);
}

TEST_F(Mamba2Test, DeclaresEveryWeightOnce) {
  ImportedModel model = import();
  const std::pair<const char *, const char *> expected[] = {
      {"embeddings", "tensor<7x6xf32>"},
      {"layers.0.norm", "tensor<6xf32>"},
      {"layers.0.in_proj", "tensor<48x6xf32>"},
      {"layers.0.conv", "tensor<3x32xf32>"},
      {"layers.0.conv_bias", "tensor<32xf32>"},
      {"layers.0.a_log", "tensor<4xf32>"},
      {"layers.0.dt_bias", "tensor<4xf32>"},
      {"layers.0.d", "tensor<4xf32>"},
      {"layers.0.gated_norm", "tensor<12xf32>"},
      {"layers.0.out_proj", "tensor<6x12xf32>"},
      {"norm", "tensor<6xf32>"},
      {"lm_head", "tensor<7x6xf32>"}};
  for (auto [name, type] : expected)
    EXPECT_EQ(typeOf(model, name), type) << name;
  EXPECT_EQ(opsOf<seq::WeightOp>(model).size(), std::size(expected));
  EXPECT_TRUE(model.module->lookupSymbol<seq::WeightOp>("layers.0.conv")
                  .getTransposed());
}

TEST_F(Mamba2Test, NamesStatesInOrder) {
  tiny.config["num_hidden_layers"] = "2";
  TinyMamba2 one;
  for (const auto &[name, tensor] : one.tensors) {
    auto [before, after] = llvm::StringRef(name).split("layers.0.");
    if (!after.empty())
      tiny.tensors[(before + "layers.1." + after).str()] = tensor;
  }
  ImportedModel model = import();
  auto forward = model.module->lookupSymbol<mlir::func::FuncOp>("forward");
  std::vector<std::string> names;
  for (unsigned i = 2; i < forward.getNumArguments(); ++i)
    names.push_back(
        forward.getArgAttrOfType<mlir::StringAttr>(i, "seq.state_name").str());
  EXPECT_EQ(names, (std::vector<std::string>{"layers.0.conv", "layers.0.ssd",
                                             "layers.1.conv", "layers.1.ssd"}));
  EXPECT_EQ(forward.getNumResults(), 5u);
  std::string type;
  llvm::raw_string_ostream(type)
      << forward.getArgumentTypes()[2] << " " << forward.getArgumentTypes()[3];
  EXPECT_EQ(type, "tensor<2x32xf32> tensor<4x5x3xf32>");
}

// in_proj's rows are z (12), x (12), B (10), C (10), dt (4).
TEST_F(Mamba2Test, SplitsInTheRightOrder) {
  ImportedModel model = import();
  std::vector<std::pair<int64_t, int64_t>> slices;
  for (seq::SliceOp op : opsOf<seq::SliceOp>(model))
    slices.emplace_back(op.getOffset(), op.getSize());
  EXPECT_EQ(slices,
            (std::vector<std::pair<int64_t, int64_t>>{
                {0, 12}, {12, 32}, {44, 4}, {0, 12}, {12, 10}, {22, 10}}));
}

// The gated norm's mean square is per group, whatever the public implementation
// does.
TEST_F(Mamba2Test, NormalisesPerGroup) {
  ImportedModel model = import();
  auto norms = opsOf<seq::GatedRmsNormOp>(model);
  ASSERT_EQ(norms.size(), 1u);
  EXPECT_EQ(norms[0].getGroups(), 2u);
  EXPECT_EQ(norms[0].getEps().convertToDouble(), 1e-5);
  EXPECT_TRUE(hasRemark(model, "one mean square per group of 6 channels"));
}

TEST_F(Mamba2Test, LocatesOpsByTheirPart) {
  ImportedModel model = import();
  auto nameOf = [](mlir::Operation *op) {
    return llvm::cast<mlir::NameLoc>(op->getLoc()).getName().str();
  };
  std::vector<std::string> names;
  for (seq::LinearOp op : opsOf<seq::LinearOp>(model))
    names.push_back(nameOf(op));
  EXPECT_EQ(names, (std::vector<std::string>{"layers.0.in_proj",
                                             "layers.0.out_proj"}));
  EXPECT_EQ(nameOf(opsOf<seq::SsdOp>(model)[0]), "layers.0.ssd");
  EXPECT_EQ(nameOf(opsOf<seq::ShortConvolutionOp>(model)[0]), "layers.0.conv");
  EXPECT_EQ(nameOf(opsOf<seq::LmHeadOp>(model)[0]), "lm_head");
}

TEST_F(Mamba2Test, Biases) {
  tiny.config["use_bias"] = "true";
  tiny.config["use_conv_bias"] = "false";
  tiny.tensors["backbone.layers.0.mixer.in_proj.bias"] = {"F32", {48}};
  tiny.tensors["backbone.layers.0.mixer.out_proj.bias"] = {"F32", {6}};
  tiny.tensors.erase("backbone.layers.0.mixer.conv1d.bias");
  ImportedModel model = import();
  EXPECT_EQ(typeOf(model, "layers.0.in_proj_bias"), "tensor<48xf32>");
  EXPECT_EQ(typeOf(model, "layers.0.out_proj_bias"), "tensor<6xf32>");
  EXPECT_EQ(typeOf(model, "layers.0.conv_bias"), "none");
  for (seq::LinearOp op : opsOf<seq::LinearOp>(model))
    EXPECT_TRUE(op.getBias());
  EXPECT_FALSE(opsOf<seq::ShortConvolutionOp>(model)[0].getBias());
}

TEST_F(Mamba2Test, KeepsMatricesInTheTypeTheyHave) {
  tiny.tensors["backbone.layers.0.mixer.in_proj.weight"].type = "BF16";
  tiny.tensors["backbone.layers.0.mixer.out_proj.weight"].type = "F16";
  tiny.tensors["backbone.layers.0.mixer.A_log"].type = "BF16";
  tiny.tensors["backbone.layers.0.mixer.conv1d.weight"].type = "F16";
  ImportedModel model = import();
  EXPECT_EQ(typeOf(model, "layers.0.in_proj"), "tensor<48x6xbf16>");
  EXPECT_EQ(typeOf(model, "layers.0.out_proj"), "tensor<6x12xf16>");
  EXPECT_EQ(typeOf(model, "layers.0.a_log"), "tensor<4xf32>");
  EXPECT_EQ(typeOf(model, "layers.0.conv"), "tensor<3x32xf32>");
}

TEST_F(Mamba2Test, ConvertsMatricesOnRequest) {
  tiny.tensors["backbone.layers.0.mixer.in_proj.weight"].type = "BF16";
  ImportOptions options;
  options.weightsType = "f32";
  ImportedModel wide = import(options);
  EXPECT_EQ(typeOf(wide, "layers.0.in_proj"), "tensor<48x6xf32>");
  options.weightsType = "bf16";
  ImportedModel narrow = import(options);
  EXPECT_EQ(typeOf(narrow, "embeddings"), "tensor<7x6xbf16>");
  EXPECT_EQ(typeOf(narrow, "layers.0.conv"), "tensor<3x32xf32>");
  EXPECT_EQ(typeOf(narrow, "norm"), "tensor<6xf32>");
  options.weightsType = "f16";
  ImportedModel half = import(options);
  EXPECT_EQ(typeOf(half, "embeddings"), "tensor<7x6xf16>");
}

TEST_F(Mamba2Test, UngroupedNorm) {
  ImportOptions options;
  options.ungroupedNorm = true;
  ImportedModel model = import(options);
  EXPECT_EQ(opsOf<seq::GatedRmsNormOp>(model)[0].getGroups(), 1u);
  // Only the norm: keys and queries keep their groups.
  auto keys = llvm::cast<mlir::RankedTensorType>(
      opsOf<seq::SsdOp>(model)[0].getB().getType());
  EXPECT_EQ(keys.getDimSize(1), 2);
  EXPECT_TRUE(hasRemark(model, "the gated norm takes one mean square over all "
                               "12 channels, as is asked for"));
}

//===----------------------------------------------------------------------===//
// Shapes alone
//===----------------------------------------------------------------------===//

TEST_F(Mamba2Test, ShapesAloneGiveTheSameModule) {
  auto print = [](ImportedModel &model) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    model.module->print(stream);
    return text;
  };
  ImportedModel whole = import();
  std::string expected = print(whole);
  llvm::sys::fs::remove(directory.file("model.safetensors"));
  ImportOptions options;
  options.weights = WeightsNeeded::ShapesOnly;
  ImportedModel shapes =
      llvm::cantFail(importModel(context, directory.path, options));
  EXPECT_EQ(print(shapes), expected);
  EXPECT_FALSE(shapes.checkpoint->hasWeights());
  EXPECT_TRUE(hasRemark(shapes, "tensor 'lm_head.weight' (of the "
                                "configuration's shape) is @lm_head in f32"));
  EXPECT_NE(outcome(importModel(context, directory.path)), "success");
}

TEST_F(Mamba2Test, ShapesAloneHaveTheConfigurationsType) {
  tiny.write(directory);
  llvm::sys::fs::remove(directory.file("model.safetensors"));
  auto typeWith = [&](const char *key, const char *value) {
    TinyMamba2 changed;
    changed.config[key] = value;
    TemporaryDirectory other;
    changed.write(other);
    llvm::sys::fs::remove(other.file("model.safetensors"));
    ImportOptions options;
    options.weights = WeightsNeeded::ShapesOnly;
    ImportedModel model =
        llvm::cantFail(importModel(context, other.path, options));
    return typeOf(model, "embeddings");
  };
  EXPECT_EQ(typeWith("dtype", "\"bfloat16\""), "tensor<7x6xbf16>");
  EXPECT_EQ(typeWith("torch_dtype", "\"float16\""), "tensor<7x6xf16>");
  EXPECT_EQ(typeWith("torch_dtype", "null"), "tensor<7x6xf32>");
  EXPECT_EQ(typeWith("dtype", "\"auto\""), "tensor<7x6xf32>");
}

//===----------------------------------------------------------------------===//
// The head
//===----------------------------------------------------------------------===//

TEST_F(Mamba2Test, TiedHead) {
  tiny.config["tie_word_embeddings"] = "true";
  tiny.tensors.erase("lm_head.weight");
  ImportedModel model = import();
  EXPECT_EQ(typeOf(model, "lm_head"), "none");
  auto head = opsOf<seq::LmHeadOp>(model)[0];
  EXPECT_EQ(head.getWeight().getDefiningOp<seq::ParameterOp>().getWeight(),
            "embeddings");
}

TEST_F(Mamba2Test, TiedHeadThatIsStoredToo) {
  tiny.config["tie_word_embeddings"] = "true";
  tiny.tensors["lm_head.weight"].fill = 1;
  ImportedModel model = import();
  EXPECT_EQ(typeOf(model, "lm_head"), "none");
  EXPECT_TRUE(hasRemark(model, "tensor 'lm_head.weight' is left aside"));
}

// The library ties only what is equal: a head of its own is meant.
TEST_F(Mamba2Test, TiedHeadThatDiffers) {
  tiny.config["tie_word_embeddings"] = "true";
  ImportedModel model = import();
  EXPECT_EQ(typeOf(model, "lm_head"), "tensor<7x6xf32>");
  EXPECT_TRUE(hasRemark(model, "the head is not tied"));
}

TEST_F(Mamba2Test, UntiedHeadIsNeeded) {
  tiny.tensors.erase("lm_head.weight");
  EXPECT_EQ(importing(), "model.safetensors: lacks tensor 'lm_head.weight'");
}

//===----------------------------------------------------------------------===//
// time_step_limit
//===----------------------------------------------------------------------===//

TEST_F(Mamba2Test, TimeStepLimitInEverySpelling) {
  const double none = -1;
  // spelling, dt_min, dt_max
  const std::tuple<const char *, double, double> spellings[] = {
      {"[0.0, Infinity]", none, none},
      {"[0, Infinity]", none, none},
      {R"([0.0, {"__float__": "Infinity"}])", none, none},
      {R"([{"__float__": "Infinity"}, 1])", NAN, NAN},
      {"[0.25, 0.5]", 0.25, 0.5},
      {"[0, 3]", none, 3},
      {"[0.25, Infinity]", 0.25, none},
      {"[0.5, 0.5]", 0.5, 0.5}};
  for (auto [spelling, least, most] : spellings) {
    tiny.config["time_step_limit"] = spelling;
    if (std::isnan(least)) {
      EXPECT_NE(importing(), "success");
      continue;
    }
    ImportedModel model = import();
    seq::SsdOp ssd = opsOf<seq::SsdOp>(model)[0];
    auto valueOf = [](mlir::FloatAttr attribute) {
      return attribute ? attribute.getValueAsDouble() : -1;
    };
    EXPECT_EQ(valueOf(ssd.getDtMinAttr()), least) << spelling;
    EXPECT_EQ(valueOf(ssd.getDtMaxAttr()), most) << spelling;
  }
}

TEST_F(Mamba2Test, TimeStepLimitThatIsNone) {
  auto refusal = [](llvm::StringRef found) {
    return "config.json: expects 'time_step_limit' to be two numbers from 0 on "
           "in ascending order, the first finite, but got " +
           found.str();
  };
  auto importingLimit = [&](const char *value) {
    return importingWith("time_step_limit", value);
  };
  EXPECT_EQ(importingLimit("[0.5, 0.25]"), refusal("0.5 and 0.25"));
  EXPECT_EQ(importingLimit("[-1, 1]"), refusal("-1 and 1"));
  EXPECT_EQ(importingLimit("[0, NaN]"), refusal("0 and NaN"));
  EXPECT_EQ(importingLimit("[NaN, 1]"), refusal("NaN and 1"));
  EXPECT_EQ(importingLimit("[-Infinity, 1]"), refusal("-Infinity and 1"));
  EXPECT_EQ(importingLimit("[0, \"Infinity\"]"), refusal("0 and \"Infinity\""));
  EXPECT_EQ(importingLimit("[0, null]"), refusal("0 and null"));
  EXPECT_EQ(importingLimit("[0]"),
            "config.json: expects 'time_step_limit' to be "
            "an array of 2 numbers, but got an array of 1");
  EXPECT_EQ(importingLimit("0.5"),
            "config.json: expects 'time_step_limit' to be "
            "an array of 2 numbers, but got 0.5");
}

//===----------------------------------------------------------------------===//
// Bad configurations
//===----------------------------------------------------------------------===//

TEST_F(Mamba2Test, DimensionsOutOfRange) {
  for (const char *key : {"hidden_size", "num_heads", "head_dim", "state_size",
                          "num_hidden_layers", "n_groups", "conv_kernel"}) {
    for (const char *value : {"0", "-1", "2147483648", "9223372036854775808",
                              "\"8\"", "8.0", "null", "NaN", "[4]", "{}"}) {
      std::string found = importingWith(key, value);
      EXPECT_EQ(found.find("config.json: expects '" + std::string(key) +
                           "' to be an integer in "),
                0u)
          << found;
    }
  }
  EXPECT_EQ(
      importingWith("num_heads", "\"8\""),
      "config.json: expects 'num_heads' to be an integer in 1..65536, but "
      "got \"8\"");
  EXPECT_EQ(
      importingWith("vocab_size", "0"),
      "config.json: expects 'vocab_size' to be an integer in 1..16777216, "
      "but got 0");
  EXPECT_EQ(importingWith("conv_kernel", "0"),
            "config.json: expects 'conv_kernel' to be an integer in 1..64, but "
            "got 0");
}

TEST_F(Mamba2Test, MissingDimensions) {
  for (const char *key : {"vocab_size", "hidden_size", "num_heads", "head_dim",
                          "state_size", "num_hidden_layers"})
    EXPECT_EQ(importingWithout(key),
              "config.json: lacks '" + std::string(key) + "'");
}

// The defaults of the library; its 8 groups do not divide 4 heads.
TEST_F(Mamba2Test, MissingKeysHaveTheLibrarysDefaults) {
  for (const char *key :
       {"expand", "use_bias", "use_conv_bias", "hidden_act",
        "layer_norm_epsilon", "time_step_limit", "tie_word_embeddings"})
    EXPECT_EQ(importingWithout(key), "success") << key;
  EXPECT_EQ(importingWithout("n_groups"),
            "config.json: expects 'num_heads' to be a multiple of 'n_groups', "
            "but got 4 and 8");
  EXPECT_EQ(importingWithout("conv_kernel"),
            "model.safetensors: expects tensor "
            "'backbone.layers.0.mixer.conv1d.weight' of shape 32x1x4, but got "
            "32x1x3");
}

TEST_F(Mamba2Test, WidthsThatDisagree) {
  EXPECT_EQ(importingWith("expand", "3"),
            "config.json: expects expand * hidden_size to be num_heads * "
            "head_dim = 4 * 3 = 12, but got 3 * 6");
  EXPECT_EQ(importingWith("head_dim", "4"),
            "config.json: expects expand * hidden_size to be num_heads * "
            "head_dim = 4 * 4 = 16, but got 2 * 6");
  EXPECT_EQ(importingWith("n_groups", "3"),
            "config.json: expects 'num_heads' to be a multiple of 'n_groups', "
            "but got 4 and 3");
  EXPECT_EQ(
      importingWith("intermediate_size", "13"),
      "config.json: expects 'intermediate_size' to be num_heads * head_dim "
      "= 12, but got 13");
  EXPECT_EQ(importingWith("intermediate_size", "12"), "success");
  EXPECT_EQ(importingWith("expand", "2.0"), "success");
}

TEST_F(Mamba2Test, NumbersThatAreNone) {
  EXPECT_EQ(importingWith("layer_norm_epsilon", "NaN"),
            "config.json: expects 'layer_norm_epsilon' to be a number in 0..1, "
            "but got NaN");
  EXPECT_EQ(importingWith("layer_norm_epsilon", "-1e-5"),
            "config.json: expects 'layer_norm_epsilon' to be a number in 0..1, "
            "but got -1.0000000000000001e-05");
  EXPECT_EQ(importingWith("expand", "Infinity"),
            "config.json: expects 'expand' to be a number in 0..1024, but got "
            "Infinity");
  EXPECT_EQ(importingWith("use_bias", "\"false\""),
            "config.json: expects 'use_bias' to be true or false, but got "
            "\"false\"");
}

TEST_F(Mamba2Test, Activations) {
  EXPECT_EQ(importingWith("hidden_act", "\"swish\""), "success");
  EXPECT_EQ(importingWith("hidden_act", "\"gelu\""), "success");
  EXPECT_EQ(importingWith("hidden_act", "\"situ\""),
            "config.json: hidden_act 'situ' is not supported; supported: silu, "
            "swish, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, relu, relu2, "
            "sigmoid");
}

TEST_F(Mamba2Test, UnknownKeys) {
  EXPECT_EQ(importingWith("rope_theta", "10000.0"),
            "config.json: unknown key 'rope_theta' is refused: it may change "
            "the model; where nothing depends on it, --allow rope_theta");
  EXPECT_EQ(
      importingWith("quantization_config", "{}"),
      "config.json: 'quantization_config' says that the weights are "
      "quantised, which is not read (what is: auto-round, awq, bitsandbytes, "
      "compressed-tensors, fbgemm_fp8, fp8, gptq, modelopt, mxfp4): take the "
      "unquantised "
      "checkpoint from which this one was made, or write its weights in "
      "bf16, f16 or f32; where they "
      "are so already, --allow quantization_config");
  EXPECT_EQ(importingWith("rms_norm", "false"),
            "config.json: expects 'rms_norm' to be true, but got false");
  EXPECT_EQ(importingWith("auto_map", "{}"),
            "config.json: 'auto_map' names code of the checkpoint's own, which "
            "is not run: where it computes what the public library does, "
            "--allow auto_map");
  EXPECT_EQ(
      importingWith("is_encoder_decoder", "true"),
      "config.json: expects 'is_encoder_decoder' to be false, but got true");
}

TEST_F(Mamba2Test, HarmlessKeys) {
  for (const char *key :
       {"chunk_size", "initializer_range", "rescale_prenorm_residual",
        "residual_in_fp32", "time_step_floor", "time_step_max", "time_step_min",
        "time_step_rank", "norm_before_gate"}) {
    TinyMamba2 kept = tiny;
    tiny.config[key] = "true";
    ImportedModel model = import();
    EXPECT_TRUE(hasRemark(
        model, ("config.json: '" + llvm::Twine(key) + "' is ignored").str()))
        << key;
    tiny = kept;
  }
  for (const char *key : {"transformers_version", "torch_dtype", "dtype",
                          "use_cache", "_name_or_path"})
    EXPECT_EQ(importingWith(key, "\"x\""), "success") << key;
}

TEST_F(Mamba2Test, OtherModels) {
  EXPECT_EQ(importingWith("model_type", "\"bert\"").substr(0, 60),
            "config.json: model_type 'bert' is not supported; supported: ");
  EXPECT_EQ(importingWith("model_type", "7"),
            "config.json: expects 'model_type' to be a string, but got 7");
  EXPECT_EQ(importingWithout("model_type"), "config.json: lacks 'model_type'");
  EXPECT_EQ(importingWith("architectures", "[\"Mamba2Model\"]"),
            "config.json: architecture 'Mamba2Model' is not supported; "
            "supported: Mamba2ForCausalLM");
  EXPECT_EQ(importingWith("architectures", "[]"),
            "config.json: expects 'architectures' to be an array of one name, "
            "but got an array of 0");
  EXPECT_EQ(importingWith("architectures", "null"), "success");
  EXPECT_EQ(importingWithout("architectures"), "success");
}

TEST_F(Mamba2Test, ConfigsThatAreNoJson) {
  tiny.write(directory);
  auto importingConfig = [&](llvm::StringRef text) {
    directory.write("config.json", text);
    return outcome(importModel(context, directory.path));
  };
  EXPECT_EQ(importingConfig("\xef\xbb\xbf{}"),
            "config.json: starts with a byte order mark; expects plain UTF-8");
  EXPECT_EQ(importingConfig("[]"),
            "config.json: expects an object, but got an array of 0");
  EXPECT_EQ(importingConfig(std::string(100'000, '[')),
            "config.json: expects at most 64 levels of nesting, but got more");
  EXPECT_EQ(importingConfig(std::string(size_t(64) << 20, ' ')),
            "config.json: expects at most 16777216 bytes, but got 67108864");
  EXPECT_EQ(importingConfig("").substr(0, 20), "config.json: line 1,");
  llvm::sys::fs::remove(directory.file("config.json"));
  EXPECT_EQ(outcome(importModel(context, directory.path)),
            "cannot open '" + directory.file("config.json") +
                "': no such file or directory");
}

//===----------------------------------------------------------------------===//
// Bad tensors
//===----------------------------------------------------------------------===//

TEST_F(Mamba2Test, MissingTensors) {
  TinyMamba2 whole;
  for (const auto &[name, tensor] : whole.tensors) {
    TinyMamba2 kept = tiny;
    tiny.tensors.erase(name);
    EXPECT_EQ(importing(), "model.safetensors: lacks tensor '" + name + "'");
    tiny = kept;
  }
}

TEST_F(Mamba2Test, TensorsOfAnotherShape) {
  TinyMamba2 whole;
  for (const auto &[name, tensor] : whole.tensors) {
    TinyMamba2 kept = tiny;
    tiny.tensors[name].shape.back() += 1;
    EXPECT_EQ(importing().find("model.safetensors: expects tensor '" + name +
                               "' of shape "),
              0u);
    tiny = kept;
  }
  // The transpose has as many elements.
  tiny.tensors["backbone.layers.0.mixer.in_proj.weight"].shape = {6, 48};
  EXPECT_EQ(importing(), "model.safetensors: expects tensor "
                         "'backbone.layers.0.mixer.in_proj.weight' of shape "
                         "48x6, but got 6x48");
}

TEST_F(Mamba2Test, TensorsOfAnotherType) {
  tiny.tensors["backbone.layers.0.mixer.D"].type = "I16";
  EXPECT_EQ(importing(),
            "model.safetensors: expects tensor 'backbone.layers.0.mixer.D' of "
            "F32, BF16 or F16, but got I16");
  tiny.tensors["backbone.layers.0.mixer.D"].type = "F64";
  EXPECT_EQ(importing(),
            "model.safetensors: expects tensor 'backbone.layers.0.mixer.D' of "
            "F32, BF16 or F16, but got F64");
}

TEST_F(Mamba2Test, TensorsWithoutAPlace) {
  tiny.tensors["backbone.layers.1.norm.weight"] = {"F32", {6}};
  EXPECT_EQ(importing(), "model.safetensors: tensor "
                         "'backbone.layers.1.norm.weight' has no place in the "
                         "model");
}
