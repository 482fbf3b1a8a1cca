#include "server/core/replay/preemption_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace detrec::core {

std::vector<PriorityFrom> PreemptionHistory::as_from() const {
  std::vector<PriorityFrom> out{{LogicalTime{}, initial()}};
  for (std::size_t i = 0; i < changes.size(); ++i)
    out.push_back({changes[i].time, i + 1 < changes.size() ? changes[i + 1].until : final});
  return out;
}

PreemptionHistory PreemptionHistory::from_from(const std::vector<PriorityFrom>& list) {
  PreemptionHistory h;
  for (std::size_t i = 0; i + 1 < list.size(); ++i) h.changes.push_back({list[i + 1].time, list[i].from});
  if (!list.empty()) h.final = list.back().from;
  return h;
}

std::optional<std::string> PreemptionRecord::invalid() const {
  for (const auto& [tid, h] : threads) {
    const auto bad = [&tid = tid](const char* what) { return fmt::format("thread {}: {}", tid.value, what); };
    if (!valid_priority(h.final)) return bad("final priority out of range");
    for (std::size_t i = 0; i < h.changes.size(); ++i) {
      if (!valid_priority(h.changes[i].until)) return bad("priority out of range");
      if (i > 0 && h.changes[i].time <= h.changes[i - 1].time) return bad("change times do not grow");
    }
    if (!h.points.empty() && h.points.size() != h.changes.size()) return bad("not one point for each change");
    if (!std::is_sorted(h.points.begin(), h.points.end())) return bad("points fall");
    for (std::size_t i = 0; i < h.epochs.size(); ++i) {
      if (h.epochs[i].factor.q32 == 0) return bad("an epoch factor is not positive");
      if (i > 0 && (h.epochs[i].time <= h.epochs[i - 1].time || h.epochs[i].number <= h.epochs[i - 1].number))
        return bad("epochs do not grow");
    }
  }
  return std::nullopt;
}

std::string PreemptionRecord::json() const {
  nlohmann::json out;
  out["version"] = 1;
  out["threads"] = nlohmann::json::object();
  for (const auto& [tid, h] : threads) {
    nlohmann::json t;
    t["final"] = h.final.value;
    t["changes"] = nlohmann::json::array();
    for (const auto& c : h.changes) t["changes"].push_back({c.time.ns, c.until.value});
    t["points"] = nlohmann::json::array();
    for (const auto& p : h.points) t["points"].push_back({p.ticks, p.pc});
    t["epochs"] = nlohmann::json::array();
    for (const auto& e : h.epochs) t["epochs"].push_back({e.time.ns, e.number, e.factor.q32});
    out["threads"][fmt::format("{}", tid.value)] = std::move(t);
  }
  out["events"] = nlohmann::json::array();
  for (const auto& e : events) out["events"].push_back(nlohmann::json::parse(e.serialised()));
  return out.dump(1);
}

Outcome<PreemptionRecord, std::string> PreemptionRecord::parse(const std::string& text) {
  const auto j = nlohmann::json::parse(text, nullptr, false);
  if (!j.is_object() || !j.contains("threads") || !j["threads"].is_object())
    return std::string("not a preemption record");
  // A list of rows of `width` unsigned numbers; missing means none (PREEMPT-7).
  using Rows = std::vector<std::vector<std::uint64_t>>;
  bool shaped = true;
  const auto rows = [&shaped](const nlohmann::json& t, const char* key, std::size_t width) {
    Rows out;
    if (!t.contains(key)) return out;
    for (const auto& row : t[key]) {
      if (!row.is_array() || row.size() != width) {
        shaped = false;
        continue;
      }
      auto& numbers = out.emplace_back();
      for (const auto& n : row) {
        shaped = shaped && n.is_number_unsigned();
        numbers.push_back(n.is_number_unsigned() ? n.get<std::uint64_t>() : 0);
      }
    }
    return out;
  };
  const auto priority = [](std::uint64_t v) {
    return Priority{v > kLastPriority.value ? 0 : static_cast<std::uint32_t>(v)};
  };
  PreemptionRecord record;
  for (const auto& [name, t] : j["threads"].items()) {
    char* end = nullptr;
    const long tid = std::strtol(name.c_str(), &end, 10);
    if (*end != 0 || tid <= 0 || tid > INT32_MAX || !t.is_object() || !t.contains("final") ||
        !t["final"].is_number_unsigned())
      return std::string("a thread of the preemption record is malformed");
    PreemptionHistory& h = record.threads[{static_cast<std::int32_t>(tid)}];
    h.final = priority(t["final"].get<std::uint64_t>());
    for (const auto& r : rows(t, "changes", 2)) h.changes.push_back({{r[0]}, priority(r[1])});
    for (const auto& r : rows(t, "points", 2)) h.points.push_back({r[0], r[1]});
    for (const auto& r : rows(t, "epochs", 3)) h.epochs.push_back({{r[0]}, r[1], {r[2]}});
  }
  if (j.contains("events")) {
    for (const auto& e : j["events"]) {
      const auto event = ScheduleEvent::parse(e.dump());
      shaped = shaped && event.has_value();
      if (event) record.events.push_back(*event);
    }
  }
  if (!shaped) return std::string("the preemption record is malformed");
  if (auto reason = record.invalid()) return *reason;
  return record;
}

