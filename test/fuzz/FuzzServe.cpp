// Any bytes as the body of a request, the first byte chooses of which: refused with
// one line for a client, or read within the bounds that a server has.
#include "test/unit/runtime/toy/ToyArtifact.h"
#include "tools/effc-serve/api/Requests.h"

#include <cstdlib>

using namespace effc;
using namespace effc::serve;

static const ServedModel &toy() {
  static test::TemporaryFile file = [] {
    test::ToyOptions options;
    options.changeTokenizer = [](artifact::TokenizerT &table) {
      test::addChatTemplate(table, "default",
                            "{% for m in messages %}[{{ m.role }}] "
                            "{{ m.content }}\n{% endfor %}");
    };
    return test::TemporaryFile(test::makeToyArtifact(options));
  }();
  static const ServedModel model = [] {
    ModelSettings settings;
    settings.device.name = "host";
    settings.device.threads = 1;
    return ServedModel("toy", file.path(), settings);
  }();
  return model;
}

static void checkAsked(const Asked &asked) {
  if (asked.plan.prompts.empty() || asked.plan.choices < 1 ||
      asked.plan.choices > 128 || asked.plan.stops.size() > 32 ||
      asked.plan.biases.size() > 1024 ||
      asked.plan.maxTokens > toy().mostNewTokens() ||
      !(asked.plan.sampling.temperature >= 0))
    std::abort();
  for (const auto &prompt : asked.plan.prompts)
    for (int32_t token : prompt)
      if (token < 0 || token >= int32_t(test::kToyVocabulary))
        std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string body(reinterpret_cast<const char *>(data) + 1, size - 1);
  try {
    nlohmann::ordered_json parsed = parseBody(body);
    switch (data[0] % 5) {
    case 0:
      checkAsked(readCompletion(parsed, toy(), /*session=*/nullptr));
      break;
    case 1:
      checkAsked(readChat(parsed, toy()));
      break;
    case 2:
      answerTokenize(parsed, toy());
      break;
    case 3:
      answerDetokenize(parsed, toy());
      break;
    default:
      answerApplyTemplate(parsed, toy());
    }
  } catch (const ApiError &error) {
    nlohmann::json told = nlohmann::json::parse(error.body());
    if (error.status != 400 || told["error"]["message"].empty())
      std::abort();
  } catch (const Error &error) { // of the model: told as a refusal
    if (apiErrorOf(error).status >= 500)
      std::abort();
  }
  return 0;
}
