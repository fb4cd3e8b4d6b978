// Holds an artifact's tokenizer against recorded cases of the public library:
//
//   effc-test-tokenizer-cases CASES.json FILE.effc
//
// CASES.json has "encode": [{text, ids, decoded, decoded_without_special}] and
// "decode": [{ids, decoded, decoded_without_special}]. Every id and every byte
// must agree; so must text that is streamed token by token. Prints each case
// that does not, at most 20; status 1 then.

#include "runtime/include/effc/effc.hpp"

#include <cstdio>
#include <exception>
#include <fstream>
#include <nlohmann/json.hpp>

using nlohmann::json;
using Tokens = std::vector<int32_t>;

namespace {
class Cases {
public:
  explicit Cases(const std::string &artifact) : model(artifact) {}

  void encode(const json &one) {
    std::string text = one["text"];
    expect("ids of", one["text"], one["ids"], json(model.tokenize(text)));
    decode(one);
  }

  void decode(const json &one) {
    Tokens ids = one["ids"];
    if (one.contains("decoded"))
      expectText(one, "decoded", 0, ids);
    if (one.contains("decoded_without_special"))
      expectText(one, "decoded_without_special", EFFC_DETOKENIZE_SKIP_SPECIAL,
                 ids);
  }

  size_t checks = 0, failures = 0;

private:
  void expectText(const json &one, const char *key, uint32_t flags,
                  const Tokens &ids) {
    expect(key, one["ids"], one[key], model.detokenize(ids, flags));
    effc::Detokenizer stream(model, flags);
    std::string text;
    for (int32_t id : ids)
      text += stream.push(id);
    text += stream.finish();
    expect("stream of", one["ids"], one[key], text);
  }

  void expect(const char *what, const json &of, const json &expected,
              const json &got) {
    ++checks;
    if (expected == got)
      return;
    if (++failures <= 20)
      std::printf("%s %s\n  expected %s\n  got      %s\n", what,
                  show(of).c_str(), show(expected).c_str(), show(got).c_str());
  }

  static std::string show(const json &value) {
    return value.dump(-1, ' ', true, json::error_handler_t::replace)
        .substr(0, 400);
  }

  effc::Model model;
};
} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: effc-test-tokenizer-cases CASES.json FILE.effc\n");
    return 2;
  }
  try {
    json file = json::parse(std::ifstream(argv[1]));
    Cases cases(argv[2]);
    for (const json &one : file["encode"])
      cases.encode(one);
    for (const json &one : file["decode"])
      cases.decode(one);
    std::printf("%zu checks, %zu failures\n", cases.checks, cases.failures);
    return cases.failures == 0 && cases.checks > 0 ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "effc-test-tokenizer-cases: error: %s\n",
                 error.what());
    return 1;
  }
}
