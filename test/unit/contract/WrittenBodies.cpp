#include "test/unit/contract/WrittenBodies.h"
#include "test/unit/contract/LinearDraws.h"

namespace effc::test {
namespace {

/// `%out = seq.contract %a, %b` with a letter for each dimension; a small
/// letter is another dimension of the same extent.
std::string contract(const Extents &extents, const std::string &out,
                     const std::string &outLetters, const std::string &a,
                     const std::string &aLetters, const std::string &b,
                     const std::string &bLetters) {
  std::string space;
  for (char letter : std::string("HhKkVv"))
    if ((aLetters + bLetters).find(letter) != std::string::npos)
      space += (space.empty() ? "" : ", ") + std::string(1, letter);
  auto map = [&](const std::string &letters) {
    std::string results;
    for (char letter : letters)
      results += (results.empty() ? "" : ", ") + std::string(1, letter);
    return "affine_map<(" + space + ") -> (" + results + ")>";
  };
  return "  %" + out + " = seq.contract %" + a + ", %" + b +
         " {indexing_maps = [" + map(aLetters) + ", " + map(bLetters) + ", " +
         map(outLetters) + "]} : (" + tensorType(extents.of(aLetters)) + ", " +
         tensorType(extents.of(bLetters)) + ") -> " +
         tensorType(extents.of(outLetters)) + "\n";
}

/// `%out = seq.<op> %a` or `%a, %b`, of one type.
std::string elementwise(const Extents &extents, const std::string &out,
                        const std::string &op, const std::string &operands,
                        const std::string &letters) {
  return "  %" + out + " = seq." + op + " " + operands + " : " +
         tensorType(extents.of(letters)) + "\n";
}

std::string constant(const Extents &extents, const std::string &out,
                     const std::string &number, const std::string &letters) {
  return "  %" + out + " = seq.constant " + number + " : " +
         tensorType(extents.of(letters)) + "\n";
}

/// `%out` is `%x` repeated to what `%like` is, as these dimensions of it.
std::string repeated(const Extents &extents, const std::string &out,
                     const std::string &x, const std::string &xLetters,
                     const std::string &like, const std::string &likeLetters,
                     const std::string &dimensions) {
  return "  %" + out + " = seq.broadcast %" + x + " along %" + like +
         " {dimensions = array<i64: " + dimensions +
         ">} : " + tensorType(extents.of(xLetters)) + ", " +
         tensorType(extents.of(likeLetters)) + "\n";
}

std::string yield(const Extents &extents, const std::string &values,
                  const std::vector<std::string> &letters = {"HV", "HKV"}) {
  std::string text = "  seq.yield " + values + " : ";
  for (const std::string &type : letters)
    text +=
        (&type == letters.data() ? "" : ", ") + tensorType(extents.of(type));
  return text + "\n";
}

/// %x of H,K divided by its length: %unit.
std::string normalised(const Extents &e) {
  return constant(e, "floor", "1.0e-6", "H") +
         contract(e, "squares", "H", "x", "HK", "x", "HK") +
         elementwise(e, "sum", "add", "%squares, %floor", "H") +
         elementwise(e, "length", "sqrt", "%sum", "H") +
         constant(e, "one", "1.0", "H") +
         elementwise(e, "inverse", "div", "%one, %length", "H") +
         contract(e, "unit", "HK", "x", "HK", "inverse", "H");
}

/// A matrix that is squashed after every write.
std::string squashedBody(const Extents &e) {
  return elementwise(e, "keep", "sigmoid", "%f", "H") +
         contract(e, "kept", "HKV", "state", "HKV", "keep", "H") +
         contract(e, "written", "HKV", "k", "HK", "v", "HV") +
         elementwise(e, "sum", "add", "%kept, %written", "HKV") +
         elementwise(e, "next", "tanh", "%sum", "HKV") +
         contract(e, "y", "HV", "q", "HK", "next", "HKV") +
         yield(e, "%y, %next");
}

/// A recurrent cell of each head: the last output comes back through a matrix,
/// and a gate decides how much of it stays.
std::string cellBody(const Extents &e) {
  return contract(e, "back", "HV", "w", "HVv", "state", "Hv") +
         elementwise(e, "drive", "add", "%x, %back", "HV") +
         elementwise(e, "new", "tanh", "%drive", "HV") +
         elementwise(e, "gate", "sigmoid", "%g", "HV") +
         elementwise(e, "change", "sub", "%new, %state", "HV") +
         elementwise(e, "step", "mul", "%gate, %change", "HV") +
         elementwise(e, "next", "add", "%state, %step", "HV") +
         yield(e, "%next, %next", {"HV", "HV"});
}

/// Heads that meet: what one keeps goes into all.
std::string meetingBody(const Extents &e) {
  return contract(e, "mixed", "HV", "m", "Hh", "state", "hV") +
         elementwise(e, "drive", "add", "%x, %mixed", "HV") +
         elementwise(e, "next", "tanh", "%drive", "HV") +
         elementwise(e, "y", "add", "%next, %x", "HV") +
         yield(e, "%y, %next", {"HV", "HV"});
}

/// Two states: a matrix and, per head, how much was written, by which the
/// reading is divided and which the matrix fades by.
std::string countedBody(const Extents &e) {
  return elementwise(e, "weight", "sigmoid", "%f", "H") +
         elementwise(e, "next_count", "add", "%count, %weight", "H") +
         constant(e, "one", "1.0", "H") +
         elementwise(e, "more", "add", "%one, %next_count", "H") +
         elementwise(e, "keep", "div", "%next_count, %more", "H") +
         contract(e, "kept", "HKV", "state", "HKV", "keep", "H") +
         contract(e, "written", "HKV", "k", "HK", "v", "HV") +
         elementwise(e, "next", "add", "%kept, %written", "HKV") +
         contract(e, "read", "HV", "q", "HK", "next", "HKV") +
         elementwise(e, "inverse", "div", "%one, %more", "H") +
         contract(e, "y", "HV", "read", "HV", "inverse", "H") +
         yield(e, "%y, %next, %next_count", {"HV", "HKV", "H"});
}

/// A matrix after a correction along its key, by what a probe reads of it before.
std::string correction(const Extents &e, int number, const std::string &probe,
                       const std::string &before) {
  std::string own = std::to_string(number);
  return contract(e, "seen" + own, "HV", probe, "HK", before, "HKV") +
         elementwise(e, "error" + own, "sub", "%v" + own + ", %seen" + own,
                     "HV") +
         contract(e, "change" + own, "HV", "beta" + own, "H", "error" + own,
                  "HV") +
         contract(e, "written" + own, "HKV", "k" + own, "HK", "change" + own,
                  "HV") +
         elementwise(e, "next" + own, "add", "%" + before + ", %written" + own,
                     "HKV");
}

double small(Random &random, Gates) { return pickReal(random, -0.05, 0.05); }

} // namespace

std::string correctedBody(const Extents &e) {
  return elementwise(e, "forget", "sigmoid", "%f", "H") +
         elementwise(e, "fade", "exp", "%d", "HK") +
         contract(e, "half", "HKV", "forget", "H", "state", "HKV") +
         contract(e, "kept", "HKV", "half", "HKV", "fade", "HK") +
         contract(e, "seen", "HV", "p", "HK", "kept", "HKV") +
         elementwise(e, "error", "sub", "%v, %seen", "HV") +
         contract(e, "change", "HV", "beta", "H", "error", "HV") +
         contract(e, "written", "HKV", "k", "HK", "change", "HV") +
         elementwise(e, "next", "add", "%kept, %written", "HKV") +
         contract(e, "read", "HV", "q", "HK", "next", "HKV") +
         elementwise(e, "gate", "silu", "%g", "HV") +
         elementwise(e, "y", "mul", "%read, %gate", "HV") +
         yield(e, "%y, %next");
}

std::string echoBody(const Extents &e) {
  return constant(e, "keep", "0.9375", "H") +
         elementwise(e, "gate", "sigmoid", "%g", "HV") +
         contract(e, "half", "HKV", "state", "HKV", "keep", "H") +
         contract(e, "kept", "HKV", "gate", "HV", "half", "HKV") +
         elementwise(e, "key", "relu", "%k", "HK") +
         contract(e, "written", "HKV", "key", "HK", "v", "HV") +
         elementwise(e, "next", "add", "%written, %kept", "HKV") +
         contract(e, "read", "HV", "q", "HK", "state", "HKV") +
         contract(e, "own", "HV", "w", "H", "v", "HV") +
         elementwise(e, "y", "add", "%read, %own", "HV") +
         yield(e, "%y, %next");
}

std::string mixedDecaysBody(const Extents &e) {
  return elementwise(e, "share", "sigmoid", "%f", "H") +
         constant(e, "one", "1.0", "H") +
         elementwise(e, "left", "sub", "%one, %share", "H") +
         elementwise(e, "open", "sigmoid", "%g", "HK") +
         elementwise(e, "fade", "exp", "%d", "HK") +
         elementwise(e, "slow", "mul", "%open, %fade", "HK") +
         contract(e, "keep", "HK", "slow", "HK", "left", "H") +
         contract(e, "kept", "HKV", "state", "HKV", "keep", "HK") +
         contract(e, "written", "HKV", "k", "HK", "v", "HV") +
         elementwise(e, "next", "add", "%kept, %written", "HKV") +
         contract(e, "y", "HV", "q", "HK", "next", "HKV") +
         yield(e, "%y, %next");
}

std::string levelledBody(const Extents &e) {
  return elementwise(e, "half", "sigmoid", "%f", "HKV") +
         elementwise(e, "kept", "mul", "%state, %half", "HKV") +
         contract(e, "written", "HKV", "k", "HK", "v", "HV") +
         elementwise(e, "next", "add", "%kept, %written", "HKV") +
         contract(e, "read", "HV", "q", "HK", "next", "HKV") +
         contract(e, "squares", "H", "read", "HV", "read", "HV") +
         constant(e, "one", "1.0", "H") +
         elementwise(e, "more", "add", "%squares, %one", "H") +
         elementwise(e, "length", "sqrt", "%more", "H") +
         elementwise(e, "inverse", "div", "%one, %length", "H") +
         contract(e, "y", "HV", "read", "HV", "inverse", "H") +
         yield(e, "%y, %next");
}

std::string turnedBody(const Extents &e) {
  return elementwise(e, "keep", "sigmoid", "%f", "H") +
         contract(e, "kept", "HKV", "state", "HKV", "keep", "H") +
         contract(e, "written", "HKV", "k", "HK", "v", "HV") +
         elementwise(e, "next", "add", "%written, %kept", "HKV") +
         contract(e, "turned", "HK", "w", "HKk", "q", "Hk") +
         contract(e, "y", "HV", "turned", "HK", "next", "HKV") +
         yield(e, "%y, %next");
}

std::string severalCorrectionsBody(const Extents &e, int count) {
  std::string body = elementwise(e, "share", "sigmoid", "%f", "H") +
                     constant(e, "one", "1.0", "H") +
                     elementwise(e, "left", "sub", "%one, %share", "H") +
                     contract(e, "next0", "HKV", "state", "HKV", "left", "H");
  std::string next = "next0";
  for (int number = 1; number <= count; ++number) {
    std::string own = std::to_string(number);
    body += correction(e, number, "k" + own, next);
    next = "next" + own;
  }
  return body + contract(e, "y", "HV", "q", "HK", next, "HKV") +
         yield(e, "%y, %" + next);
}

std::string severalProbesBody(const Extents &e) {
  return correction(e, 1, "p1", "state") + correction(e, 2, "p2", "next1") +
         contract(e, "y", "HV", "q", "HK", "next2", "HKV") +
         yield(e, "%y, %next2");
}

std::string severalProductsBody(const Extents &e) {
  return elementwise(e, "fade", "exp", "%d", "H") +
         contract(e, "kept", "HKV", "fade", "H", "state", "HKV") +
         contract(e, "first", "HKV", "k", "HK", "v", "HV") +
         contract(e, "second", "HKV", "p", "HK", "w", "HV") +
         elementwise(e, "half", "sub", "%kept, %second", "HKV") +
         elementwise(e, "next", "add", "%first, %half", "HKV") +
         contract(e, "read", "HV", "q", "HK", "next", "HKV") +
         elementwise(e, "y", "mul", "%read, %v", "HV") + yield(e, "%y, %next");
}

std::string mirroredBody(const Extents &e) {
  return normalised(e) + elementwise(e, "keep", "sigmoid", "%f", "H") +
         contract(e, "kept", "HKV", "state", "HKV", "keep", "H") +
         contract(e, "written", "HKV", "unit", "HK", "x", "HV") +
         elementwise(e, "next", "add", "%kept, %written", "HKV") +
         contract(e, "y", "HV", "unit", "HK", "next", "HKV") +
         yield(e, "%y, %next");
}

std::string flooredBody(const Extents &e) {
  return elementwise(e, "share", "sigmoid", "%f", "HK") +
         "  %most = seq.scale %share by 0.9 : " + tensorType(e.of("HK")) +
         "\n" + constant(e, "floor", "0.1", "HK") +
         elementwise(e, "keep", "add", "%most, %floor", "HK") +
         repeated(e, "keeps", "keep", "HK", "state", "HKV", "0, 1") +
         elementwise(e, "kept", "mul", "%keeps, %state", "HKV") +
         contract(e, "seen", "HV", "k", "HK", "kept", "HKV") +
         elementwise(e, "error", "sub", "%v, %seen", "HV") +
         repeated(e, "betas", "beta", "H", "error", "HV", "0") +
         elementwise(e, "change", "mul", "%error, %betas", "HV") +
         contract(e, "written", "HKV", "k", "HK", "change", "HV") +
         elementwise(e, "next", "add", "%kept, %written", "HKV") +
         contract(e, "y", "HV", "q", "HK", "next", "HKV") +
         yield(e, "%y, %next");
}

std::string squaredBody(const Extents &e) {
  return elementwise(e, "turn", "tanh", "%f", "H") +
         elementwise(e, "square", "mul", "%turn, %turn", "H") +
         elementwise(e, "share", "sigmoid", "%g", "HK") +
         elementwise(e, "less", "neg", "%share", "HK") +
         constant(e, "one", "1.0", "HK") +
         elementwise(e, "left", "add", "%less, %one", "HK") +
         contract(e, "keep", "HK", "left", "HK", "square", "H") +
         contract(e, "some", "HKV", "state", "HKV", "keep", "HK") +
         elementwise(e, "open", "sigmoid", "%d", "H") +
         constant(e, "quarter", "0.25", "H") +
         elementwise(e, "floored", "max", "%open, %quarter", "H") +
         repeated(e, "floors", "floored", "H", "state", "HKV", "0") +
         elementwise(e, "more", "mul", "%some, %floors", "HKV") +
         "  %kept = seq.scale %more by 0.9375 : " + tensorType(e.of("HKV")) +
         "\n" + repeated(e, "keys", "k", "HK", "state", "HKV", "0, 1") +
         repeated(e, "values", "v", "HV", "state", "HKV", "0, 2") +
         elementwise(e, "written", "mul", "%keys, %values", "HKV") +
         elementwise(e, "next", "add", "%kept, %written", "HKV") +
         contract(e, "y", "HV", "q", "HK", "state", "HKV") +
         yield(e, "%y, %next");
}

std::string unravelledBody(const Extents &e) {
  return elementwise(e, "keep", "sigmoid", "%f", "H") +
         contract(e, "seen", "HV", "p", "HK", "state", "HKV") +
         repeated(e, "counts", "count", "H", "seen", "HV", "0") +
         elementwise(e, "mean", "div", "%seen, %counts", "HV") +
         elementwise(e, "surplus", "sub", "%mean, %v", "HV") +
         contract(e, "all", "HKV", "k", "HK", "surplus", "HV") +
         "  %part = seq.scale %all by 0.5 : " + tensorType(e.of("HKV")) + "\n" +
         elementwise(e, "corrected", "sub", "%state, %part", "HKV") +
         contract(e, "next", "HKV", "keep", "H", "corrected", "HKV") +
         contract(e, "y", "HV", "q", "HK", "next", "HKV") +
         yield(e, "%y, %next");
}

std::string averagedBody(const Extents &e) {
  return elementwise(e, "keep", "sigmoid", "%f", "H") +
         contract(e, "kept", "HKV", "state", "HKV", "keep", "H") +
         contract(e, "written", "HKV", "k", "HK", "v", "HV") +
         elementwise(e, "next", "add", "%kept, %written", "HKV") +
         contract(e, "kept_sum", "HK", "keep", "H", "sum", "HK") +
         elementwise(e, "next_sum", "add", "%kept_sum, %k", "HK") +
         contract(e, "read", "HV", "q", "HK", "next", "HKV") +
         contract(e, "total", "H", "q", "HK", "next_sum", "HK") +
         constant(e, "one", "1.0", "H") +
         elementwise(e, "more", "add", "%one, %total", "H") +
         elementwise(e, "inverse", "div", "%one, %more", "H") +
         contract(e, "y", "HV", "read", "HV", "inverse", "H") +
         yield(e, "%y, %next, %next_sum", {"HV", "HKV", "HK"});
}

std::string measuredBody(const Extents &e) {
  return elementwise(e, "fade", "exp", "%d", "HK") +
         contract(e, "kept", "HKV", "state", "HKV", "fade", "HK") +
         contract(e, "seen", "HV", "k", "HK", "kept", "HKV") +
         elementwise(e, "error", "sub", "%v, %seen", "HV") +
         contract(e, "written", "HKV", "k", "HK", "error", "HV") +
         elementwise(e, "next", "add", "%written, %kept", "HKV") +
         elementwise(e, "again", "exp", "%d", "HK") +
         elementwise(e, "kept_sum", "mul", "%sum, %again", "HK") +
         elementwise(e, "half_sum", "add", "%m, %kept_sum", "HK") +
         elementwise(e, "size", "mul", "%k, %k", "HK") +
         elementwise(e, "next_sum", "add", "%size, %half_sum", "HK") +
         contract(e, "read", "HV", "q", "HK", "state", "HKV") +
         contract(e, "total", "H", "sum", "HK", "m", "HK") +
         constant(e, "one", "1.0", "H") +
         elementwise(e, "more", "add", "%one, %total", "H") +
         elementwise(e, "inverse", "div", "%one, %more", "H") +
         contract(e, "y", "HV", "read", "HV", "inverse", "H") +
         yield(e, "%y, %next, %next_sum", {"HV", "HKV", "HK"});
}

std::string shiftedBody(const Extents &e) {
  return elementwise(e, "keep", "sigmoid", "%f", "H") +
         contract(e, "kept", "HKV", "state", "HKV", "keep", "H") +
         elementwise(e, "change", "sub", "%last, %k", "HK") +
         elementwise(e, "part", "mul", "%mix, %change", "HK") +
         elementwise(e, "key", "add", "%k, %part", "HK") +
         contract(e, "written", "HKV", "key", "HK", "v", "HV") +
         elementwise(e, "next", "add", "%kept, %written", "HKV") +
         contract(e, "y", "HV", "q", "HK", "next", "HKV") +
         yield(e, "%y, %k, %next", {"HV", "HK", "HKV"});
}

std::string chainedBody(const Extents &e) {
  return elementwise(e, "keep", "sigmoid", "%f", "H") +
         contract(e, "kept", "HKV", "near", "HKV", "keep", "H") +
         contract(e, "written", "HKV", "k", "HK", "v", "HV") +
         elementwise(e, "next_near", "add", "%kept, %written", "HKV") +
         contract(e, "read", "HV", "q", "HK", "next_near", "HKV") +
         constant(e, "slowly", "0.96875", "H") +
         contract(e, "kept_far", "HKV", "far", "HKV", "slowly", "H") +
         elementwise(e, "sum", "add", "%read, %v", "HV") +
         contract(e, "written_far", "HKV", "k", "HK", "sum", "HV") +
         elementwise(e, "next_far", "add", "%kept_far, %written_far", "HKV") +
         contract(e, "read_far", "HV", "q", "HK", "next_far", "HKV") +
         elementwise(e, "y", "add", "%read_far, %read", "HV") +
         yield(e, "%y, %next_near, %next_far", {"HV", "HKV", "HKV"});
}

const std::vector<LinearCase> &opaqueCases() {
  static const std::vector<LinearCase> cases = {
      {.name = "squashed",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH")},
       .states = {operand("state", "HKV")},
       .body = squashedBody},
      {.name = "cell",
       .tokens = {operand("x", "THV"), operand("g", "THV")},
       .parameters = {operand("w", "HVV", small)},
       .states = {operand("state", "HV")},
       .body = cellBody},
      {.name = "meeting",
       .tokens = {operand("x", "THV")},
       .parameters = {operand("m", "HH", small)},
       .states = {operand("state", "HV")},
       .body = meetingBody},
      {.name = "counted",
       .tokens = {operand("q", "THK"), operand("k", "THK"), operand("v", "THV"),
                  operand("f", "TH")},
       .states = {operand("state", "HKV"), operand("count", "H", positive)},
       .body = countedBody},
  };
  return cases;
}

} // namespace effc::test
