#include "test/unit/contract/LinearModel.h"

#include "llvm/ADT/STLExtras.h"

namespace effc::test {

int64_t tokenSizeOf(const LinearOperand &operand, const Extents &extents) {
  Extents one = extents;
  one.T = 1;
  int64_t size = 1;
  for (int64_t extent : one.of(operand.letters))
    size *= extent;
  return size;
}

std::string linearModelText(const LinearCase &mixer, const Extents &extents,
                            int64_t tableRows, const std::string &tableElement,
                            bool handedOn) {
  auto n = [](int64_t number) { return std::to_string(number); };
  int64_t width = 0;
  for (const LinearOperand &operand : mixer.tokens)
    width += operand.isPositions ? 0 : tokenSizeOf(operand, extents);
  std::string table = tensorType({tableRows, width}, tableElement);
  std::string packed = tensorType({0, width});
  std::string y = tensorType(extents.of("THV")),
              flat = tensorType({0, extents.H * extents.V});

  std::string text = "seq.weight @table source(\"table\") : " + table + "\n";
  for (const LinearOperand &parameter : mixer.parameters)
    text += "seq.weight @" + parameter.name + " source(\"" + parameter.name +
            "\") : " + tensorType(extents.of(parameter.letters)) + "\n";
  text += "func.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>";
  for (auto [i, operand] : llvm::enumerate(mixer.tokens))
    if (operand.isPositions)
      text += ", %a" + n(i) + ": tensor<?xi32>";
  size_t first = mixer.tokens.size() + mixer.parameters.size();
  std::string types = flat;
  for (auto [i, state] : llvm::enumerate(mixer.states)) {
    std::string type = tensorType(extents.of(state.letters));
    text += ", %a" + n(first + i) + ": " + type + " {seq.state_name = \"" +
            state.name + "\"}";
    types += ", " + type;
  }
  text += ") -> (" + types + ") {\n  %table = seq.parameter @table : " + table +
          "\n  %in = seq.embedding %tokens, %table : (tensor<?xi32>, " + table +
          ") -> " + packed + "\n";
  int64_t offset = 0;
  for (auto [i, operand] : llvm::enumerate(mixer.tokens)) {
    if (operand.isPositions)
      continue;
    int64_t size = tokenSizeOf(operand, extents);
    std::string part = tensorType({0, size});
    text += "  %p" + n(i) +
            " = seq.slice %in {axis = 1 : i64, offset = " + n(offset) +
            " : i64, size = " + n(size) + " : i64} : " + packed + " -> " +
            part + "\n";
    if (handedOn) // by a kernel of its own, which changes nothing
      text += "  %h" + n(i) + " = seq.max %p" + n(i) + ", %p" + n(i) + " : " +
              part + "\n";
    text += "  %a" + n(i) + " = seq.reshape %" + (handedOn ? "h" : "p") + n(i) +
            " : " + part + " -> " + tensorType(extents.of(operand.letters)) +
            "\n";
    offset += size;
  }
  for (auto [i, parameter] : llvm::enumerate(mixer.parameters))
    text += "  %a" + n(mixer.tokens.size() + i) + " = seq.parameter @" +
            parameter.name + " : " + tensorType(extents.of(parameter.letters)) +
            "\n";
  text += "  " + mixer.opText(extents) + "\n  %y = seq.reshape %r#0 : " + y +
          " -> " + flat + "\n  %out = seq.select_rows %y, %rows : (" + flat +
          ", tensor<?xi32>) -> " + flat + "\n  return %out";
  for (size_t i = 0; i < mixer.states.size(); ++i)
    text += ", %r#" + n(i + 1);
  return text + " : " + types + "\n}\n";
}

} // namespace effc::test
