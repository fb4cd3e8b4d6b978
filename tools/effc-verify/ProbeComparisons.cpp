#include "tools/effc-verify/ProbeComparisons.h"

#include "tools/effc-verify/Check.h"
#include "tools/effc-verify/Expected.h"
#include "tools/effc-verify/TemporaryArtifact.h"
#include "tools/effc-verify/Tolerances.h"

using namespace effc;
using namespace effc::verify;

/// The columns of one value.
template <typename S>
static std::vector<S> columnsOf(const std::vector<S> &rows,
                                const OpProbe &probe,
                                const ProbedValue &value) {
  std::vector<S> columns;
  for (size_t row = 0; row < rows.size(); row += size_t(probe.columns)) {
    auto first = rows.begin() + ptrdiff_t(row) + value.offset;
    columns.insert(columns.end(), first, first + value.columns);
  }
  return columns;
}

/// Calls `differs(found, expected, columns, value)` for each value.
template <typename A, typename B, typename F>
static std::vector<bool>
compareValues(const OpProbe &probe, const std::vector<A> &found,
              const std::vector<B> &expected, F differs) {
  std::vector<bool> all;
  for (const ProbedValue &value : probe.values)
    all.push_back(differs(columnsOf(found, probe, value),
                          columnsOf(expected, probe, value), value));
  return all;
}

/// Compiles a probe and feeds it.
static Logits feedCompiled(const OpProbe &probe, CompileOptions options,
                           uint32_t threads,
                           const std::vector<FeedingWay> &ways,
                           std::vector<Logits> &found) {
  TemporaryArtifact artifact;
  options.output = artifact.path();
  options.stripIr = true;
  require(recompile(probe.model, options));
  Model model(artifact.path());
  Feeding feeding(model, Device::host(threads));
  for (const FeedingWay &way : ways)
    found.push_back(way(feeding, probe.tokens));
  return feeding.inOnePrefill(probe.tokens);
}

Differing effc::verify::compiledAgainstReference(CompileOptions options,
                                                 uint32_t threads) {
  return [options = std::move(options), threads](const OpProbe &probe) {
    std::vector<Logits> none;
    Logits found = feedCompiled(probe, options, threads, {}, none);
    std::vector<double> expected =
        take(evaluateReference(probe.model, probe.tokens, {}));
    std::vector<double> single =
        take(evaluateReference(probe.model, probe.tokens, {.single = true}));
    return compareValues(
        probe, found, expected,
        [&](const Logits &found, const std::vector<double> &expected,
            const ProbedValue &value) {
          size_t columns = size_t(value.columns);
          double loss =
              largestError(columnsOf(single, probe, value), expected, columns);
          return !(largestError(found, expected, columns) <=
                   f32Tolerance(loss));
        });
  };
}

Differing effc::verify::formAgainstReference(const FormCase &form) {
  return [form](const OpProbe &probe) {
    std::vector<double> found = take(evaluateReference(
        probe.model, probe.tokens, {.form = form.form, .chunk = form.chunk}));
    std::vector<double> expected =
        take(evaluateReference(probe.model, probe.tokens, {}));
    std::vector<double> single =
        take(evaluateReference(probe.model, probe.tokens, {.single = true}));
    return compareValues(
        probe, found, expected,
        [&](const std::vector<double> &found,
            const std::vector<double> &expected, const ProbedValue &value) {
          size_t columns = size_t(value.columns);
          double loss =
              largestError(columnsOf(single, probe, value), expected, columns);
          return !(largestError(found, expected, columns) <=
                   doubleTolerance(loss));
        });
  };
}

Differing effc::verify::fedAgainstOnePrefill(CompileOptions options,
                                             uint32_t threads, FeedingWay way,
                                             double tolerance) {
  return [options = std::move(options), threads, way = std::move(way),
          tolerance](const OpProbe &probe) {
    std::vector<Logits> found;
    Logits expected = feedCompiled(probe, options, threads, {way}, found);
    return compareValues(probe, found.front(), expected,
                         [&](const Logits &found, const Logits &expected,
                             const ProbedValue &value) {
                           size_t columns = size_t(value.columns);
                           double error =
                               tolerance == 0
                                   ? bitError(found, expected, columns)
                                   : largestError(found, expected, columns);
                           return !(error <= tolerance);
                         });
  };
}
