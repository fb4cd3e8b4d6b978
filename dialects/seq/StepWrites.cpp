// The products of a next state in the order in which they are written:
//
//   S_0 = decayed state,  S_i = S_{i-1} + key_i (x) value_i
//
// where value_i may contain what a probe reads of S_{i-1}. Sums do not tell the
// order, but the state that a probe reads does: it is a sum of the products before.
#include "dialects/seq/StepWrites.h"

#include "dialects/seq/Seq.h"
#include "dialects/seq/StepStructure.h"

using namespace mlir;

namespace effc::seq {

std::optional<SmallVector<StepTerm>> termsOf(Value sum) {
  SmallVector<StepTerm> open = {{sum}}, terms;
  while (!open.empty()) {
    auto [term, sign] = open.pop_back_val();
    Operation *maker = term.getDefiningOp();
    if (isa_and_nonnull<AddOp, SubOp>(maker)) {
      open.push_back({maker->getOperand(1), isa<SubOp>(maker) ? -sign : sign});
      open.push_back({maker->getOperand(0), sign});
    } else if (auto neg = dyn_cast_or_null<NegOp>(maker)) {
      open.push_back({neg.getX(), -sign});
    } else {
      terms.push_back({term, sign});
    }
    if (open.size() + terms.size() > kMostNextTerms + 1)
      return std::nullopt;
  }
  return terms;
}

//===- products and their order -------------------------------------------===//

std::optional<SmallVector<StepProduct>>
StepStructure::findProducts(ArrayRef<StepTerm> terms) {
  SmallVector<StepProduct> products;
  for (const StepTerm &term : terms) {
    auto op = term.value.getDefiningOp<ContractOp>();
    if (!op) {
      failAt(term.value, "adds to the state what is not a product of a key and "
                         "a value");
      return std::nullopt;
    }
    StepProduct product{op, term.sign, {}, {}, {}, {}};
    for (unsigned side : {0, 1}) {
      auto dimensions = dimensionsInResult(op, side);
      Value operand = op->getOperand(side);
      if (dimensions == SmallVector<int64_t, 3>{0, 1})
        product.key = operand;
      else if (dimensions == SmallVector<int64_t, 3>{0, 2})
        product.value = operand;
    }
    if (!product.key || !product.value || dependsOnState(product.key)) {
      fail(op, "adds to the state what is not a product of a key of H,K and a "
               "value of H,V");
      return std::nullopt;
    }
    product.probed = probedBy(product.value);
    products.push_back(product);
  }
  for (StepProduct &product : products)
    product.before = productsIn(product.probed, products);
  return products;
}

// The state that is read on the one way from a value to a state; null where there
// is no such way.
Value StepStructure::probedBy(Value value) {
  while (value && dependsOnState(value)) {
    Operation *maker = value.getDefiningOp();
    Value reader, ofState;
    if (auto reading = dyn_cast_or_null<ContractOp>(maker);
        reading && isReading(reading, reader, ofState))
      return ofState;
    if (!maker)
      return {};
    value = {};
    for (Value operand : maker->getOperands()) {
      if (!dependsOnState(operand))
        continue;
      if (value)
        return {};
      value = operand;
    }
  }
  return {};
}

// Which products a state is the sum of, beside the decayed one; none where it is
// another one.
llvm::SmallBitVector StepStructure::productsIn(Value probed,
                                               ArrayRef<StepProduct> products) {
  llvm::SmallBitVector found(products.size());
  std::optional<SmallVector<StepTerm>> terms;
  if (probed)
    terms = termsOf(probed);
  if (!terms)
    return found;
  bool hasDecayed = false;
  for (const StepTerm &term : *terms) {
    if (term.value == decayed && term.sign > 0 && !hasDecayed) {
      hasDecayed = true;
      continue;
    }
    const auto *product = llvm::find_if(products, [&](const StepProduct &each) {
      return each.op->getResult(0) == term.value && each.sign == term.sign;
    });
    if (product == products.end() || found[product - products.begin()])
      return llvm::SmallBitVector(products.size());
    found.set(product - products.begin());
  }
  return hasDecayed ? found : llvm::SmallBitVector(products.size());
}

// One write, of up to two products, or several of a product each.
void StepStructure::readWrites(ArrayRef<StepTerm> terms) {
  std::optional<SmallVector<StepProduct>> found = findProducts(terms);
  if (!found)
    return;
  SmallVector<StepProduct> &products = *found;
  auto isProbing = [&](const StepProduct &product) {
    return dependsOnState(product.value);
  };
  bool areSeveral =
      llvm::any_of(products,
                   [](const StepProduct &each) { return each.before.any(); }) ||
      (products.size() > 1 && llvm::none_of(products, isProbing));
  if (!areSeveral) {
    if (!products.empty())
      writes.emplace_back();
    for (const StepProduct &product : products)
      if (isLinear())
        readProduct(product, writes.front());
    return;
  }
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(products.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(products[a].before.count(), a) <
           std::pair(products[b].before.count(), b);
  });
  llvm::SmallBitVector written(products.size());
  for (unsigned number : order) {
    const StepProduct &product = products[number];
    if (sum && !writes.empty())
      return fail(product.op, "writes a second product of a key and a value "
                              "beside a sum of keys");
    if (isProbing(product) != isProbing(products[order.front()]))
      return fail(product.op, "writes a product with a probe beside one "
                              "without");
    if (isProbing(product) && product.before != written)
      return fail(product.op, "writes what a second probe reads");
    written.set(number);
    readProduct(product, writes.emplace_back());
    if (!isLinear())
      return;
    if (writes.back().erase)
      return fail(product.op, "writes what a probe reads along a key of its "
                              "own, beside other products");
  }
}

