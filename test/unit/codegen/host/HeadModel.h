// The smallest model whose logits are one product of rows with a matrix.
#ifndef EFFC_TEST_UNIT_CODEGEN_HOST_HEADMODEL_H
#define EFFC_TEST_UNIT_CODEGEN_HOST_HEADMODEL_H

#include <cstdint>
#include <string>

namespace effc::test {

/// Rows of @table [vocabulary, width], in f32, times @matrix [outputs, width] of `type`.
inline std::string headModel(const std::string &type, int64_t vocabulary,
                             int64_t width, int64_t outputs) {
  auto n = [](int64_t number) { return std::to_string(number); };
  std::string table = "tensor<" + n(vocabulary) + "x" + n(width) + "xf32>",
              matrix =
                  "tensor<" + n(outputs) + "x" + n(width) + "x" + type + ">",
              x = "tensor<?x" + n(width) + "xf32>",
              y = "tensor<?x" + n(outputs) + "xf32>";
  return "seq.weight @table source(\"table\") : " + table +
         "\nseq.weight @matrix source(\"matrix\") : " + matrix +
         "\nfunc.func @forward(%tokens: tensor<?xi32>, %rows: tensor<?xi32>) "
         "-> " +
         y + " {\n  %t = seq.parameter @table : " + table +
         "\n  %m = seq.parameter @matrix : " + matrix +
         "\n  %x = seq.embedding %tokens, %t : (tensor<?xi32>, " + table +
         ") -> " + x + "\n  %c = seq.select_rows %x, %rows : (" + x +
         ", tensor<?xi32>) -> " + x + "\n  %y = seq.lm_head %c, %m : (" + x +
         ", " + matrix + ") -> " + y + "\n  return %y : " + y + "\n}\n";
}

} // namespace effc::test

#endif // EFFC_TEST_UNIT_CODEGEN_HOST_HEADMODEL_H
