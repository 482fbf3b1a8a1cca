#include "storage/trace_info.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace detrec::storage {

std::string_view RecordingTable::text(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? std::string_view{} : std::string_view(found->second);
}

std::uint64_t RecordingTable::number(std::string_view key) const {
  const std::string_view value = text(key);
  std::uint64_t number = 0;
  const auto [stop, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  return code == std::errc{} && stop == value.data() + value.size() ? number : 0;
}

std::vector<std::string> RecordingTable::command() const {
  std::vector<std::string> words;
  const auto json = nlohmann::json::parse(text("command"), nullptr, false);
  if (!json.is_array()) return words;
  for (const auto& word : json) {
    if (!word.is_string()) return {};
    words.push_back(word.get<std::string>());
  }
  return words;
}

std::string to_json_array(const std::vector<std::string>& words) {
  return nlohmann::json(words).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace detrec::storage
