#include "sim/query/expression.hpp"

#include <algorithm>

#include "sim/query/table.hpp"
#include "sim/store/database.hpp"

namespace syncline::batch {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool goes_on(char c) {
    return is_letter(c) || is_digit(c);
}
bool is_quote(char c) {
    return c == '\'' || c == '"' || c == '`';
}

std::string trimmed(const std::string& text) {
    const auto begin = text.find_first_not_of(" \t\n");
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_last_not_of(" \t\n") + 1 - begin);
}

/// Returns the end of the quoted text that begins at `start`; a doubled quote is part of the text.
std::size_t end_of_quoted(const std::string& text, std::size_t start) {
    const char quote = text[start];
    for (std::size_t i = start + 1; i < text.size(); ++i) {
        if (text[i] != quote) continue;
        if (i + 1 == text.size() || text[i + 1] != quote) return i + 1;
        ++i;
    }
    throw SqlError(std::string("this ") + quote + " is not closed", "", text.substr(start));
}

/// Returns where a name may end that begins at `start`, in ascending order: before each `.` and `-`, and after the last
/// letter. A quoted key may be a part of it: `calibration."gpt-3.6b".batch`.
std::vector<std::size_t> ends_of_name(const std::string& text, std::size_t start) {
    std::vector<std::size_t> ends;
    std::size_t i = start;
    const auto next = [&] { return i + 1 < text.size() ? text[i + 1] : '\0'; };
    while (i < text.size()) {
        const bool separates = text[i] == '.' || text[i] == '-';
        const bool quoted = text[i] == '.' && next() == '"';
        if (!quoted && !goes_on(text[i]) && !(separates && goes_on(next()))) break;
        if (separates) ends.push_back(i);
        i = quoted ? end_of_quoted(text, i + 1) : i + 1;
    }
    ends.push_back(i);
    return ends;
}

}  // namespace

std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (std::size_t i = 0, end = 0; i < text.size(); i = end) {
        end = is_quote(text[i]) ? end_of_quoted(text, i) : i + 1;
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0 && text[i] == ',')
            parts.emplace_back();
        else
            parts.back().append(text, i, end - i);
    }
    for (std::string& part : parts) {
        part = trimmed(part);
        if (part.empty()) throw SqlError("this list has an empty item");
    }
    return parts;
}

void ColumnNames::add(const std::string& column, const std::vector<std::string>& aliases) {
    const auto claim = [&](const std::string& said) {
        const auto same = [&](const auto& known) { return known.first == said; };
        if (std::none_of(names_.begin(), names_.end(), same)) names_.emplace_back(said, column);
    };
    claim(column);
    for (const std::string& alias : aliases) claim(alias);
}

std::optional<std::string> ColumnNames::find(const std::string& name) const {
    for (const auto& [said, column] : names_)
        if (said == name) return column;
    if (is_keyword(name)) return {};
    for (const auto& [said, column] : names_)
        if (said.starts_with(name + "_")) return column;
    return {};
}

std::string ColumnNames::quoted(const std::string& expression) const {
    std::string sql;
    for (std::size_t i = 0, end = 0; i < expression.size(); i = end) {
        end = i + 1;
        if (is_quote(expression[i])) {
            end = end_of_quoted(expression, i);
            const bool quantity = expression[i] == '\'' && number_of(expression.substr(i + 1, end - i - 2)).has_value();
            const std::string text = expression.substr(i, end - i);
            sql += quantity ? "quantity(" + text + ")" : text;
        } else if (is_letter(expression[i])) {
            const auto column = column_at(expression, i, end);
            const std::string name = expression.substr(i, end - i);
            // SQLite would not read a name of many parts. In quotes it is one, and reported as unknown.
            sql += column ? sql_name(*column) : name.find('.') != std::string::npos ? sql_name(name) : name;
        } else {
            // The letters of a number, as in `1e-9`, begin no name.
            while (is_digit(expression[i]) && goes_on(expression[end])) ++end;
            sql.append(expression, i, end - i);
        }
    }
    return sql;
}

/// Returns the column with the longest name that begins at `begin`, and the name's end: `ranks-1` is a difference,
/// `batch-size` may be a name. If there is none, returns the end of a text that contains no name.
std::optional<std::string> ColumnNames::column_at(const std::string& text, std::size_t begin, std::size_t& end) const {
    const std::vector<std::size_t> ends = ends_of_name(text, begin);
    for (auto known = ends.rbegin(); known != ends.rend(); ++known) {
        end = *known;
        if (end == ends.back() && text[end] == '(') continue;  // a function
        if (auto column = find(text.substr(begin, end - begin))) return column;
    }
    end = *std::find_if(ends.begin(), ends.end() - 1, [&](std::size_t place) { return text[place] == '-'; });
    return {};
}

std::vector<std::string> ColumnNames::all() const {
    std::vector<std::string> said;
    for (const auto& [name, column] : names_) said.push_back(name);
    return said;
}

std::string sql_name(const std::string& name) {
    std::string quoted = "\"";
    for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
}

}  // namespace syncline::batch
