#include "dialects/storage/FieldBits.h"

using namespace effc;
using namespace effc::storage;

int64_t storage::columnsOf(FieldAttr field, llvm::ArrayRef<int64_t> digits) {
  int64_t inner = 1;
  for (size_t i = digits.size(); i-- > 0;) {
    for (int64_t piece = 0; piece < field.pieces(); ++piece)
      if (field.stridesOf(piece)[i] != 0)
        return inner;
    inner *= digits[i];
  }
  return 0;
}

std::vector<int64_t> storage::bitsOf(FieldAttr field,
                                     llvm::ArrayRef<int64_t> digits,
                                     int64_t element) {
  std::vector<int64_t> bits;
  for (int64_t piece = 0; piece < field.pieces(); ++piece) {
    int64_t bit = field.firstBit(piece, digits, element);
    for (int64_t i = 0; i < field.getWidths()[piece]; ++i)
      bits.push_back(bit + i);
  }
  return bits;
}

std::vector<BitRun> storage::runsOf(llvm::ArrayRef<int64_t> from,
                                    llvm::ArrayRef<int64_t> to) {
  std::vector<BitRun> runs;
  for (size_t i = 0, end; i < from.size(); i = end) {
    end = i + 1;
    while (end < from.size() && from[end] == from[end - 1] + 1 &&
           to[end] == to[end - 1] + 1 && from[end] % 8 != 0 && to[end] % 8 != 0)
      ++end;
    runs.push_back({from[i], to[i], int64_t(end - i)});
  }
  return runs;
}
