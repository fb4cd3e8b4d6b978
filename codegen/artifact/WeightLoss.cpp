#include "codegen/artifact/WeightLoss.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace effc;
using namespace effc::codegen;

void WeightLoss::add(storage::Storage storage, llvm::ArrayRef<float> numbers,
                     llvm::ArrayRef<uint8_t> stored,
                     llvm::ArrayRef<float> importance) {
  elements += numbers.size();
  bytes += stored.size();
  for (auto [i, number] : llvm::enumerate(numbers)) {
    double error = double(storage.number(stored, i)) - double(number);
    double square = double(number) * double(number);
    squares += square;
    errorSquares += error * error;
    if (!importance.empty()) {
      auto counts = double(importance[i % importance.size()]);
      importantSquares += counts * square;
      importantErrorSquares += counts * error * error;
    }
    largestError = std::max(largestError, std::fabs(error));
  }
}

void WeightLoss::add(const WeightLoss &other) {
  elements += other.elements;
  bytes += other.bytes;
  squares += other.squares;
  errorSquares += other.errorSquares;
  importantSquares += other.importantSquares;
  importantErrorSquares += other.importantErrorSquares;
  largestError = std::max(largestError, other.largestError);
}

double WeightLoss::relative() const {
  return squares > 0 ? std::sqrt(errorSquares / squares) : 0;
}

double WeightLoss::importantRelative() const {
  return importantSquares > 0
             ? std::sqrt(importantErrorSquares / importantSquares)
             : 0;
}

double WeightLoss::largest() const {
  return squares > 0 ? largestError / std::sqrt(squares / double(elements)) : 0;
}

double WeightLoss::bitsPerElement() const {
  return elements == 0 ? 0 : 8 * double(bytes) / double(elements);
}
