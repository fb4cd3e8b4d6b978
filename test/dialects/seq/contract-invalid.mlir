// RUN: effc-opt %s --split-input-file --verify-diagnostics

// Each function breaks the constraint it is named by.

func.func @contract1_two_maps(%a: tensor<7x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{expects 'indexing_maps' for 'lhs', 'rhs' and 'out', but got 2 maps}}
  %y = seq.contract %a, %b {indexing_maps = [
      affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (k, j)>]}
      : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @contract1_other_space(%a: tensor<7x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{expects the map of 'rhs' to choose among 3 dimensions, none twice, but got affine_map<(d0, d1) -> (d0, d1)>}}
  %y = seq.contract %a, %b {indexing_maps = [
      affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j) -> (i, j)>,
      affine_map<(i, j, k) -> (i, j)>]}
      : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @contract1_sum_of_dimensions(%a: tensor<7x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{expects the map of 'out' to choose among 3 dimensions, none twice, but got affine_map<(d0, d1, d2) -> (d0 + d1, d1)>}}
  %y = seq.contract %a, %b {indexing_maps = [
      affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i + j, j)>]}
      : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @contract1_diagonal(%a: tensor<7x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{expects the map of 'lhs' to choose among 3 dimensions, none twice, but got affine_map<(d0, d1, d2) -> (d0, d0)>}}
  %y = seq.contract %a, %b {indexing_maps = [
      affine_map<(i, j, k) -> (i, i)>,
      affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>]}
      : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @contract1_symbol(%a: tensor<7x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{expects the map of 'lhs' to choose among 3 dimensions, none twice, but got affine_map<(d0, d1, d2)[s0] -> (d0, d2)>}}
  %y = seq.contract %a, %b {indexing_maps = [
      affine_map<(i, j, k)[s] -> (i, k)>,
      affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>]}
      : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @contract2_too_few_results(%a: tensor<7x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{expects the map of 'lhs' to have 2 results, but got affine_map<(d0, d1, d2) -> (d0)>}}
  %y = seq.contract %a, %b {indexing_maps = [
      affine_map<(i, j, k) -> (i)>,
      affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>]}
      : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @contract3_dimension_of_the_result_alone(%a: tensor<7x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{expects dimension d3 in the map of 'lhs' or of 'rhs', but got it in neither}}
  %y = seq.contract %a, %b {indexing_maps = [
      affine_map<(i, j, k, l) -> (i, k)>,
      affine_map<(i, j, k, l) -> (k, j)>,
      affine_map<(i, j, k, l) -> (i, l)>]}
      : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @contract4_inputs_disagree(%a: tensor<7x3xf32>, %b: tensor<4x5xf32>) {
  // expected-error @+2 {{expects dimension d2 of one extent, but got 3 and 4}}
  // expected-note @+1 {{d2 is axis 1 of 'lhs', axis 0 of 'rhs': a map perhaps names its operand's dimensions in another order}}
  %y = seq.contract %a, %b {indexing_maps = [
      affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>]}
      : (tensor<7x3xf32>, tensor<4x5xf32>) -> tensor<7x5xf32>
  return
}

// -----

func.func @contract4_result_disagrees(%a: tensor<7x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+2 {{expects dimension d1 of one extent, but got 5 and 6}}
  // expected-note @+1 {{d1 is axis 1 of 'rhs', axis 1 of 'out': a map perhaps names its operand's dimensions in another order}}
  %y = seq.contract %a, %b {indexing_maps = [
      affine_map<(i, j, k) -> (i, k)>,
      affine_map<(i, j, k) -> (k, j)>,
      affine_map<(i, j, k) -> (i, j)>]}
      : (tensor<7x3xf32>, tensor<3x5xf32>) -> tensor<7x6xf32>
  return
}
