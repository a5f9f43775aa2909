# cmake -DINTO=united.cpp "-DSOURCES=a_test.cpp;…" -P UniteTests.cmake
#
# Writes several test sources into one, so that their headers and GoogleTest's templates are compiled once. Each source's
# unnamed namespace gets a name of its own: helpers of one name in two of them remain two.
set(united "")
foreach(source IN LISTS SOURCES)
  file(READ "${source}" text)
  string(MAKE_C_IDENTIFIER "${source}" name)
  string(REPLACE "\nnamespace {\n" "\nnamespace ${name} {\n" text "${text}")
  string(APPEND united "#line 1 \"${source}\"\n${text}\n")
endforeach()
file(WRITE "${INTO}" "${united}")
