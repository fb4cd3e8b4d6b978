//===- Weights.h - How likely a token is beside the best one --------------===//
#ifndef EFFC_RUNTIME_SRC_SAMPLING_WEIGHTS_H
#define EFFC_RUNTIME_SRC_SAMPLING_WEIGHTS_H

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>

namespace effc::rt {

/// exp(x) for x <= 0, within 2 units in the last place, the same bits
/// everywhere; 0 below -708. Filters are defined by it.
double expOfNegative(double x);

/// What quickExp() is made of, for vectors too. x = k ln 2 + r with |r| at most
/// ln 2 / 2, and ln 2 split so that k times the first part is exact.
struct QuickExp {
  static constexpr double kLeast = -700;
  static constexpr double kLog2e = 0x1.71547652b82fep0;
  static constexpr double kLn2High = 0x1.62e42feep-1;
  static constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
  /// Adding it leaves a whole number in the lower bits.
  static constexpr double kRound = 0x1.8p52;
  /// 1 / n! from 9 down to 0; the first missing term is below 2^-37.
  static constexpr double kTerms[] = {0x1.71de3a556c734p-19,
                                      0x1.a01a01a01a01ap-16,
                                      0x1.a01a01a01a01ap-13,
                                      0x1.6c16c16c16c17p-10,
                                      0x1.1111111111111p-7,
                                      0x1.5555555555555p-5,
                                      0x1.5555555555555p-3,
                                      0x1p-1,
                                      1,
                                      1};
};

/// exp(x) for x <= 0 within 2^-36 of itself; below -700 no less than there. For
/// decisions that are made again by expOfNegative() where they are that close.
inline double quickExp(double x) {
  x = std::max(x, QuickExp::kLeast);
  double shifted = x * QuickExp::kLog2e + QuickExp::kRound;
  double k = shifted - QuickExp::kRound;
  double r = (x - k * QuickExp::kLn2High) - k * QuickExp::kLn2Low;
  double sum = QuickExp::kTerms[0];
  for (size_t i = 1; i < std::size(QuickExp::kTerms); ++i)
    sum = sum * r + QuickExp::kTerms[i];
  return std::bit_cast<double>(std::bit_cast<uint64_t>(sum) +
                               (std::bit_cast<uint64_t>(shifted) << 52));
}

/// How far a logit lies below the best one, in units of the temperature.
struct Distance {
  double best;
  double inverse; // 1 / temperature

  double of(float logit) const {
    // A token at plus infinity excludes all that are not.
    return logit == best ? 0.0 : (double(logit) - best) * inverse;
  }
};

/// A sum of weights, and how far the exact one may be from it.
struct RoughMass {
  double sum, error;
};

/// Sums over a row's tokens: of their weights, and of weights times distances, from
/// which the expected surprise follows.
struct Moments {
  /// Tokens with less lie so far that the product may be no number.
  static constexpr double kLeastWeight = 0x1p-900;
  double mass = 0, distances = 0;

  void add(double weight, double distance) {
    mass += weight;
    if (weight > kLeastWeight)
      distances += weight * distance;
  }
};

/// Moments of which what lies far below the best was added up roughly.
struct RoughMoments {
  Moments near; // the same bits everywhere
  Moments far;  // rough, as all weights and products of them are
  /// How far each term of `far` may be from the exact one, beside it: 2^-17 of sums in
  /// f32, 2.7e-6 of the power's polynomial, and three roundings of an exponent of up to
  /// 51, 6.4e-6, together 1.7e-5. A million tokens farther than 2^-51 weigh 5e-10.
  static constexpr double kError = 2e-5;

  double mass() const { return near.mass + far.mass; }
  double distances() const { return near.distances + far.distances; }
  /// Whether they are what Moments of all would be.
  bool areExact() const { return far.mass == 0; }
};

} // namespace effc::rt

#endif // EFFC_RUNTIME_SRC_SAMPLING_WEIGHTS_H
