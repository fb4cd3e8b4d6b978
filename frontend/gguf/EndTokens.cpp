#include "frontend/gguf/EndTokens.h"

#include "llvm/ADT/STLExtras.h"

/// Control tokens of these names end a text or a turn (llama.cpp,
/// src/llama-vocab.cpp).
static constexpr llvm::StringLiteral kEnds[] = {"<|eot_id|>",
                                                "<|im_end|>",
                                                "<|end|>",
                                                "<|return|>",
                                                "<|call|>",
                                                "<|flush|>",
                                                "<|calls|>",
                                                "<end_of_turn>",
                                                "<|endoftext|>",
                                                "</s>",
                                                "<|eom_id|>",
                                                "<EOT>",
                                                "_<EOT>",
                                                "[EOT]",
                                                "[EOS]",
                                                "<|end_of_text|>",
                                                "<eos>",
                                                "<turn|>",
                                                "<end_of_utterance>",
                                                "<|tool_response>",
                                                "<｜end▁of▁sentence｜>",
                                                "[e~["};

std::vector<int32_t> effc::frontend::findEndTokens(
    llvm::function_ref<std::optional<int32_t>(llvm::StringRef)> find) {
  // Of gpt-oss and its like, <|end|> stands between parts of an answer.
  bool endsParts = find("<|return|>") && find("<|call|>");
  endsParts |= (find("<|call|>") || find("<|calls|>")) && find("<|flush|>");
  std::vector<int32_t> ends;
  for (llvm::StringRef name : kEnds)
    if (std::optional<int32_t> id = find(name);
        id && !(endsParts && name == "<|end|>"))
      ends.push_back(*id);
  llvm::sort(ends);
  return ends;
}
