// RUN: effc-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects a kind of field (uint, int, f16, bf16, f32, e8m0, e4m3, e5m2), but got 'u4'}}
func.func private @f() attributes {field = #storage.field<u4 [4 at 0 [4]]>}

// -----

// field1
// expected-error @below {{expects a field to have a piece, and as many strides in each, but got 2 pieces with 3 strides in all}}
func.func private @f() attributes {field = #storage.field<uint [4 at 0 [4], 1 at 32 [1, 2]]>}

// -----

// field2
// expected-error @below {{expects a piece of 1 to 32 bits, but got 0}}
func.func private @f() attributes {field = #storage.field<uint [0 at 0 [4]]>}

// -----

// field2
// expected-error @below {{expects 'f16' to have 16 bits, but got 8}}
func.func private @f() attributes {field = #storage.field<f16 [8 at 0 [4]]>}

// -----

// field2
// expected-error @below {{expects 'int' to have 1 to 16 bits, but got 24}}
func.func private @f() attributes {field = #storage.field<int [24 at 0 [24]]>}

// -----

// field3
// expected-error @below {{expects a table of an integer alone, and a bias of one or of an exponent, but got one of 'f16'}}
func.func private @f() attributes {field = #storage.field<f16 [16 at 0 [0]] bias 3>}

// -----

// field3
// expected-error @below {{expects a bias or a table, but got both}}
func.func private @f() attributes {field = #storage.field<uint [1 at 0 [1]] bias 3 table [1, 2]>}

// -----

// field4
// expected-error @below {{expects a table of 4 entries for 2 bits, but got 3}}
func.func private @f() attributes {field = #storage.field<uint [2 at 0 [2]] table [1, 2, 3]>}

// -----

// stored1
// expected-error @below {{expects digits that multiply to 'elements' (1 to 1024) and 1 to 4096 bytes, but got 32 elements, 34 bytes and digits of 24}}
func.func private @f(tensor<32x!storage.block<"a", elements = 32, bytes = 34, digits = [3, 8], code = int [8 at 16 [64, 8]]>>)

// -----

// stored2
// expected-error @below {{expects a stride for each of 2 digits, but got 1}}
func.func private @f(tensor<32x!storage.block<"a", elements = 32, bytes = 34, digits = [4, 8], code = int [8 at 16 [8]]>>)

// -----

// stored3
// expected-error @below {{expects every piece inside 33 bytes, each within a byte or of whole ones, but element 31 has one that is not}}
func.func private @f(tensor<32x!storage.block<"a", elements = 32, bytes = 33, digits = [32], code = int [8 at 16 [8]]>>)

// -----

// stored3
// expected-error @below {{expects every piece inside 8 bytes, each within a byte or of whole ones, but element 1 has one that is not}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 8, digits = [8], code = int [6 at 0 [6]]>>)

// -----

// stored3: 12 bits begin with a byte and end inside the next one; code that reads them loads one byte or whole ones.
// expected-error @below {{expects every piece inside 16 bytes, each within a byte or of whole ones, but element 0 has one that is not}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 16, digits = [8], code = int [12 at 0 [16]]>>)

// -----

// field2: fractions are read where they lie
// expected-error @below {{expects 'f16' to be one piece, but got 2}}
func.func private @f() attributes {field = #storage.field<f16 [8 at 64 [0], 8 at 80 [0]]>}

// -----

// stored4
// expected-error @below {{expects each element to have a code of its own, but that of element 1 shares bits with an earlier one's}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 8, digits = [8], code = int [8 at 0 [0]]>>)

// -----

// stored4
// expected-error @below {{expects codes apart from other fields, but they share bit 8}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 8, digits = [8], code = int [8 at 0 [8]], scale = [f16 [16 at 8 [0]]]>>)

// -----

// stored5
// expected-error @below {{expects a code of integers or of 8 bits and at most two factors each of 'scale', 'plus' and 'minus', but got a code of 'f16' and 0, 0, 0}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 16, digits = [8], code = f16 [16 at 0 [16]]>>)

// -----

// stored6
// expected-error @below {{expects an exact product of code and scale, or an f32 scale alone, but got 29 significant bits}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 20, digits = [8], code = int [8 at 0 [8]], scale = [f16 [16 at 64 [0]], f16 [16 at 80 [0]]]>>)

// -----

// stored6
// expected-error @below {{expects an exact product of code and scale, or an f32 scale alone, but got 31 significant bits}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 20, digits = [8], code = int [8 at 0 [8]], scale = [f32 [32 at 64 [0]]], plus = [f16 [16 at 96 [0]]]>>)

// -----

// expected-error @below {{expects 'zero', 'scale', 'plus' and 'minus' in this order, each once, but got 'scale'}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 20, digits = [8], code = int [8 at 0 [8]], minus = [f16 [16 at 64 [0]]], scale = [f16 [16 at 80 [0]]]>>)

// -----

// stored5: two zeros
// expected-error @below {{expects at most one 'zero', an integer as its code is one, but got 2 beside a code of 'int'}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 20, digits = [8], code = int [8 at 0 [8]], zero = [uint [8 at 64 [0]], uint [8 at 72 [0]]]>>)

// -----

// stored5: a zero of numbers
// expected-error @below {{expects at most one 'zero', an integer as its code is one, but got 1 beside a code of 'e4m3'}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 20, digits = [8], code = e4m3 [8 at 0 [8]], zero = [uint [8 at 64 [0]]]>>)

// -----

// stored4: a zero in a code
// expected-error @below {{expects codes apart from other fields, but they share bit 8}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 20, digits = [8], code = int [8 at 0 [8]], zero = [uint [8 at 8 [0]]]>>)

// -----

// stored6: differences of 17 bits, a scale of 11
// expected-error @below {{expects an exact product of code and scale, or an f32 scale alone, but got 28 significant bits}}
func.func private @f(tensor<2x!storage.block<"a", elements = 2, bytes = 8, digits = [2], code = int [16 at 0 [16]], zero = [uint [16 at 32 [0]]], scale = [f16 [16 at 48 [0]]]>>)

// -----

// stored6: an entry that no f32 is
// expected-error @below {{expects an exact product of code and scale, or an f32 scale alone, but got 49 significant bits}}
func.func private @f(tensor<8x!storage.block<"a", elements = 8, bytes = 8, digits = [8], code = uint [1 at 0 [1]] table [16777217, 1], scale = [f32 [32 at 32 [0]]]>>)
