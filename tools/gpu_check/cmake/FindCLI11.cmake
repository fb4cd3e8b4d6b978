# The headers that were gathered, which are on the include path.
add_library(CLI11::CLI11 INTERFACE IMPORTED)
set(CLI11_FOUND ON)
