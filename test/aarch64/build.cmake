# Builds TARGETS for Arm in the folder BUILD, as users do who have no use for the
# simulated GPU.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE err)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: status ${status}\n${out}\n${err}")
  endif()
endfunction()

# As tools/build does.
set(ENV{CCACHE_SLOPPINESS} pch_defines,time_macros,include_file_mtime,include_file_ctime)
set(ENV{CCACHE_DEPEND} 1)
run(${CMAKE_COMMAND} -S ${SOURCES} -B ${BUILD} -G ${GENERATOR}
  --toolchain ${SOURCES}/tools/aarch64-linux-gnu.cmake -DCMAKE_BUILD_TYPE=Release
  -DEFFC_BUILD_COMPILER=OFF -DEFFC_BUILD_BY_FOLDER=ON -DEFFC_SIMULATOR=OFF
  -DCMAKE_C_COMPILER_LAUNCHER=${C_LAUNCHER}
  -DCMAKE_CXX_COMPILER_LAUNCHER=${CXX_LAUNCHER})
run(${CMAKE_COMMAND} --build ${BUILD} --target ${TARGETS})
