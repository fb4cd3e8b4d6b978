// effc-gguf-tokens FILE.gguf: cuts texts by the tokenizer of a GGUF file, which needs no
// tensors.
//
// The standard input is a JSON array of texts, the output one of arrays of ids. Nothing is
// added to a text, and what names a special token is text too.

#include "frontend/checkpoint/Json.h"
#include "frontend/gguf/Model.h"
#include "frontend/gguf/Tokenizer.h"
#include "frontend/tokenizer/TokenizerImport.h"
#include "runtime/src/tokenizer/Tokenizer.h"

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

using namespace effc;
using namespace effc::frontend;

static llvm::Expected<std::string> tokenizerOf(llvm::StringRef path) {
  auto model = GgufModel::open(path);
  if (!model)
    return model.takeError();
  std::vector<std::string> remarks;
  auto described = describeGgufTokenizer((*model)->getMetadata(), remarks);
  if (!described)
    return described.takeError();
  if (!*described)
    return llvm::createStringError(path + ": has no tokenizer");
  auto bytes = translateTokenizer((*described)->text, path,
                                  int64_t((*described)->tokens.size()), remarks,
                                  (*described)->settings);
  for (const std::string &remark : remarks)
    std::fprintf(stderr, "%s\n", remark.c_str());
  if (!bytes)
    return bytes.takeError();
  return std::string(bytes->begin(), bytes->end());
}

static int fail(const std::string &message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}

int main(int count, char **arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: effc-gguf-tokens FILE.gguf <TEXTS\n");
    return 2;
  }
  auto bytes = tokenizerOf(arguments[1]);
  if (!bytes)
    return fail(llvm::toString(bytes.takeError()));
  auto tokenizer = rt::Tokenizer::create(
      {reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size()});
  if (!tokenizer)
    return fail(tokenizer.error().message);
  std::string input(std::istreambuf_iterator<char>(std::cin), {});
  auto texts = parseJson(input, "the standard input");
  if (!texts)
    return fail(llvm::toString(texts.takeError()));
  if (!texts->getArray())
    return fail("the standard input is no array");
  std::string output;
  for (const JsonValue &value : *texts->getArray()) {
    const std::string *text = value.getString();
    if (!text)
      return fail("the standard input has something that is no text");
    rt::Tokenizer::Options options;
    options.addSpecial = false;
    options.plain = rt::PlainSpans::all(text->size());
    auto ids = (*tokenizer)->tokenize(*text, options);
    if (!ids)
      return fail(ids.error().message);
    output += output.empty() ? "[[" : ",\n[";
    for (size_t i = 0; i < ids->size(); ++i)
      output += (i == 0 ? "" : ",") + std::to_string((*ids)[i]);
    output += "]";
  }
  std::printf("%s]\n", output.empty() ? "[" : output.c_str());
  return 0;
}
