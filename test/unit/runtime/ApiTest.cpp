// The C border itself: statuses, sized structs, ownership, text in and out.

#include "runtime/include/effc/effc.hpp"
#include "test/unit/runtime/toy/ToyArtifact.h"

#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace effc;
using namespace effc::test;

static TemporaryFile &toyFile() {
  static TemporaryFile file(makeToyArtifact());
  return file;
}

TEST(Api, NullIsAGoodStatus) {
  EXPECT_EQ(effc_status_code(nullptr), EFFC_OK);
  EXPECT_STREQ(effc_status_message(nullptr), "");
  effc_status_free(nullptr);
}

TEST(Api, FreeingNothingDoesNothing) {
  effc_model_free(nullptr);
  effc_device_free(nullptr);
  effc_engine_free(nullptr);
  effc_session_free(nullptr);
  effc_sampler_free(nullptr);
  effc_detokenizer_free(nullptr);
}

TEST(Api, FailureWritesNoOutParameter) {
  effc_model_t *model = reinterpret_cast<effc_model_t *>(8);
  effc_status_t *status = effc_model_load("/nonexistent", &model);
  EXPECT_EQ(effc_status_code(status), EFFC_IO_ERROR);
  EXPECT_EQ(model, reinterpret_cast<effc_model_t *>(8));
  effc_status_free(status);
}

TEST(Api, ObjectsMayBeFreedInAnyOrder) {
  effc_model_t *model = nullptr;
  effc_device_t *device = nullptr;
  effc_engine_t *engine = nullptr;
  effc_session_t *session = nullptr;
  check(effc_model_load(toyFile().path().c_str(), &model));
  check(effc_device_create_host(nullptr, &device));
  check(effc_engine_create(model, device, nullptr, &engine));
  check(effc_session_create(engine, &session));
  effc_model_free(model);
  effc_device_free(device);
  effc_session_reset(session);
  float logits[kToyVocabulary];
  int32_t token = 3;
  check(effc_engine_decode(engine, &session, &token, 1, logits));
  effc_engine_free(engine);
  EXPECT_EQ(effc_session_position(session), 1u);
  effc_session_free(session);
}

TEST(Api, InnerValuesSayWhereTheyLie) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &program) {
    program.hidden_width = kToyVocabulary;
    for (std::vector<uint32_t> shape :
         {std::vector<uint32_t>{2, 100}, {kToyVocabulary - 200}}) {
      auto tap = std::make_unique<artifact::TapT>();
      tap->name = "v" + std::to_string(program.taps.size());
      tap->shape = std::move(shape);
      program.taps.push_back(std::move(tap));
    }
  };
  TemporaryFile file(makeToyArtifact(options));
  Model model(file.path());
  std::vector<effc_tap_t> taps = model.taps();
  ASSERT_EQ(taps.size(), 2u);
  EXPECT_STREQ(taps[0].name, "v0");
  EXPECT_EQ(taps[0].first, 0u);
  EXPECT_EQ(taps[0].count, 200u);
  ASSERT_EQ(taps[0].rank, 2u);
  EXPECT_EQ(taps[0].shape[0], 2u);
  EXPECT_EQ(taps[0].shape[1], 100u);
  EXPECT_STREQ(taps[1].name, "v1");
  EXPECT_EQ(taps[1].first, 200u);
  EXPECT_EQ(taps[1].count, kToyVocabulary - 200);
  EXPECT_EQ(taps[1].rank, 1u);
  effc_tap_t none = {};
  none.size = sizeof none;
  EXPECT_THROW(check(effc_model_tap(model.get(), 2, &none)), Error);
  EXPECT_TRUE(Model(toyFile().path()).taps().empty());
}

