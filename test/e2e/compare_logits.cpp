// Compares logits that `effc eval --logits` wrote.
//
//   effc-test-compare-logits OUT GOLDEN
//       GOLDEN holds logits_f32.i, what the public library computes in f32, and
//       logits_f64.i, the float64 recurrence. For each i the relative L2
//       distance of OUT's logits.i from logits_f64.i may be 4 times that of the
//       library, plus 1e-6.
//   effc-test-compare-logits --within E OUT GOLDEN
//       The same with E as the greatest distance from logits_f64.i.
//   effc-test-compare-logits --near E A B
//       Both hold the same tensors, with E as the greatest distance of A's from B's.
//   effc-test-compare-logits --bits A B
//       Both hold the same tensors with the same bits.
//
// Prints what it finds; status 1 when anything is too far or differs.

#include "test/e2e/SafetensorsFile.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>

using namespace effc::test;
using Tensor = SafetensorsFile::Tensor;

static double relativeDistance(const Tensor &tensor, const Tensor &exact) {
  std::vector<double> a = tensor.values(), b = exact.values();
  double distance = 0, norm = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    distance += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return norm > 0 ? std::sqrt(distance / norm) : std::sqrt(distance);
}

static bool compareWithGolden(const SafetensorsFile &out,
                              const SafetensorsFile &golden,
                              std::optional<double> within) {
  bool good = true;
  size_t count = 0;
  std::printf("%-12s %8s %12s %12s %12s\n", "tensor", "rows", "effc", "library",
              "allowed");
  for (;; ++count) {
    std::string number = std::to_string(count);
    if (!golden.tensors().count("logits_f64." + number))
      break;
    const Tensor &exact = golden.tensor("logits_f64." + number);
    const Tensor &library = golden.tensor("logits_f32." + number);
    const Tensor &ours = out.tensor("logits." + number);
    if (ours.shape != exact.shape || library.shape != exact.shape) {
      std::printf("logits.%s has another shape\n", number.c_str());
      good = false;
      continue;
    }
    double error = relativeDistance(ours, exact);
    double reference = relativeDistance(library, exact);
    double allowed = within.value_or(4 * reference + 1e-6);
    bool near = error <= allowed; // false for NaN
    good &= near;
    std::printf("%-12s %8llu %12.3e %12.3e %12.3e%s\n",
                ("logits." + number).c_str(),
                static_cast<unsigned long long>(
                    exact.shape.empty() ? 0 : exact.shape[0]),
                error, reference, allowed, near ? "" : "  too far");
  }
  if (count == 0 || out.tensors().size() != count) {
    std::printf("%zu tensors are expected, but got %zu\n", count,
                out.tensors().size());
    good = false;
  }
  return good;
}

static bool compareNear(const SafetensorsFile &a, const SafetensorsFile &b,
                        double most) {
  bool good = !b.tensors().empty() && a.tensors().size() == b.tensors().size();
  if (!good)
    std::printf("%zu tensors against %zu\n", a.tensors().size(),
                b.tensors().size());
  for (const auto &[name, exact] : b.tensors()) {
    bool isThere =
        a.tensors().count(name) != 0 && a.tensor(name).shape == exact.shape;
    double error = isThere ? relativeDistance(a.tensor(name), exact) : 0;
    bool near = isThere && error <= most; // false for NaN
    std::printf("%-12s %12.3e%s\n", name.c_str(), error,
                near      ? ""
                : isThere ? "  too far"
                          : "  has no fellow of its shape");
    good &= near;
  }
  return good;
}

static bool compareBits(const SafetensorsFile &a, const SafetensorsFile &b) {
  bool good = a.tensors().size() == b.tensors().size();
  if (!good)
    std::printf("%zu tensors against %zu\n", a.tensors().size(),
                b.tensors().size());
  for (const auto &[name, tensor] : a.tensors()) {
    if (!b.tensors().count(name)) {
      std::printf("%s is in one file only\n", name.c_str());
      good = false;
      continue;
    }
    const Tensor &other = b.tensor(name);
    if (tensor.dtype != other.dtype || tensor.shape != other.shape) {
      std::printf("%s has another type or shape\n", name.c_str());
      good = false;
      continue;
    }
    for (size_t i = 0; i < tensor.bytes.size(); ++i)
      if (tensor.bytes[i] != other.bytes[i]) {
        uint64_t element = i / (tensor.dtype == "F64" ? 8 : 4);
        std::printf(
            "%s differs first at row %llu, column %llu\n", name.c_str(),
            static_cast<unsigned long long>(element / tensor.columns()),
            static_cast<unsigned long long>(element % tensor.columns()));
        good = false;
        break;
      }
  }
  return good;
}

int main(int argc, char **argv) {
  bool bits = argc == 4 && std::strcmp(argv[1], "--bits") == 0;
  std::optional<double> within, near;
  if (argc == 5 && std::strcmp(argv[1], "--within") == 0)
    within = std::strtod(argv[2], nullptr);
  if (argc == 5 && std::strcmp(argv[1], "--near") == 0)
    near = std::strtod(argv[2], nullptr);
  if (argc != 3 && !bits && !within && !near) {
    std::fprintf(stderr, "usage: effc-test-compare-logits "
                         "[--bits | --near E | --within E] OUT GOLDEN\n");
    return 2;
  }
  try {
    SafetensorsFile first = SafetensorsFile::read(argv[argc - 2]);
    SafetensorsFile second = SafetensorsFile::read(argv[argc - 1]);
    bool good = bits   ? compareBits(first, second)
                : near ? compareNear(first, second, *near)
                       : compareWithGolden(first, second, within);
    return good ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "effc-test-compare-logits: error: %s\n", error.what());
    return 1;
  }
}
