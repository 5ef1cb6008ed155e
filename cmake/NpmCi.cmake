# cmake -DNPM=... -DWEB=... -P NpmCi.cmake: installs the packages of web/ as its lock file says, unless they are there.
# npm leaves node_modules/.package-lock.json when it is done. Build folders share node_modules, so one at a time.
file(LOCK ${WEB}/../build/npm-ci.lock GUARD PROCESS TIMEOUT 600)
set(installed ${WEB}/node_modules/.package-lock.json)
if(EXISTS ${installed} AND NOT ${WEB}/package-lock.json IS_NEWER_THAN ${installed})
  return()
endif()
execute_process(COMMAND ${NPM} ci --include=dev --no-progress WORKING_DIRECTORY ${WEB}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "error: npm ci failed in ${WEB}; the report page needs the packages of web/package-lock.json.\n${output}")
endif()
file(TOUCH ${installed})