// A caller compiled against an older header passes a smaller struct, one
// compiled against a newer header a larger one.
TEST(Api, StructsMayBeSmallerOrLarger) {
  Model model(toyFile().path());
  effc_memory_t memory;
  std::memset(&memory, 0x55, sizeof memory);
  memory.size = offsetof(effc_memory_t, arena);
  effc_model_memory(model.get(), &memory);
  EXPECT_EQ(memory.size, offsetof(effc_memory_t, arena));
  EXPECT_EQ(memory.per_session, kToySlotBytes);
  EXPECT_EQ(memory.arena, 0x5555555555555555u);

  struct {
    effc_host_options_t options;
    uint64_t future;
  } larger = {effc_host_options_default(), 0};
  larger.options.size = sizeof larger;
  larger.options.threads = 1;
  effc_device_t *device = nullptr;
  check(effc_device_create_host(&larger.options, &device));
  EXPECT_NE(std::strstr(effc_device_description(device), "1 thread)"), nullptr);
  effc_device_free(device);
}

static effc_status_code_t codeOf(effc_status_t *status) {
  effc_status_code_t code = effc_status_code(status);
  effc_status_free(status);
  return code;
}

// A size nobody set, and a field of a later version that asks for something.
TEST(Api, OptionsThatCannotBeReadAreRefused) {
  effc_device_t *device = nullptr;
  effc_host_options_t options = effc_host_options_default();
  for (size_t size : {size_t(0), sizeof(size_t) - 1, size_t(4097), SIZE_MAX}) {
    options.size = size;
    EXPECT_EQ(codeOf(effc_device_create_host(&options, &device)),
              EFFC_INVALID_ARGUMENT)
        << size;
  }
  struct {
    effc_sampler_options_t options;
    uint64_t future;
  } larger = {effc_sampler_options_default(), uint64_t(1) << 63};
  larger.options.size = sizeof larger;
  effc_sampler_t *sampler = nullptr;
  EXPECT_EQ(codeOf(effc_sampler_create(&larger.options, 7, &sampler)),
            EFFC_INVALID_ARGUMENT);
  EXPECT_EQ(device, nullptr);
  EXPECT_EQ(sampler, nullptr);
}

TEST(Api, NullIsNoTextOfASize) {
  Model model(toyFile().path());
  size_t count = 77;
  int32_t token = 'a';
  char letter;
  EXPECT_EQ(codeOf(effc_model_tokenize(model.get(), nullptr, 64, 0, &token, 1,
                                       &count)),
            EFFC_INVALID_ARGUMENT);
  EXPECT_EQ(
      codeOf(effc_model_tokenize(model.get(), "ab", 2, 0, nullptr, 5, &count)),
      EFFC_INVALID_ARGUMENT);
  EXPECT_EQ(codeOf(effc_model_detokenize(model.get(), nullptr, 3, 0, &letter, 1,
                                         &count)),
            EFFC_INVALID_ARGUMENT);
  EXPECT_EQ(codeOf(effc_model_detokenize(model.get(), &token, 1, 0, nullptr, 5,
                                         &count)),
            EFFC_INVALID_ARGUMENT);
  EXPECT_EQ(count, 77u);
}

// Sixteen thousand sequences of 4 GiB each, which no machine holds.
TEST(Api, AnEngineBeyondTheMachinesMemoryIsRefused) {
  ToyOptions toy;
  toy.changeProgram = [](artifact::ProgramT &p) {
    p.slot_bytes = uint64_t(4) << 30;
    p.states.pop_back();
    p.states[0]->slot_offset = 0;
    p.states[0]->size = p.slot_bytes;
    p.states[0]->shape = {p.slot_bytes / sizeof(float)};
    for (auto &entry : p.entries)
      entry->launches[1]->operands[2] = entry->launches[1]->operands[1];
    stateExtents(p);
  };
  TemporaryFile file(makeToyArtifact(toy));
  Model model(file.path());
  Device device = Device::host(1);
  effc_engine_options_t options = effc_engine_options_default();
  options.max_sessions = 1 << 14;
  effc_engine_t *engine = nullptr;
  effc_status_t *status =
      effc_engine_create(model.get(), device.get(), &options, &engine);
  EXPECT_EQ(effc_status_code(status), EFFC_OUT_OF_MEMORY);
  EXPECT_NE(std::strstr(effc_status_message(status), "the system has"), nullptr)
      << effc_status_message(status);
  effc_status_free(status);
  EXPECT_EQ(engine, nullptr);
}