void PreemptionRecord::normalise() {
  std::set<Priority> distinct;
  std::erase_if(threads,
                [](const auto& t) { return t.second.changes.empty() && t.second.final == kDefaultPriority; });
  distinct.insert(kDefaultPriority);
  for (const auto& [tid, h] : threads) {
    distinct.insert(h.final);
    for (const auto& c : h.changes) distinct.insert(c.until);
  }
  std::map<Priority, Priority> renamed;
  std::uint32_t next = kDefaultPriority.value;
  for (const Priority p : distinct) renamed[p] = {next++};
  for (auto& [tid, h] : threads) {
    h.final = renamed[h.final];
    for (auto& c : h.changes) c.until = renamed[c.until];
  }
}

void PreemptionRecord::drop_latest() {
  PreemptionHistory* latest = nullptr;
  for (auto& [tid, h] : threads) {
    if (!h.changes.empty() && (latest == nullptr || h.changes.back().time >= latest->changes.back().time))
      latest = &h;
  }
  if (latest == nullptr) {
    if (!threads.empty()) threads.erase(std::prev(threads.end()));
    return;
  }
  latest->final = latest->changes.back().until;
  latest->changes.pop_back();
  if (!latest->points.empty()) latest->points.pop_back();
}

std::size_t PreemptionRecord::changes() const {
  std::size_t n = 0;
  for (const auto& [tid, h] : threads) n += h.changes.size();
  return n;
}

PreemptionWriter::~PreemptionWriter() { flush(); }

PreemptionHistory& PreemptionWriter::history(ThreadId tid) {
  const auto it = record_.threads.find(tid);
  if (it == record_.threads.end()) fatal("thread {} is unknown to the preemption record", tid.value);
  return it->second;
}

void PreemptionWriter::add_thread(ThreadId tid, Priority initial) {
  if (!record_.threads.try_emplace(tid).second)
    fatal("thread {} is twice in the preemption record", tid.value);
  record_.threads[tid].final = initial;
}

void PreemptionWriter::change(ThreadId tid, LogicalTime time, Priority before, Priority after,
                              std::optional<TickPoint> point) {
  PreemptionHistory& h = history(tid);
  if (h.final != before)
    fatal("thread {} changes from priority {} but has {}", tid.value, before.value, h.final.value);
  if (!h.changes.empty() && time <= h.changes.back().time)
    fatal("thread {} changes priority at {}, which does not grow", tid.value, to_string(time));
  h.changes.push_back({time, before});
  if (point) h.points.push_back(*point);
  h.final = after;
}

void PreemptionWriter::epoch(ThreadId tid, const ChaosEpoch& epoch) {
  PreemptionHistory& h = history(tid);
  if (!h.epochs.empty() && (epoch.time <= h.epochs.back().time || epoch.number <= h.epochs.back().number))
    fatal("thread {}: chaos epoch {} does not grow", tid.value, epoch.number);
  h.epochs.push_back(epoch);
}

void PreemptionWriter::set_current(ThreadId tid, Priority priority) { history(tid).final = priority; }

std::optional<std::string> PreemptionWriter::flush() {
  if (flushed_ || destination_ == nullptr) return std::nullopt;
  flushed_ = true;
  std::string error;
  if (destination_->write(record_.json(), error)) return std::nullopt;
  return error.empty() ? std::string("write failed") : error;
}

}  // namespace detrec::core
