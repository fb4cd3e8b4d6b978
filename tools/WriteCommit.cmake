cmake_minimum_required(VERSION 3.25)
# Writes OUTPUT, a header with the commit of SOURCE; leaves it alone when nothing
# has changed, so that nothing is compiled anew. Run at every build. Sources
# without a repository of their own have none, whatever lies above them.
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(
    COMMAND git -C ${SOURCE} describe --always --dirty --exclude=* --abbrev=12
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE failed ERROR_QUIET)
endif()
if(failed OR commit STREQUAL "")
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define EFFC_COMMIT \"${commit}\"\n")
