// Cases of seq.attention, as the contract's tests draw them: a shape and what
// of the op is used, its text, and numbers for its operands.
#ifndef EFFC_TEST_UNIT_CONTRACT_WINDOWCASE_H
#define EFFC_TEST_UNIT_CONTRACT_WINDOWCASE_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace effc::test {

using Random = std::mt19937_64;

inline double pickReal(Random &random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
inline int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

/// What decides an op; the letters are those of its description.
struct WindowCase {
  int64_t H, G, J, K, V, W;
  int64_t window = 0; ///< 0: full
  double softCap = 0; ///< 0: none
  bool sinks = false, slopes = false;
  std::string keyScore = "none";
  int64_t N = 0;          ///< heads of the numbers per key; 0 for "none"
  int64_t keep = 0;       ///< 0: all
  double scale = 0;       ///< 0: a little less than K^-0.5
  int64_t S = 0;          ///< first tokens that stay
  bool keysAlone = false; ///< a key's first V channels are its value

  /// Whether keys may be kept alone.
  bool mayKeepKeysAlone() const { return G == J && V <= K && !N && !S; }

  /// Names and shapes after the leading T or W of the tokens' operands.
  std::vector<std::pair<std::string, std::vector<int64_t>>> tokens() const {
    std::vector<std::pair<std::string, std::vector<int64_t>>> list = {
        {"q", {H, K}}, {"k", {G, K}}};
    if (!keysAlone)
      list.push_back({"v", {J, V}});
    if (S)
      list.push_back({"sink_query", {H, K}});
    if (N)
      list.push_back({"d", {N}});
    return list;
  }
  /// Names and shapes of the states: a ring each of k, v and d, and the same of
  /// the first tokens.
  std::vector<std::pair<std::string, std::vector<int64_t>>> states() const {
    std::vector<std::pair<std::string, std::vector<int64_t>>> list = {
        {"keys", {W, G, K}}};
    if (!keysAlone)
      list.push_back({"values", {W, J, V}});
    if (N)
      list.push_back({"numbers", {W, N}});
    if (S) {
      list.push_back({"first_keys", {S, G, K}});
      list.push_back({"first_values", {S, J, V}});
    }
    if (S && N)
      list.push_back({"first_numbers", {S, N}});
    return list;
  }
  /// Names of the parameters, each of shape H.
  std::vector<std::string> parameters() const {
    std::vector<std::string> list;
    if (sinks)
      list.push_back("sinks");
    if (slopes)
      list.push_back("slopes");
    return list;
  }

  static std::string type(const std::string &rows,
                          const std::vector<int64_t> &shape,
                          const std::string &element = "f32") {
    std::string text = "tensor<" + rows;
    for (int64_t size : shape)
      text += (text.back() == '<' ? "" : "x") + std::to_string(size);
    return text + "x" + element + ">";
  }

  /// The op on values named as above and %p, with results %y and %next_<state>;
  /// `rows` is T as a type has it.
  std::string opText(const std::string &rows) const {
    std::string operands, types, results = "%y", resultTypes;
    operands = std::string(keysAlone ? "%q, %k" : "%q, %k, %v") +
               " positions(%p)" + (S ? " sink_query(%sink_query)" : "") +
               (N ? " numbers(%d)" : "");
    for (auto &[name, shape] : tokens()) {
      types += (name == "q" ? "" : ", ") + type(rows, shape);
      if (name == (keysAlone ? "k" : "v"))
        types += ", tensor<" + rows + "xi32>";
    }
    for (const std::string &name : parameters()) {
      operands += " " + name + "(%" + name + ")";
      types += ", " + type("", {H});
    }
    operands += " states(";
    resultTypes = type(rows, {H, V});
    for (auto &[name, shape] : states()) {
      operands += (name == "keys"         ? "%"
                   : name == "first_keys" ? ") sink_states(%"
                                          : ", %") +
                  name;
      types += ", " + type("", shape);
      results += ", %next_" + name;
      resultTypes += ", " + type("", shape);
    }
    std::string attributes =
        "scale = " + real(scale ? scale : 0.9 / std::sqrt(double(K)));
    if (window)
      attributes += ", window = " + std::to_string(window) + " : i64";
    if (softCap)
      attributes += ", soft_cap = " + real(softCap);
    if (N)
      attributes += ", key_score = #seq.key_score<" + keyScore + ">";
    if (keep)
      attributes += ", keep = " + std::to_string(keep) + " : i64";
    return "  " + results + " = seq.attention " + operands + ") {" +
           attributes + "} : (" + types + ") -> (" + resultTypes + ")\n";
  }

  /// A function of one op on `rows` tokens: token operands, positions,
  /// parameters, states.
  std::string functionText(int64_t rows) const {
    std::string T = std::to_string(rows), arguments, results, names = "%y";
    for (auto &[name, shape] : tokens())
      arguments += "%" + name + ": " + type(T, shape) + ", ";
    arguments += "%p: tensor<" + T + "xi32>";
    for (const std::string &name : parameters())
      arguments += ", %" + name + ": " + type("", {H});
    results = type(T, {H, V});
    for (auto &[name, shape] : states()) {
      arguments += ", %" + name + ": " + type("", shape);
      results += ", " + type("", shape);
      names += ", %next_" + name;
    }
    return "func.func @f(" + arguments + ") -> (" + results + ") {\n" +
           opText(T) + "  return " + names + " : " + results + "\n}\n";
  }

  std::string text() const {
    auto n = [](int64_t number) { return std::to_string(number); };
    return "H,G,J,K,V,W = " + n(H) + "," + n(G) + "," + n(J) + "," + n(K) +
           "," + n(V) + "," + n(W) + ", window " + n(window) + ", cap " +
           std::to_string(softCap) + ", first " + n(S) +
           (sinks ? ", sinks" : "") + (slopes ? ", slopes" : "") +
           ", numbers " + keyScore + " of " + n(N) + ", keep " + n(keep);
  }

  /// A number for element `index` of a parameter.
  double parameter(Random &random, const std::string &name) const {
    return name == "slopes" ? pickReal(random, 0.01, 0.6)
                            : pickReal(random, -2, 2);
  }
  /// A number of a token's operand or of a state.
  double element(Random &random, const std::string &name) const {
    bool isNumber = name == "d" || name == "numbers" || name == "first_numbers";
    // Few numbers where keys are chosen by them, so that many are equal.
    if (isNumber && keep)
      return 0.125 * double(pick(random, -4, 16));
    if (isNumber)
      return pickReal(random, 0.5, 2);
    return pickReal(random, -2, 2);
  }

private:
  static std::string real(double number) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17e : f64", number);
    return text;
  }
};

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CONTRACT_WINDOWCASE_H
