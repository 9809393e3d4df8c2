# Debian wants manual pages and changelogs compressed; the same bytes each time, without names and times.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.1 ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*.8
  ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*changelog)
foreach(page ${pages})
  execute_process(COMMAND gzip -9nf ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
