#include "sim/config/submissions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/base/number.hpp"

namespace syncline::config {

namespace {

/// Returns the fields of a line, without the quotes around them.
std::vector<std::string> fields_of(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            fields.emplace_back();
        else if (c != '\r')
            fields.back() += c;
    }
    return fields;
}

/// Reads whole numbers from the front of a text.
class Digits {
public:
    explicit Digits(std::string_view text) : left_(text) {}

    /// Returns a number of `length` digits.
    std::optional<int> number(std::size_t length) {
        int value = 0;
        if (left_.size() < length) return std::nullopt;
        const auto [end, error] = std::from_chars(left_.data(), left_.data() + length, value);
        if (error != std::errc() || end != left_.data() + length) return std::nullopt;
        left_.remove_prefix(length);
        return value;
    }
    /// Skips one of these characters, and returns it.
    std::optional<char> skip(std::string_view any) {
        if (left_.empty() || any.find(left_.front()) == any.npos) return std::nullopt;
        const char c = left_.front();
        left_.remove_prefix(1);
        return c;
    }
    bool at_end() const { return left_.empty(); }

private:
    std::string_view left_;
};

/// Returns seconds since 1970 of "2020-04-01 12:30:00", with or without a zone such as "+08:00" or "Z".
std::optional<double> date_s(std::string_view text) {
    Digits digits(text);
    const auto year = digits.number(4);
    const bool dashed = digits.skip("-").has_value();
    const auto month = digits.number(2);
    const bool twice = digits.skip("-").has_value();
    const auto day = digits.number(2);
    if (!year || !month || !day || !dashed || !twice) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    double seconds = std::chrono::duration<double>(std::chrono::sys_days(date).time_since_epoch()).count();
    if (digits.at_end()) return seconds;
    double unit_s = 3600;
    for (const char* before : {" T", ":", ":"}) {
        const bool there = digits.skip(before).has_value();
        const auto number = there ? digits.number(2) : std::nullopt;
        if (!number) return std::nullopt;
        seconds += unit_s * *number;
        unit_s /= 60;
    }
    if (const auto sign = digits.skip("+-")) {
        const auto hours = digits.number(2);
        digits.skip(":");
        const auto minutes = digits.number(2);
        if (!hours) return std::nullopt;
        seconds -= (*sign == '+' ? 1 : -1) * (3600.0 * *hours + 60.0 * minutes.value_or(0));
    } else {
        digits.skip("Z");
    }
    return digits.at_end() ? std::optional(seconds) : std::nullopt;
}

std::optional<double> time_s(const std::string& text) {
    if (const auto number = number_in<double>(text)) return number;
    return date_s(text);
}

/// The log being read.
class Log {
public:
    Log(const std::string& path, const std::vector<std::string>& head) : path_(path), head_(head) {}

    bool has(const char* name) const { return std::ranges::find(head_, name) != head_.end(); }
    void next(int line, const std::string& text) {
        line_ = line;
        text_ = text;
        fields_ = fields_of(text);
    }
    /// Returns the field of this line; empty if it has none.
    std::string field(const char* name) const {
        const auto column = static_cast<std::size_t>(std::ranges::find(head_, name) - head_.begin());
        return column < fields_.size() ? fields_[column] : "";
    }
    [[noreturn]] void fail(const std::string& message, const std::string& hint) const {
        throw ConfigError({{{path_, line_, 1, text_}, message, hint}});
    }
    double seconds(const char* name) const {
        const std::optional<double> value = time_s(field(name));
        if (!value)
            fail(fmt::format("'{}': '{}' is not a time", name, field(name)),
                 "write seconds, or a date such as 2020-04-01 12:30:00");
        return *value;
    }

private:
    const std::string& path_;
    const std::vector<std::string> head_;
    std::vector<std::string> fields_;
    int line_ = 1;
    std::string text_;
};

/// Returns whether a log has no such time of a job.
bool is_missing(const std::string& field) {
    return field.empty() || field == "None" || field == "NA" || field == "nan" || field == "NaN" || field == "null";
}

}  // namespace

std::vector<Submission> read_submissions(const std::string& path, const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        lines.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    Log log(path, fields_of(lines.empty() ? "" : lines.front()));
    log.next(1, lines.empty() ? "" : lines.front());
    const bool interval = log.has("start_time") && log.has("end_time");
    if (!log.has("submit_time") || !log.has("gpu_num") || !(interval || log.has("duration")))
        log.fail("the first line does not name the columns of a log",
                 "it needs submit_time, gpu_num, and start_time and end_time, or duration");
    std::vector<Submission> all;
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (lines[i].empty() || lines[i] == "\r") continue;
        log.next(static_cast<int>(i) + 1, lines[i]);
        const auto gpus = number_in<std::uint32_t>(log.field("gpu_num"));
        if (!gpus)
            log.fail(fmt::format("'gpu_num': '{}' is not a number of GPUs", log.field("gpu_num")),
                     "write a whole number");
        const bool ran = interval ? !is_missing(log.field("start_time")) && !is_missing(log.field("end_time"))
                                  : !is_missing(log.field("duration"));
        if (*gpus == 0 || !ran) continue;
        const double duration_s =
            interval ? log.seconds("end_time") - log.seconds("start_time") : log.seconds("duration");
        if (duration_s < 0) log.fail("this job ends before it starts", "");
        if (duration_s > 0) all.push_back({log.seconds("submit_time"), fmt::format("{}", *gpus), duration_s});
    }
    std::ranges::stable_sort(all, {}, &Submission::submit_s);
    const double first_s = all.empty() ? 0 : all.front().submit_s;
    for (Submission& one : all) one.submit_s -= first_s;
    return all;
}

}  // namespace syncline::config
