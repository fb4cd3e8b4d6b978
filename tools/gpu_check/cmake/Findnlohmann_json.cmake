# The headers that were gathered, which are on the include path.
add_library(nlohmann_json::nlohmann_json INTERFACE IMPORTED)
set(nlohmann_json_FOUND ON)
