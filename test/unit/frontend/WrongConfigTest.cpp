// Every recorded checkpoint of each family, spoiled one part at a time: every
// number, string, list and tensor of it in turn. What is wrong is refused by
// one line that names it and says what was found; what the importer accepts all
// the same, it says in a remark that it ignores.
#include "frontend/Import.h"
#include "frontend/checkpoint/Json.h"
#include "test/unit/frontend/Outcome.h"
#include "test/unit/frontend/TemporaryDirectory.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace effc::frontend;
using namespace effc::test;
using nlohmann::json;

namespace {

std::string readAll(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class WrongConfigTest : public testing::TestWithParam<std::string> {
protected:
  std::string golden = EFFC_GOLDENS "/families/" + GetParam();

  WrongConfigTest() {
    config = json::parse(readAll(golden + "/config.json"));
    std::string file = readAll(golden + "/model.safetensors");
    uint64_t size = 0;
    std::memcpy(&size, file.data(), 8);
    header = json::parse(file.substr(8, size));
    header.erase("__metadata__");
    data = file.substr(8 + size);
    directory.write("config.json", config.dump());
    directory.write("model.safetensors", file);
  }

  /// "success", or why the directory cannot be imported; `remarks` is what was
  /// said.
  std::string import() {
    auto model = importModel(context, directory.path);
    remarks.clear();
    if (!model)
      return outcome(model.takeError());
    for (const std::string &remark : model->remarks)
      remarks += remark + "\n";
    return "success";
  }

  std::string importWith(const json &changed) {
    directory.write("config.json", changed.dump());
    return import();
  }

  void writeTensors(const json &changed, const std::string &more = "") {
    std::string text = changed.dump(), file(8, '\0');
    uint64_t size = text.size();
    std::memcpy(file.data(), &size, 8);
    directory.write("model.safetensors", file + text + data + more);
  }

  /// Expects `value` for the leaf at `at` to be refused by its name, or to be
  /// named as ignored.
  void expectRefused(const json::json_pointer &at, const json &value,
                     const std::string &found) {
    json changed = config;
    changed[at] = value;
    // What a method is is told of the object that names one.
    std::string key =
        at.back() == "quant_method" ? at.parent_pointer().back() : at.back();
    std::string quoted = "'" + key + "'";
    std::string result = importWith(changed);
    if (result == "success")
      EXPECT_NE(remarks.find(quoted + " is ignored"), std::string::npos)
          << at << " = " << value << " is neither refused nor ignored";
    else
      EXPECT_TRUE(result.find(key) != std::string::npos &&
                  result.find(found) != std::string::npos)
          << at << " = " << value << ": " << result;
  }

  /// The tensors that are no buffers, which are left aside whatever they are.
  std::vector<std::string> readTensors() {
    EXPECT_EQ(import(), "success");
    std::vector<std::string> names;
    for (const auto &[name, entry] : header.items())
      if (remarks.find("tensor '" + name + "' is left aside") ==
          std::string::npos)
        names.push_back(name);
    return names;
  }

  mlir::MLIRContext context;
  TemporaryDirectory directory;
  json config, header;
  std::string data, remarks;
};

/// Bookkeeping, which has no meaning for the model.
bool isBookkeeping(const std::string &key) {
  constexpr const char *kKeys[] = {
      "dtype",     "torch_dtype",   "transformers_version",
      "use_cache", "architectures", "model_type",
      "auto_map"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

/// The places of all numbers, strings and booleans, in objects of lists too,
/// but not in lists themselves.
std::vector<json::json_pointer>
leavesOf(const json &object,
         const json::json_pointer &at = json::json_pointer()) {
  std::vector<json::json_pointer> leaves;
  for (const auto &[key, value] : object.items()) {
    if (isBookkeeping(key) || key == "vision_config")
      continue;
    if (value.is_object()) {
      for (const auto &leaf : leavesOf(value, at / key))
        leaves.push_back(leaf);
    } else if (value.is_array()) {
      for (size_t i = 0; i < value.size(); ++i)
        if (value[i].is_object())
          for (const auto &leaf : leavesOf(value[i], at / key / i))
            leaves.push_back(leaf);
    } else if (!value.is_null()) {
      leaves.push_back(at / key);
    }
  }
  return leaves;
}

} // namespace

// Every tensor is told of: which weight it is, or why it is none.
TEST_P(WrongConfigTest, IsRightAsItIs) {
  EXPECT_EQ(import(), "success");
  for (const auto &[name, entry] : header.items())
    EXPECT_NE(remarks.find("tensor '" + name + "'"), std::string::npos) << name;
}

// The same model as two files, which hold every other tensor.
TEST_P(WrongConfigTest, IsRightInShards) {
  json headers[2] = {json::object(), json::object()}, index;
  std::string shards[2];
  size_t next = 0;
  for (const auto &[name, entry] : header.items()) {
    uint64_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    std::string &shard = shards[next % 2];
    json moved = entry;
    moved["data_offsets"] = {shard.size(), shard.size() + (end - begin)};
    shard += data.substr(begin, end - begin);
    headers[next % 2][name] = moved;
    index["weight_map"][name] =
        "model-" + std::to_string(next % 2) + ".safetensors";
    ++next;
  }
  std::filesystem::remove(directory.path + "/model.safetensors");
  for (int i = 0; i < 2; ++i) {
    std::string text = headers[i].dump(), file(8, '\0');
    uint64_t size = text.size();
    std::memcpy(file.data(), &size, 8);
    directory.write("model-" + std::to_string(i) + ".safetensors",
                    file + text + shards[i]);
  }
  directory.write("model.safetensors.index.json", index.dump());
  EXPECT_EQ(import(), "success");
}

TEST_P(WrongConfigTest, NumbersBelowAndAboveTheirRange) {
  for (const auto &leaf : leavesOf(config)) {
    if (!config[leaf].is_number())
      continue;
    // Any number may stand in place of a weight, and logarithms have bounds
    // below 0.
    if (leaf.back() != "value" && leaf.back() != "clamp_min")
      expectRefused(leaf, -7, "-7");
    if (config[leaf].is_number_integer())
      expectRefused(leaf, int64_t(1) << 60, std::to_string(int64_t(1) << 60));
    expectRefused(leaf, "seven", "seven");
  }
}

// What counts something is not 0, but for the layers before windows begin,
// those that guess further tokens or have no experts, the channels that turn
// and experts that there may be none of, and a branch of a window beside others.
TEST_P(WrongConfigTest, SizesOfZero) {
  for (const auto &leaf : leavesOf(config)) {
    std::string key = leaf.back();
    bool counts = false;
    for (const char *end : {"_size", "_heads", "_layers", "_dim", "_layer"})
      counts |= key.ends_with(end) && key != "max_window_layers" &&
                key != "num_nextn_predict_layers" &&
                key != "num_dense_layers" && key != "num_kv_shared_layers" &&
                key != "rotary_emb_dim" && key != "shared_intermediate_size" &&
                !(key == "window_size" && config["model_type"] == "nsa");
    if (counts && config[leaf].is_number_integer())
      expectRefused(leaf, 0, "0");
  }
}

TEST_P(WrongConfigTest, StringsAndBooleansOfOtherKinds) {
  for (const auto &leaf : leavesOf(config)) {
    if (config[leaf].is_string())
      expectRefused(leaf, "nonsense", "nonsense");
    if (!config[leaf].is_boolean())
      continue;
    // A text is no truth value, not even the word.
    for (const std::string text : {"nonsense", "true", "false"})
      expectRefused(leaf, text, text);
  }
}

TEST_P(WrongConfigTest, ListsOfOtherLengths) {
  for (const auto &[key, value] : config.items()) {
    if (!value.is_array() || value.empty() || isBookkeeping(key) ||
        key == "eos_token_id")
      continue;
    // A period and a list of exceptions are right at any length: then tensors
    // are missing, or are those of another kind of layers.
    bool other = key == "attn_layer_idx";
    bool period = key == "attn_layer_indices" || key == "block_types" ||
                  key == "mlp_only_layers" || other ||
                  (key == "full_attn_idxs" && !config.contains("layer_types"));
    json changed = config;
    changed[key].erase(changed[key].size() - 1);
    std::string result = importWith(changed);
    if (remarks.find("'" + key + "' is ignored") != std::string::npos)
      continue;
    // Of kinds that alone say how many layers there are, one more is stored.
    bool ends =
        key == "layers_block_type" && !config.contains("hybrid_layer_ids") &&
        config["model_type"] != "zamba" && config["model_type"] != "zamba2";
    std::string told = other    ? "expects tensor"
                       : period ? "lacks tensor"
                       : ends   ? "has no place in the model"
                                : "'" + key + "'";
    EXPECT_NE(result.find(told), std::string::npos) << result;
    // What counts kinds of layers counts them as often as they come.
    bool counts = !period && !ends && key != "attention_types";
    EXPECT_TRUE(!counts || result.find(std::to_string(value.size() - 1)) !=
                               std::string::npos)
        << result;
  }
}

TEST_P(WrongConfigTest, UnknownKey) {
  json changed = config;
  changed["a_new_idea"] = true;
  EXPECT_EQ(importWith(changed),
            "config.json: unknown key 'a_new_idea' is refused: it may change "
            "the model; where nothing depends on it, --allow a_new_idea");
}

TEST_P(WrongConfigTest, HeadsThatDoNotDivide) {
  if (!config.contains("num_key_value_heads"))
    return;
  json changed = config;
  int64_t heads = config["num_attention_heads"];
  changed["num_key_value_heads"] = heads + 1;
  std::string result = importWith(changed);
  EXPECT_NE(result.find("'num_attention_heads' to be a multiple of "
                        "'num_key_value_heads' " +
                        std::to_string(heads + 1) + ", but got " +
                        std::to_string(heads)),
            std::string::npos)
      << result;
}

TEST_P(WrongConfigTest, MissingTensors) {
  for (const std::string &name : readTensors()) {
    json changed = header, entry = header[name];
    // Under another name, so that no byte is without an owner.
    changed["renamed"] = entry;
    changed.erase(name);
    writeTensors(changed);
    std::string result = import();
    EXPECT_NE(result.find("'" + name + "'"), std::string::npos)
        << name << ": " << result;
  }
}

TEST_P(WrongConfigTest, SuperfluousTensor) {
  json changed = header;
  changed["extra.weight"] = {{"dtype", "F32"},
                             {"shape", {1}},
                             {"data_offsets", {data.size(), data.size() + 4}}};
  writeTensors(changed, std::string(4, '\0'));
  EXPECT_NE(import().find("'extra.weight'"), std::string::npos);
}

// One row more, and whole numbers of the same size.
TEST_P(WrongConfigTest, TensorsOfOtherShapesAndTypes) {
  for (const std::string &name : readTensors()) {
    const json entry = header[name];
    uint64_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    json changed = header;
    uint64_t rows = entry["shape"][0];
    changed[name]["shape"][0] = rows + 1;
    std::string more =
        data.substr(begin, end - begin) + std::string((end - begin) / rows, 1);
    changed[name]["data_offsets"] = {data.size(), data.size() + more.size()};
    // What it left is filled, since every byte has an owner.
    changed["filler"] = entry;
    writeTensors(changed, more);
    std::string result = import();
    EXPECT_NE(result.find("'" + name + "'"), std::string::npos)
        << name << ": " << result;
    changed = header;
    std::string type = entry["dtype"];
    changed[name]["dtype"] = type == "F32"  ? "I32"
                             : type == "U8" ? "I8"
                                            : "I16";
    writeTensors(changed);
    result = import();
    EXPECT_NE(result.find("'" + name + "'"), std::string::npos)
        << name << ": " << result;
    EXPECT_NE(result.find("but got I"), std::string::npos) << result;
  }
}

/// All cases, "family/case".
static std::vector<std::string> allCases() {
  std::vector<std::string> names;
  std::filesystem::path root = EFFC_GOLDENS "/families";
  for (const auto &family : std::filesystem::directory_iterator(root))
    for (const auto &entry : std::filesystem::directory_iterator(family.path()))
      names.push_back(std::filesystem::relative(entry.path(), root).string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Families, WrongConfigTest,
                         testing::ValuesIn(allCases()), [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });
