// Any bytes as a file of SentencePiece, behind one byte that chooses the class
// that reads it: refused with one line, or a tokenizer.json that is refused with
// one line or gives a tokenizer.
#include "frontend/tokenizer/SentencePiece.h"

#include "test/fuzz/TokenizerChecks.h"

using namespace effc::frontend;
using namespace effc::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr llvm::StringRef kClasses[] = {"LlamaTokenizer", "GemmaTokenizer",
                                          "T5Tokenizer", "TokenizersBackend"};
  if (size == 0)
    return 0;
  llvm::StringRef bytes(reinterpret_cast<const char *>(data + 1), size - 1);
  TokenizerSettings settings;
  settings.tokenizerClass = kClasses[data[0] % std::size(kClasses)].str();
  bool isT5 = settings.tokenizerClass == "T5Tokenizer";
  settings.extraIds = 3;
  settings.addBosToken = (data[0] & 16) != 0;
  settings.legacy = (data[0] & 32) != 0;
  std::vector<std::string> remarks;
  auto text = describeSentencePiece(bytes, kSentencePieceFiles[isT5 ? 1 : 0],
                                    "llama", settings, remarks);
  if (!text) {
    expectOneLine(text.takeError());
    return 0;
  }
  checkDescribed(*text, settings, bytes);
  return 0;
}
