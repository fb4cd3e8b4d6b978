#include "frontend/quantised/InputOrder.h"

#include "llvm/ADT/STLExtras.h"

#include <cstring>
#include <numeric>

using namespace effc::frontend;

std::optional<std::vector<uint32_t>>
effc::frontend::orderByGroups(llvm::ArrayRef<uint32_t> groups, uint64_t each) {
  std::vector<uint32_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return groups[a] < groups[b];
  });
  for (auto [place, input] : llvm::enumerate(order))
    if (groups[input] != place / each)
      return std::nullopt;
  return order;
}

InputOrder::InputOrder(std::vector<uint32_t> order, std::vector<Part> ofMatrix)
    : order(std::move(order)) {
  parts = std::move(ofMatrix);
}

llvm::Expected<std::vector<uint8_t>>
InputOrder::make(llvm::ArrayRef<llvm::ArrayRef<uint8_t>>) const {
  std::vector<uint8_t> bytes(order.size() * sizeof(float));
  for (auto [place, input] : llvm::enumerate(order)) {
    auto number = float(input);
    std::memcpy(&bytes[place * sizeof number], &number, sizeof number);
  }
  return bytes;
}
