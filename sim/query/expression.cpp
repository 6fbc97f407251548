#include "sim/query/expression.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

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

std::string doubled(const std::string& text, char quote) {
    std::string result(1, quote);
    for (const char c : text) {
        if (c == quote) result += quote;
        result += c;
    }
    return result + quote;
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

/// Returns the end of a number: digits, a fraction, an exponent. Letters that follow directly, as in `2x`, are part of
/// it.
std::size_t end_of_number(const std::string& text, std::size_t start) {
    std::size_t i = start;
    while (i < text.size() && (goes_on(text[i]) || text[i] == '.' ||
                               ((text[i] == '-' || text[i] == '+') && (text[i - 1] == 'e' || text[i - 1] == 'E'))))
        ++i;
    return i;
}

/// Returns the end of a name, of which a quoted key may be a part: `calibration."gpt-3.6b".batch`.
std::size_t end_of_name(const std::string& text, std::size_t start) {
    std::size_t i = start;
    const auto next = [&] { return i + 1 < text.size() ? text[i + 1] : '\0'; };
    while (i < text.size()) {
        if (text[i] == '.' && next() == '"')
            i = end_of_quoted(text, i + 1);
        else if (goes_on(text[i]) || ((text[i] == '.' || text[i] == '-') && goes_on(next())))
            ++i;
        else
            break;
    }
    return i;
}

}  // namespace

std::vector<Token> tokens_of(const std::string& expression) {
    std::vector<Token> tokens;
    int depth = 0;
    for (std::size_t i = 0; i < expression.size();) {
        const char c = expression[i];
        const std::string_view rest = std::string_view(expression).substr(i);
        std::size_t end = i + 1;
        Token::Kind kind = Token::Kind::other;
        if (c == '\'' || c == '"' || c == '`') {
            end = end_of_quoted(expression, i);
            if (c == '\'') kind = Token::Kind::text;
        } else if (is_letter(c)) {
            end = end_of_name(expression, i);
            kind = Token::Kind::name;
        } else if (is_digit(c)) {
            end = end_of_number(expression, i);
        } else if (c == ';' || rest.starts_with("--") || rest.starts_with("/*") || c == '?' || c == '[' || c == '\0') {
            throw SqlError("an expression must not contain this", "", std::string(rest));
        }
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (depth < 0) throw SqlError("this ) closes nothing", "", std::string(rest));
        tokens.push_back({kind, expression.substr(i, end - i)});
        i = end;
    }
    if (depth > 0) throw SqlError("missing )");
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) tokens[i].called = tokens[i + 1].written == "(";
    return tokens;
}

std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const Token& token : tokens_of(text)) {
        depth += token.written == "(" ? 1 : token.written == ")" ? -1 : 0;
        if (depth == 0 && token.written == ",")
            parts.emplace_back();
        else
            parts.back() += token.written;
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
    for (const Token& token : tokens_of(expression)) {
        const bool quantity =
            token.kind == Token::Kind::text && number_of(token.written.substr(1, token.written.size() - 2)).has_value();
        if (quantity)
            sql += "quantity(" + token.written + ")";
        else
            sql += token.kind == Token::Kind::name ? columns_in(token) : token.written;
    }
    return sql;
}

/// Quotes the longest beginning of the run that is a column: `ranks-1` is a difference, `batch-size` may be a name.
std::string ColumnNames::columns_in(const Token& run) const {
    const std::string& text = run.written;
    for (std::size_t end = text.size(); end != std::string::npos && end > 0; end = text.find_last_of(".-", end - 1)) {
        if (end == text.size() && run.called) continue;
        const auto column = find(text.substr(0, end));
        if (!column) continue;
        if (end == text.size()) return sql_name(*column);
        return sql_name(*column) + text[end] + columns_in({run.kind, text.substr(end + 1), run.called});
    }
    const auto minus = text.find('-');
    if (minus == std::string::npos) return text;
    return text.substr(0, minus + 1) + columns_in({run.kind, text.substr(minus + 1), run.called});
}

std::vector<std::string> ColumnNames::all() const {
    std::vector<std::string> said;
    for (const auto& [name, column] : names_) said.push_back(name);
    return said;
}

std::string sql_name(const std::string& name) {
    return doubled(name, '"');
}

}  // namespace syncline::batch
