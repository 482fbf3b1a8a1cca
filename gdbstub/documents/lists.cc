#include "gdbstub/documents/lists.h"

#include "gdbstub/documents/xml.h"
#include "gdbstub/packet/hex.h"
#include "gdbstub/packet/thread_id.h"

namespace detrec::gdbstub::documents {

namespace {

std::string address_attribute(const char* name, Address address) {
  return std::string(" ") + name + "=\"0x" + packet::hex_number(address.value) + "\"";
}

}  // namespace

std::string threads_xml(std::span<const ThreadInfo> threads, bool multiprocess) {
  std::string text = "<?xml version=\"1.0\"?>\n<threads>\n";
  for (const auto& thread : threads) {
    text += "<thread id=\"" + packet::thread_text(thread.id, multiprocess) + "\" core=\"" +
            std::to_string(thread.core) + "\"";
    if (!thread.name.empty()) text += " name=\"" + xml_escape(thread.name) + "\"";
    text += ">" + xml_escape(thread.extra) + "</thread>\n";
  }
  return text + "</threads>\n";
}

std::string libraries_xml(const LibraryList& list) {
  std::string text = "<library-list-svr4 version=\"1.0\"";
  if (list.main_link_map != Address{}) text += address_attribute("main-lm", list.main_link_map);
  text += ">\n";
  for (const auto& library : list.libraries) {
    text += "<library name=\"" + xml_escape(library.path) + "\"" + address_attribute("lm", library.link_map) +
            address_attribute("l_addr", library.load_bias) +
            address_attribute("l_ld", library.dynamic_section) + " lmid=\"0x0\"/>\n";
  }
  return text + "</library-list-svr4>\n";
}

}  // namespace detrec::gdbstub::documents
