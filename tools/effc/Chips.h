//===- Chips.h - What GPUs can do, as data --------------------------------===//
//
// Ceilings that a kernel's bytes and FLOPs are held against. A floor is less
// than any time: it takes every product for one of bf16 on tensor cores.
//
//===----------------------------------------------------------------------===//
#ifndef EFFC_TOOLS_EFFC_CHIPS_H
#define EFFC_TOOLS_EFFC_CHIPS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace effc::cli {

struct Chip {
  std::string_view name;
  double bytesPerSecond; // of its memory, bytes read and written
  double flopsPerSecond; // of dense bf16 products that add in f32
  uint64_t cacheBytes;   // the last cache
  std::string_view source;
};

inline constexpr Chip kChips[] = {
    {"a100", 2.039e12, 312e12, 40 << 20, "data sheet, 80 GB SXM"},
    {"h100", 3.35e12, 989e12, 50 << 20, "data sheet, SXM"},
    // A copy on the device and an 8192 x 8192 x 8192 product of random numbers.
    {"h200", 4.3e12, 790e12, 60 << 20, "measured on one, SXM"},
};

/// Null where no chip has that name.
inline const Chip *findChip(std::string_view name) {
  for (const Chip &chip : kChips)
    if (chip.name == name)
      return &chip;
  return nullptr;
}

inline std::vector<std::string> chipList() {
  std::vector<std::string> names;
  for (const Chip &chip : kChips)
    names.emplace_back(chip.name);
  return names;
}

/// "a100, h100, h200".
inline std::string chipNames() {
  std::string names;
  for (const Chip &chip : kChips)
    names += (names.empty() ? "" : ", ") + std::string(chip.name);
  return names;
}

/// The least time for so much work.
inline double floorSeconds(const Chip &chip, uint64_t bytes, uint64_t flops) {
  double moving = static_cast<double>(bytes) / chip.bytesPerSecond;
  double computing = static_cast<double>(flops) / chip.flopsPerSecond;
  return moving > computing ? moving : computing;
}

} // namespace effc::cli

#endif // EFFC_TOOLS_EFFC_CHIPS_H