TEST(Api, AnswersQuestionsAboutTheModel) {
  Model model(toyFile().path());
  EXPECT_EQ(model.vocabularySize(), kToyVocabulary);
  EXPECT_EQ(model.maxContext(), 0u);
  EXPECT_TRUE(model.hasTokenizer());
  EXPECT_EQ(model.generation().eos_count, 1u);
  EXPECT_EQ(model.generation().eos[0], kToyEnd);
  EXPECT_FALSE(model.generation().do_sample);
  ASSERT_EQ(model.states().size(), 2u);
  EXPECT_STREQ(model.states()[0].name, "sum");
  EXPECT_STREQ(model.states()[0].kind, "sum");
  EXPECT_STREQ(model.states()[1].type, "i64");
  EXPECT_EQ(model.states()[0].shape[0], 3u);
  ASSERT_EQ(model.entries().size(), 5u);
  EXPECT_STREQ(model.entries()[1].name, "prefill_16");
  EXPECT_EQ(model.entries()[1].chunk, 4u);
  EXPECT_EQ(model.entries()[2].kind, EFFC_DECODE);
  // 64 + 16 rows of 16 bytes; 16 rows of 271 f32; two weights of 271 * 64.
  EXPECT_EQ(model.memory().arena, 64u + 16 * 16);
  EXPECT_EQ(model.memory().logits, 16u * 271 * 4);
  EXPECT_EQ(model.memory().weights, 2u * 271 * 64);
  effc_state_info_t state = {};
  state.size = sizeof state;
  effc_status_t *status = effc_model_state(model.get(), 2, &state);
  EXPECT_STREQ(effc_status_message(status), "state 2 of 2 is asked for");
  effc_status_free(status);
}

TEST(Api, DescribesTheModelAsJson) {
  auto json = nlohmann::json::parse(Model(toyFile().path()).describe());
  EXPECT_EQ(json["format"]["major"], 1);
  EXPECT_EQ(json["vocabulary_size"], kToyVocabulary);
  EXPECT_EQ(json["layout_id"], "0123456789abcdef");
  EXPECT_EQ(json["segments"][0]["kind"], "host_code");
  EXPECT_EQ(json["kernels"][1]["name"], "toy_scan");
  EXPECT_EQ(json["kernels"][1]["launches"], 5);
  EXPECT_EQ(json["generation"]["eos"][0], kToyEnd);
  EXPECT_EQ(json["provenance"]["options"][0], "--target=host");
  EXPECT_EQ(json["weights"][1]["type"], "bf16");
}

// Names come from a file and may hold anything.
TEST(Api, DescriptionIsValidJsonWhateverTheNames) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    p.kernels[0]->name = "a\"\\\n\t\x01\xFFz";
    p.states[0]->neutral = -INFINITY;
  };
  TemporaryFile file(makeToyArtifact(options));
  auto json = nlohmann::json::parse(Model(file.path()).describe());
  EXPECT_EQ(json["kernels"][0]["name"], "a\"\\\n\t\x01\xEF\xBF\xBDz");
  EXPECT_TRUE(json["states"][0]["neutral"].is_null());
}

TEST(Api, TokenizesIntoTheCallersMemory) {
  Model model(toyFile().path());
  int32_t tokens[3] = {-7, -7, -7};
  size_t count = 0;
  check(effc_model_tokenize(model.get(), "abcd", 4, 0, tokens, 2, &count));
  EXPECT_EQ(count, 4u);
  EXPECT_EQ(tokens[1], 'b');
  EXPECT_EQ(tokens[2], -7);
  check(effc_model_tokenize(model.get(), nullptr, 0, 0, nullptr, 0, &count));
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(model.detokenize(model.tokenize("hello <|end|>word")),
            "hello <|end|>word");
  EXPECT_EQ(model.detokenize({kToyEnd, 'a'}, EFFC_DETOKENIZE_SKIP_SPECIAL),
            "a");
  EXPECT_EQ(model.detokenize({0xC3}), "\xEF\xBF\xBD");
  EXPECT_THROW(model.detokenize({-1}), Error);
}

