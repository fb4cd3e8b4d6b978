// Modules whose text has words in place of numbers.
#ifndef EFFC_TEST_UNIT_CONTRACT_NUMBEREDTEXT_H
#define EFFC_TEST_UNIT_CONTRACT_NUMBEREDTEXT_H

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

namespace effc::test {

/// `text` with each word's number in its place, wherever it stands.
inline std::string
withNumbers(std::string text,
            std::initializer_list<std::pair<std::string, int64_t>> numbers) {
  for (const auto &[word, number] : numbers)
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, word.size(), std::to_string(number));
  return text;
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_NUMBEREDTEXT_H
