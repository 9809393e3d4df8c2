# Writes a source file with the content of all files below a folder:
#   cmake -DFOLDER=web/dist -DOUTPUT=page_files.cc -P embed_pages.cmake
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(arrays "")
set(table "")
set(number 0)
foreach(file ${files})
  file(READ ${FOLDER}/${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "constexpr unsigned char kFile${number}[] = {${bytes}0};\n")
  string(APPEND table "    {\"/${file}\", {reinterpret_cast<const char*>(kFile${number}), sizeof(kFile${number}) - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"client/gate/pages.h\"

namespace curator::gate {
namespace {

${arrays}
}  // namespace

std::span<const PageFile> PageFiles() {
  static const PageFile kFiles[] = {
${table}  };
  return kFiles;
}

}  // namespace curator::gate
")
