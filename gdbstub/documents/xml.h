// Text inside XML documents.
#pragma once

#include <string>
#include <string_view>

namespace detrec::gdbstub::documents {

/// Replaces the five characters with a meaning in XML, and control characters (which it cannot carry) by '?'.
std::string xml_escape(std::string_view text);

}  // namespace detrec::gdbstub::documents