TEST(Api, StreamsWholeCharacters) {
  Model model(toyFile().path());
  Detokenizer stream(model);
  EXPECT_EQ(stream.push('a'), "a");
  EXPECT_EQ(stream.push(0xE2), "");
  EXPECT_EQ(stream.push(0x82), "");
  EXPECT_EQ(stream.push(0xAC), "\xE2\x82\xAC");
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD");
}

TEST(Api, SaysWhenThereIsNoTokenizer) {
  ToyOptions options;
  options.withTokenizer = false;
  TemporaryFile file(makeToyArtifact(options));
  Model model(file.path());
  EXPECT_FALSE(model.hasTokenizer());
  try {
    model.tokenize("a");
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), EFFC_UNSUPPORTED);
    EXPECT_STREQ(error.what(), "the model has no tokenizer; use token ids");
  }
}

TEST(Api, HeadersAndLibraryHaveOneVersion) {
  EXPECT_EQ(std::string(effc_version()),
            std::to_string(EFFC_VERSION_MAJOR) + "." +
                std::to_string(EFFC_VERSION_MINOR) + "." +
                std::to_string(EFFC_VERSION_PATCH));
}

TEST(Api, SamplerTakesTheModelsDefaults) {
  ToyOptions options;
  options.changeProgram = [](artifact::ProgramT &p) {
    p.generation->do_sample = true;
    p.generation->temperature = 0.5f;
    p.generation->top_k = 7;
    p.generation->top_p = 0.25f;
    p.generation->min_p = 0.125f;
    p.generation->repeat_penalty = 1.5f;
    p.generation->stops = {"one", "two"};
  };
  TemporaryFile file(makeToyArtifact(options));
  EXPECT_EQ(Model(file.path()).stops(),
            (std::vector<std::string>{"one", "two"}));
  effc_sampler_options_t sampling =
      effc_sampler_options_for_model(Model(file.path()).get());
  EXPECT_EQ(sampling.temperature, 0.5f);
  EXPECT_EQ(sampling.top_k, 7u);
  EXPECT_EQ(sampling.top_p, 0.25f);
  EXPECT_EQ(sampling.min_p, 0.125f);
  EXPECT_EQ(sampling.repeat_penalty, 1.5f);
  EXPECT_EQ(
      effc_sampler_options_for_model(Model(toyFile().path()).get()).temperature,
      0);
}

TEST(Api, ShowsSegmentsAndWeights) {
  Model model(toyFile().path());
  auto segments = model.segments();
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_STREQ(segments[0].kind, "host_code");
  EXPECT_STREQ(segments[0].isa, kToyIsa);
  EXPECT_STREQ(segments[1].kind, "weights");
  EXPECT_STREQ(segments[2].kind, "tokenizer");
  auto weights = model.weights();
  ASSERT_EQ(weights.size(), 2u);
  EXPECT_STREQ(weights[0].name, "embeddings");
  EXPECT_STREQ(weights[0].type, "f32");
  EXPECT_STREQ(weights[1].type, "bf16");
  EXPECT_EQ(weights[1].rank, 2u);
  EXPECT_EQ(weights[1].shape[0], kToyVocabulary);
  EXPECT_EQ(weights[1].shape[1], kToyChannels);
  EXPECT_EQ(weights[1].row_stride_bytes, 64u);
  // The first weight starts its segment, the second follows its rows.
  EXPECT_EQ(weights[0].data, segments[1].data);
  EXPECT_EQ(weights[1].data, segments[1].data + 64 * kToyVocabulary);
  effc_weight_info_t weight = {};
  weight.size = sizeof weight;
  effc_status_t *status = effc_model_weight(model.get(), 2, &weight);
  EXPECT_STREQ(effc_status_message(status), "weight 2 of 2 is asked for");
  effc_status_free(status);
}

TEST(Api, ADeviceTellsItsThreads) { EXPECT_EQ(Device::host(3).threads(), 3u); }