//===- one product --------------------------------------------------------===//

// key (x) value, of which the value may follow from what a probe reads.
void StepStructure::readProduct(const StepProduct &product, StepWrite &write) {
  auto take = [&] {
    if (write.key)
      return fail(product.op, "writes a second product of a key and a value");
    write.key = product.key;
    write.value = product.value;
    write.valueSign = product.sign;
  };
  if (!dependsOnState(product.value))
    return take();
  if (write.probe)
    return fail(product.op, "writes what a second probe reads");
  if (!readProbe(product, write))
    return;
  // What the probe reads alone has a key of its own.
  if (product.value == write.probed) {
    write.erase = product.key;
    write.eraseSign = product.sign;
    return;
  }
  take();
  write.sign *= product.sign;
  write.valueDependsOnProbe = true;
}

// What a product with a constant is of, and the constant.
static std::optional<std::pair<Value, double>> factorOf(Operation *maker) {
  if (!isa<MulOp>(maker))
    return std::nullopt;
  for (unsigned side : {0, 1})
    if (auto constant = maker->getOperand(side).getDefiningOp<ConstantOp>())
      return std::pair(maker->getOperand(1 - side),
                       constant.getValue().convertToDouble());
  return std::nullopt;
}

// Follows a value of H,V down to the probe's reading, collecting what scales
// it.
bool StepStructure::readProbe(const StepProduct &product, StepWrite &write) {
  Value from = product.value;
  while (true) {
    Operation *maker = from.getDefiningOp();
    if (!maker) {
      failAt(from, "uses the state other than by reading it");
      return false;
    }
    if (auto reading = dyn_cast<ContractOp>(maker)) {
      Value reader, ofState;
      if (isReading(reading, reader, ofState)) {
        bool isLater = product.before.any();
        if (!isLater && ofState != decayed && ofState != state) {
          fail(reading, "probes neither the old nor the decayed state");
          return false;
        }
        write.probe = reader;
        write.probed = reading;
        write.probesOldState = !isLater && ofState != decayed;
        return true;
      }
      bool rightDepends = dependsOnState(reading.getRhs());
      unsigned factor = rightDepends ? 0 : 1;
      auto dimensions = dimensionsInResult(reading, factor);
      if (dimensions != SmallVector<int64_t, 3>{0} ||
          dimensionsInResult(reading, 1 - factor) !=
              SmallVector<int64_t, 3>{0, 1} ||
          typeOf(reading).getRank() != 2 ||
          dependsOnState(reading->getOperand(factor))) {
        fail(reading, "scales what a probe reads by more than a number per "
                      "head");
        return false;
      }
      write.scales.push_back(reading->getOperand(factor));
      from = reading->getOperand(1 - factor);
      continue;
    }
    if (auto scaled = dyn_cast<ScaleOp>(maker)) {
      write.sign *= scaled.getFactor().convertToDouble();
      from = scaled.getX();
      continue;
    }
    if (auto number = factorOf(maker)) {
      write.sign *= number->second;
      from = number->first;
      continue;
    }
    if (!isa<AddOp, SubOp, NegOp>(maker)) {
      fail(maker, "is no sum or scaling of what a probe reads");
      return false;
    }
    bool second =
        maker->getNumOperands() == 2 && dependsOnState(maker->getOperand(1));
    if (second && dependsOnState(maker->getOperand(0))) {
      fail(maker, "combines two readings of the state");
      return false;
    }
    if (isa<NegOp>(maker) || (isa<SubOp>(maker) && second))
      write.sign = -write.sign;
    from = maker->getOperand(second ? 1 : 0);
  }
}

} // namespace effc::seq
