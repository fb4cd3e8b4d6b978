// Any text as config.json, in each layout that is read: refused with one line,
// or dimensions that fit together and can be multiplied.
#include "frontend/Generation.h"
#include "frontend/families/Mamba2Config.h"

using namespace effc::frontend;

constexpr int64_t kMostVocabulary = int64_t(1) << 24;

static int64_t readPlainVocabulary(ConfigReader &reader, int64_t most) {
  return reader.requireInteger("vocab_size", 1, most);
}

static void expectOneLine(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  if (text.empty() || text.find('\n') != std::string::npos)
    __builtin_trap();
}

static void checkConfig(const Mamba2Config &config) {
  auto within = [](int64_t value, int64_t most) {
    if (value < 1 || value > most)
      __builtin_trap();
  };
  within(config.vocabulary, kMostVocabulary);
  within(config.layers, kMostMamba2Layers);
  for (int64_t value : {config.width, config.heads, config.values, config.keys,
                        config.groups, config.taps})
    within(value, kMostMamba2Dimension);
  // 2^32 inner channels, and as many of all keys, at most.
  within(config.projected(), int64_t(1) << 36);
  if (config.heads % config.groups != 0 || !(config.dtMin <= config.dtMax) ||
      !(config.epsilon >= 0 && config.epsilon <= 1) || config.table.empty())
    __builtin_trap();
}

static void readAs(const JsonObject &object,
                   int64_t (*readVocabulary)(ConfigReader &, int64_t),
                   llvm::Expected<Mamba2Config> (*read)(ConfigReader &, int64_t,
                                                        Remarks &)) {
  ConfigReader reader("f", object);
  Remarks remarks;
  int64_t vocabulary = readVocabulary(reader, kMostVocabulary);
  if (reader.hasProblem())
    return expectOneLine(reader.getProblem());
  // There is no such directory, hence no generation_config.json.
  auto generation = readGeneration(reader, "/nonexistent", vocabulary, remarks);
  if (!generation)
    return expectOneLine(generation.takeError());
  for (int32_t token : generation->eos)
    if (token < 0 || token >= vocabulary)
      __builtin_trap();
  auto config = read(reader, vocabulary, remarks);
  if (!config)
    return expectOneLine(config.takeError());
  checkConfig(*config);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  auto value = parseJson(text, "f");
  if (!value) {
    expectOneLine(value.takeError());
    return 0;
  }
  if (const JsonObject *object = value->getObject()) {
    readAs(*object, readPlainVocabulary, readMamba2Config);
    readAs(*object, readMambaSsmVocabulary, readMambaSsmConfig);
  }
  return 0;
}
