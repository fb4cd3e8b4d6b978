// Any bytes as GBNF and, behind a zero byte, as choices of tokens: refused with one
// line, or a grammar whose masks leave tokens that can be taken.
#include "runtime/src/grammar/GbnfReader.h"
#include "test/fuzz/GrammarChecks.h"

using namespace effc::rt::grammar;
using namespace effc::test;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view input(reinterpret_cast<const char *>(data), size);
  size_t zero = input.find('\0');
  auto rules = readGbnf(input.substr(0, zero));
  if (!rules)
    checkRefusal(rules.error());
  else
    checkGrammar(*rules, zero == std::string_view::npos
                             ? "abcdefgh0123"
                             : input.substr(zero + 1));
  return 0;
}
