#include "test/unit/contract/LinearCase.h"

#include <cctype>
#include <cmath>

using effc::seq::reference::Tensor;

namespace effc::test {

int64_t pick(Random &random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}
double pickReal(Random &random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

int64_t Extents::operator[](char letter) const {
  switch (std::toupper(letter)) {
  case 'T':
    return T;
  case 'H':
    return H;
  case 'G':
    return G;
  case 'K':
    return K;
  case 'V':
    return V;
  default:
    return 1;
  }
}

std::vector<int64_t> Extents::of(const std::string &letters) const {
  std::vector<int64_t> shape;
  for (char letter : letters)
    shape.push_back((*this)[letter]);
  return shape;
}

std::string Extents::text() const {
  std::string text = "T,H,G,K,V = ";
  for (char letter : std::string("THGKV"))
    text += std::to_string((*this)[letter]) + (letter == 'V' ? "" : ",");
  return text;
}

std::string tensorType(const std::vector<int64_t> &shape,
                       const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += (extent == 0 ? "?" : std::to_string(extent)) + "x";
  return text + element + ">";
}

Tensor<double> LinearOperand::pickTensor(Random &random, Gates gates,
                                         const Extents &extents) const {
  Tensor<double> tensor(extents.of(letters));
  for (double &element : tensor.elements())
    element = draw(random, gates);
  if (unitLength) {
    int64_t channels = tensor.getShape().back();
    for (int64_t first = 0; first < tensor.size(); first += channels) {
      auto vector = tensor.elements().slice(first, channels);
      double squares = 0;
      for (double element : vector)
        squares += element * element;
      for (double &element : vector)
        element /= std::sqrt(squares);
    }
  }
  for (double &element : tensor.elements())
    element = float(element);
  return tensor;
}

std::string LinearCase::title() const {
  return variant.empty() ? name : name + "_" + variant;
}

std::vector<const LinearOperand *> LinearCase::operands() const {
  std::vector<const LinearOperand *> all;
  for (const auto *list : {&tokens, &parameters, &states})
    for (const LinearOperand &operand : *list)
      all.push_back(&operand);
  return all;
}

std::string LinearCase::resultTypes(const Extents &extents) const {
  std::string types = tensorType(extents.of("THV"));
  for (const LinearOperand &state : states)
    types += ", " + tensorType(extents.of(state.letters));
  return types;
}

// seq.recurrence, its arguments named as the operands are.
static std::string recurrenceText(const LinearCase &mixer,
                                  const Extents &extents) {
  std::string text =
      "%r:" + std::to_string(1 + mixer.states.size()) + " = seq.recurrence";
  int index = 0;
  for (auto [keyword, list] : {std::pair(" tokens", &mixer.tokens),
                               {" parameters", &mixer.parameters},
                               {" states", &mixer.states}}) {
    text += std::string(keyword) + "(";
    for (const LinearOperand &operand : *list)
      text += (&operand == list->data() ? "%" : ", %") + operand.name +
              " = %a" + std::to_string(index++) + " : " +
              tensorType(extents.of(operand.letters), operand.element());
    text += ")";
  }
  text += " -> (" + tensorType(extents.of("THV")) + "), (";
  for (const LinearOperand &state : mixer.states)
    text += (&state == mixer.states.data() ? "" : ", ") +
            tensorType(extents.of(state.letters));
  return text + ") {\n" + mixer.body(extents) + "}";
}

std::string LinearCase::opText(const Extents &extents) const {
  if (body)
    return recurrenceText(*this, extents);
  std::string names, types;
  for (size_t i = 0; i < operands().size(); ++i) {
    names += (i ? ", %a" : "%a") + std::to_string(i);
    types += (i ? ", " : "") + tensorType(extents.of(operands()[i]->letters),
                                          operands()[i]->element());
  }
  return "%r:" + std::to_string(1 + states.size()) + " = \"seq." + name +
         "\"(" + names + ") {" + attributes + "} : (" + types + ") -> (" +
         resultTypes(extents) + ")";
}

} // namespace effc::test
