// Models with mistakes: any text is compiled, or refused with a reason.
//
// Each model of test/e2e/models is spoiled a few hundred times, each time by up
// to three changes of what a writer gets wrong: tokens or lines left out, given
// twice or exchanged, other numbers. What compiles goes as far as the plan. Two
// of three spoiled texts parse, so that verifiers and passes see them.
#include "compiler/Compiler.h"

#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <regex>
#include <sstream>

using namespace effc;

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class MutatedText : public testing::TestWithParam<fs::path> {
protected:
  /// Compiles the text up to the plan; the reason why not, or nothing.
  std::string compiling(const std::string &text) {
    // After a crash the text that led to it lies here.
    fs::path path = fs::path(EFFC_MUTANTS) / GetParam().filename();
    std::ofstream(path) << text;
    CompileOptions options;
    options.model = path;
    options.output = path.string() + ".plan";
    options.weights = codegen::WeightsMode::None;
    options.compileTo = Phase::Plan;
    options.pipeline.prefillRows = {5};
    options.pipeline.decodeRows = {1};
    return llvm::toString(compile(options, {}));
  }
};

std::string read(const fs::path &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Names, numbers, strings, spaces and single marks: joined, the text again. In
// "tensor<?x6xf32>" the dimensions are numbers.
Words split(const std::string &text) {
  static const std::regex kWord(
      R"re(//[^\n]*|"[^"\n]*"|[%@#!]\w+|[A-Za-z_][\w.]*|\d+|\s+|.)re");
  Words words;
  for (std::sregex_iterator word(text.begin(), text.end(), kWord), end;
       word != end; ++word)
    words.push_back(word->str());
  return words;
}

std::string join(const Words &words) {
  std::string text;
  for (const std::string &word : words)
    text += word;
  return text;
}

class Mutation {
public:
  explicit Mutation(unsigned seed) : random(seed) {}

  void apply(Words &words) {
    switch (below(8)) {
    case 0:
      return changeNumber(words, /*everywhere=*/false);
    case 5:
    case 6: // so that types still agree
      return changeNumber(words, /*everywhere=*/true);
    case 1: // two names or marks of a kind
      return exchange(words);
    case 2:
      words.erase(words.begin() + below(words.size()));
      return;
    case 3: {
      size_t at = below(words.size());
      words.insert(words.begin() + at, words[at]);
      return;
    }
    case 4:
      return changeLine(words, /*leaveOut=*/true);
    default:
      return changeLine(words, /*leaveOut=*/false);
    }
  }

private:
  size_t below(size_t count) { return random() % count; }

  // A word that `wanted` holds of; the first, if none is met by chance.
  template <typename Wanted> size_t pick(const Words &words, Wanted wanted) {
    for (int attempt = 0; attempt < 1000; ++attempt)
      if (size_t at = below(words.size()); wanted(words[at]))
        return at;
    return 0;
  }

  void changeNumber(Words &words, bool everywhere) {
    static const std::string kNumbers[] = {
        "0",  "1",    "2",     "7",          "-1",
        "24", "1000", "65536", "2147483648", "9223372036854775807"};
    size_t at = pick(
        words, [](const std::string &word) { return std::isdigit(word[0]); });
    const std::string before = words[at];
    const std::string &after = kNumbers[below(std::size(kNumbers))];
    if (everywhere)
      std::replace(words.begin(), words.end(), before, after);
    else
      words[at] = after;
  }

  void exchange(Words &words) {
    auto kind = [](char c) {
      return std::isalpha(c) ? 'a' : std::isdigit(c) ? '0' : c;
    };
    size_t first = pick(
        words, [](const std::string &word) { return !std::isspace(word[0]); });
    size_t second = pick(words, [&](const std::string &word) {
      return kind(word[0]) == kind(words[first][0]);
    });
    std::swap(words[first], words[second]);
  }

  void changeLine(Words &words, bool leaveOut) {
    auto isEnd = [](const std::string &word) {
      return word.find('\n') != std::string::npos;
    };
    size_t first = pick(words, isEnd) + 1;
    auto begin = words.begin() + std::min(first, words.size());
    auto end = std::find_if(begin, words.end(), isEnd);
    Words line(begin, end);
    if (!line.empty())
      line.push_back("\n");
    if (leaveOut)
      words.erase(begin, end);
    else
      words.insert(begin, line.begin(), line.end());
  }

  std::mt19937 random;
};

TEST_P(MutatedText, IsCompiledOrRefusedWithAReason) {
  const std::string text = read(GetParam());
  const Words words = split(text);
  ASSERT_EQ(join(words), text);
  ASSERT_EQ(compiling(text), "");
  unsigned refused = 0;
  for (unsigned seed = 0; seed < EFFC_MUTATIONS; ++seed) {
    SCOPED_TRACE(seed);
    Mutation mutation(seed);
    Words spoiled = words;
    for (unsigned change = 0; change <= seed % 3; ++change)
      mutation.apply(spoiled);
    std::string reason = compiling(join(spoiled));
    if (reason.empty())
      continue;
    ++refused;
    EXPECT_TRUE(std::regex_search(reason, std::regex(R"(\.mlir:\d+:\d+: \S)")))
        << reason;
  }
  // Most mistakes matter.
  EXPECT_GT(refused, EFFC_MUTATIONS / 2);
}

std::vector<fs::path> models() {
  std::vector<fs::path> paths;
  for (const auto &entry : fs::directory_iterator(EFFC_MODELS))
    if (entry.path().extension() == ".mlir")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Models, MutatedText, testing::ValuesIn(models()),
                         [](const auto &info) {
                           return info.param.stem().string();
                         });

} // namespace
