// The best way through a piece by the sum of its tokens' scores (Viterbi), with
// a trie of all tokens. Order of additions and comparisons are the library's,
// so that ties break alike.

#include "runtime/src/tokenizer/TokenTrie.h"
#include "runtime/src/tokenizer/models/Model.h"
#include "runtime/src/tokenizer/unicode/Unicode.h"

#include <cmath>
#include <limits>

using namespace effc::rt;

namespace {

/// Of two with one text the last counts.
TokenTrie listPieces(const Vocabulary &vocabulary,
                     const std::vector<double> &scores) {
  std::vector<TokenTrie::Text> tokens;
  for (size_t id = 0; id < scores.size(); ++id)
    if (std::string_view text = vocabulary.textOf(id);
        !std::isnan(scores[id]) && !text.empty())
      tokens.emplace_back(text, static_cast<int32_t>(id));
  return TokenTrie(std::move(tokens));
}

/// Calls `found`(token, end) for each token that `text` has at `begin`, the
/// shorter ones first. Gives how many steps it took.
template <typename Found>
size_t visitPieces(const TokenTrie &trie, std::string_view text, size_t begin,
                   Found found) {
  uint32_t node = TokenTrie::kRoot;
  size_t at = begin;
  for (; at < text.size(); ++at) {
    node = trie.child(node, static_cast<uint8_t>(text[at]));
    if (node == TokenTrie::kNone)
      break;
    if (int32_t token = trie.tokenAt(node); token >= 0)
      found(token, at + 1);
  }
  return at + 1 - begin;
}

class Unigram : public TokenModel {
public:
  Unigram(const Vocabulary &vocabulary, std::vector<double> given,
          const ByteTokens *fallback, int32_t unknown)
      : vocabulary(vocabulary), scores(std::move(given)), unknown(unknown),
        trie(listPieces(vocabulary, scores)) {
    if (fallback)
      bytes = *fallback;
    else
      bytes.fill(-1);
    constexpr double kPenalty = 10.0;
    double least = std::numeric_limits<double>::infinity();
    for (double score : scores)
      least = score < least ? score : least;
    unknownScore = least - kPenalty;
  }

  Check encode(std::string_view piece, ModelWorkspace &workspace,
               Budget &budget, std::vector<int32_t> &tokens) const override {
    std::vector<BestPath> &paths = workspace.paths;
    if (Check error = search(piece, budget, paths))
      return error;
    std::vector<int32_t> &backwards = workspace.symbols;
    backwards.clear();
    for (size_t end = piece.size(); end > 0;) {
      size_t begin = paths[end].other;
      int32_t token = paths[end].token;
      // Unknown characters in a row are one.
      while (token == unknown && begin > 0 && paths[begin].token == unknown)
        begin = paths[begin].other;
      if (token == unknown)
        listUnknown(piece.substr(begin, end - begin), backwards);
      else
        backwards.push_back(token);
      end = begin;
    }
    tokens.insert(tokens.end(), backwards.rbegin(), backwards.rend());
    return {};
  }

private:
  static void offer(BestPath &path, double score, size_t begin, int32_t token) {
    if (path.other == BestPath::kNone || score > path.score)
      path = {score, static_cast<uint32_t>(begin), token};
  }

  Check search(std::string_view piece, Budget &budget,
               std::vector<BestPath> &paths) const {
    paths.assign(piece.size() + 1, {0, BestPath::kNone, -1});
    for (size_t begin = 0; begin < piece.size();) {
      size_t character = unicode::decode(piece.substr(begin)).bytes;
      double before = paths[begin].score;
      bool hasSingle = false;
      size_t steps =
          visitPieces(trie, piece, begin, [&](int32_t token, size_t end) {
            offer(paths[end], scores[token] + before, begin, token);
            hasSingle |= end - begin == character;
          });
      if (!budget.spend(steps))
        return budget.error();
      if (!hasSingle) {
        if (unknown < 0)
          return badData(
              "the vocabulary has no token for character ",
              uint32_t(unicode::decode(piece.substr(begin)).character),
              ", and none for unknown ones");
        offer(paths[begin + character], unknownScore + before, begin, unknown);
      }
      begin += character;
    }
    return {};
  }

  /// What stands for characters without token, last one first.
  void listUnknown(std::string_view text,
                   std::vector<int32_t> &backwards) const {
    if (int32_t whole = vocabulary.find(text); whole >= 0) {
      backwards.push_back(whole);
      return;
    }
    for (char c : text)
      if (bytes[static_cast<uint8_t>(c)] < 0) {
        backwards.push_back(unknown);
        return;
      }
    for (size_t i = text.size(); i-- > 0;)
      backwards.push_back(bytes[static_cast<uint8_t>(text[i])]);
  }

  const Vocabulary &vocabulary;
  std::vector<double> scores;
  int32_t unknown;
  TokenTrie trie;
  ByteTokens bytes;
  double unknownScore;
};

/// As PLaMo's own code. Its scores are whole numbers, which are added exactly.
class BackwardUnigram : public TokenModel {
public:
  BackwardUnigram(const Vocabulary &vocabulary, std::vector<double> given,
                  const ByteTokens &bytes, double unknownScore)
      : scores(std::move(given)), trie(listPieces(vocabulary, scores)),
        bytes(bytes), unknownScore(unknownScore) {}

  Check encode(std::string_view piece, ModelWorkspace &workspace,
               Budget &budget, std::vector<int32_t> &tokens) const override {
    std::vector<BestPath> &paths = workspace.paths;
    paths.assign(piece.size() + 1, {0, BestPath::kNone, -1});
    for (size_t end = piece.size(); end > 0;) {
      size_t begin = unicode::lastStart(piece.substr(0, end));
      if (!budget.spend(search(piece, begin, end, paths)))
        return budget.error();
      end = begin;
    }
    for (size_t at = 0; at < piece.size(); at = paths[at].other) {
      if (paths[at].token >= 0) {
        tokens.push_back(paths[at].token);
        continue;
      }
      for (char c : piece.substr(at, paths[at].other - at))
        tokens.push_back(bytes[static_cast<uint8_t>(c)]);
    }
    return {};
  }

private:
  /// The best way from `begin` on, whose character ends at `end`; those from later
  /// characters are found. Gives how many steps it took.
  size_t search(std::string_view piece, size_t begin, size_t end,
                std::vector<BestPath> &paths) const {
    BestPath best{unknownScore + paths[end].score, static_cast<uint32_t>(end),
                  -1};
    size_t steps =
        visitPieces(trie, piece, begin, [&](int32_t token, size_t after) {
          // Of equal ways the longer token is taken, which comes later.
          double score = scores[token] + paths[after].score;
          if (score >= best.score)
            best = {score, static_cast<uint32_t>(after), token};
        });
    paths[begin] = best;
    return steps;
  }

  std::vector<double> scores;
  TokenTrie trie;
  ByteTokens bytes;
  double unknownScore;
};

} // namespace

std::unique_ptr<TokenModel>
effc::rt::createUnigram(const Vocabulary &vocabulary,
                        std::vector<double> scores, const ByteTokens *fallback,
                        int32_t unknown) {
  return std::make_unique<Unigram>(vocabulary, std::move(scores), fallback,
                                   unknown);
}

std::unique_ptr<TokenModel>
effc::rt::createBackwardUnigram(const Vocabulary &vocabulary,
                                std::vector<double> scores,
                                const ByteTokens &bytes, double unknownScore) {
  return std::make_unique<BackwardUnigram>(vocabulary, std::move(scores), bytes,
                                           unknownScore);
}
