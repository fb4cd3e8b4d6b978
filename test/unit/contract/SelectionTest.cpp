// Selection: a gate that retains less admits more.
//
// Lemma 1 of He et al., arXiv:2410.06577, asks of a selective recurrence that
// what is kept of the state and what is taken of the token move against each
// other with the gate. With g the softplus of `select` and r the sigmoid of
// `temper`, `seq.rodimus` keeps exp(-g r) and takes g^r.
#include "test/unit/contract/LinearCase.h"
#include "test/unit/dialects/seq/Program.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace effc::seq;
using namespace effc::seq::test;
using effc::seq::reference::Datum;
using effc::seq::reference::Tensor;

namespace {

/// One token, one key channel with query and key 1, one value channel: the
/// output of the recurrence alone.
double mix(double value, double select, double temper, double state) {
  Program program(R"(func.func @forward(%q: tensor<1x1x1xf32>,
      %k: tensor<1x1x1xf32>, %v: tensor<1x1x1xf32>, %g: tensor<1x1x1xf32>,
      %r: tensor<1x1x1xf32>, %x: tensor<1x1x1xf32>, %d: tensor<1x1xf32>,
      %s: tensor<1x1x1xf32>) -> tensor<1x1x1xf32> {
    %y, %next = "seq.rodimus"(%q, %k, %v, %g, %r, %x, %d, %s) {scale = 1.0 : f64}
      : (tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>,
         tensor<1x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>,
         tensor<1x1xf32>, tensor<1x1x1xf32>)
      -> (tensor<1x1x1xf32>, tensor<1x1x1xf32>)
    return %y : tensor<1x1x1xf32>
  })");
  EXPECT_TRUE(program.isValid()) << program.getDiagnostics().str();
  std::vector<Datum<double>> inputs;
  for (double number : {1.0, 1.0, value, select, temper, 0.0})
    inputs.push_back(Tensor<double>({1, 1, 1}, {number}));
  inputs.push_back(Tensor<double>({1, 1}, {0.0}));
  inputs.push_back(Tensor<double>({1, 1, 1}, {state}));
  return std::get<Tensor<double>>(program.evaluate<double>(inputs)[0])(0, 0, 0);
}

TEST(Selection, RetainsLessWhereItAdmitsMore) {
  for (double temper : {-3.0, 0.0, 2.5}) {
    double retained = INFINITY, admitted = -INFINITY;
    for (double select = -6; select <= 6; select += 0.75) {
      double retain = mix(0, select, temper, 1),
             admit = mix(1, select, temper, 0);
      double g = std::log1p(std::exp(select)), r = 1 / (1 + std::exp(-temper));
      EXPECT_NEAR(retain, std::exp(-g * r), 1e-14);
      EXPECT_NEAR(admit, std::pow(g, r), 1e-13);
      EXPECT_LT(retain, retained) << "select " << select;
      EXPECT_GT(admit, admitted) << "select " << select;
      retained = retain;
      admitted = admit;
    }
  }
}

} // namespace
