#include "sim/query/expression.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "sim/base/trimmed.hpp"
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
bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
bool is_quote(char c) {
    return c == '\'' || c == '"' || c == '`';
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

/// Returns the end of the number that begins at `start`, with all letters of it: `1e-9`, `0x1f`.
std::size_t end_of_number(const std::string& text, std::size_t start) {
    const bool hexadecimal = text[start] == '0' && (text[start + 1] == 'x' || text[start + 1] == 'X');
    std::size_t end = start;
    for (; end < text.size(); ++end) {
        const bool exponent = end > start && !hexadecimal && (text[end - 1] == 'e' || text[end - 1] == 'E');
        const bool sign = exponent && (text[end] == '+' || text[end] == '-') && is_digit(text[end + 1]);
        if (!goes_on(text[end]) && text[end] != '.' && !sign) break;
    }
    return end;
}

/// Returns whether two letters are an operator.
bool is_operator(const std::string& letters) {
    for (const char* known : {"==", "!=", "<>", "<=", ">=", "||", "<<", ">>"})
        if (letters == known) return true;
    return false;
}

bool is_constant(std::string word) {
    for (char& letter : word) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return word == "true" || word == "false" || word == "null";
}

/// Returns what stands in quotes.
std::string unquoted(const std::string& text) {
    std::string inner;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        inner += text[i];
        if (text[i] == text.front()) ++i;  // doubled
    }
    return inner;
}

std::string sql_text(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
    return quoted + '\'';
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
        part = std::string(trimmed(part, " \t\n"));
        if (part.empty()) throw SqlError("this list has an empty item");
    }
    return parts;
}

void ColumnNames::add(const std::string& column, const std::vector<std::string>& aliases, Values values) {
    const auto claim = [&](const std::string& said) {
        const auto same = [&](const Name& known) { return known.said == said; };
        if (std::none_of(names_.begin(), names_.end(), same)) names_.push_back({said, column, values});
    };
    claim(column);
    for (const std::string& alias : aliases) claim(alias);
}

const ColumnNames::Name* ColumnNames::named(const std::string& name) const {
    for (const Name& known : names_)
        if (known.said == name) return &known;
    if (is_keyword(name)) return nullptr;
    for (const Name& known : names_)
        if (known.said.starts_with(name + "_")) return &known;
    return nullptr;
}

std::optional<std::string> ColumnNames::find(const std::string& name) const {
    const Name* const known = named(name);
    return known != nullptr ? std::optional(known->column) : std::nullopt;
}

Values ColumnNames::values(const std::string& name) const {
    const Name* const known = named(name);
    return known != nullptr ? known->values : Values::numbers;
}

std::vector<Token> ColumnNames::tokens_of(const std::string& expression) const {
    using Kind = Token::Kind;
    std::vector<Token> tokens;
    for (std::size_t i = 0, end = 0; i < expression.size(); i = end) {
        end = i + 1;
        if (is_space(expression[i])) continue;
        Token token{Kind::symbol, i, end, ""};
        if (is_quote(expression[i])) {
            end = end_of_quoted(expression, i);
            token.kind = expression[i] == '\'' ? Kind::text : Kind::quoted_name;
        } else if (is_letter(expression[i])) {
            const Name* const column = column_at(expression, i, end);
            token.kind = column != nullptr ? Kind::column : Kind::word;
            if (column != nullptr) {
                token.column = column->column;
                token.values = column->values;
            }
        } else if (is_digit(expression[i]) || (expression[i] == '.' && is_digit(expression[end]))) {
            end = end_of_number(expression, i);
            token.kind = Kind::number;
        } else if (is_operator(expression.substr(i, 2))) {
            ++end;
        }
        token.end = end;
        token.text = expression.substr(i, end - i);
        tokens.push_back(std::move(token));
    }
    return tokens;
}

std::string ColumnNames::quoted(const std::string& expression) const {
    using Kind = Token::Kind;
    const std::vector<Token> tokens = tokens_of(expression);
    std::string sql;
    std::size_t done = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const Token& token = tokens[i];
        sql.append(expression, done, token.begin - done);
        done = token.end;
        if (token.kind == Kind::symbol) {
            sql += token.text;
        } else if (token.kind == Kind::column) {
            sql += sql_name(token.column);
        } else if (token.kind == Kind::word && token.text.find('.') != std::string::npos) {
            // SQLite would not read a name of many parts. In quotes it is one, and reported as unknown.
            sql += sql_name(token.text);
        } else if (token.kind == Kind::word && !is_constant(token.text)) {
            sql += token.text;
        } else {
            sql += literal(token, compared_as(tokens, i));
        }
    }
    return sql.append(expression, done);
}

/// Returns a literal as SQL.
std::string ColumnNames::literal(const Token& token, Values values) const {
    using Kind = Token::Kind;
    const bool quoted = token.kind == Kind::text || token.kind == Kind::quoted_name;
    std::string text = quoted ? unquoted(token.text) : token.text;
    // What looks like a name is one, and perhaps misspelt.
    const bool may_be_name = text.empty() || (is_letter(text.front()) && !is_constant(text)) || named(text) != nullptr;
    if (token.kind == Kind::quoted_name && (values != Values::texts || may_be_name)) return token.text;
    if (values == Values::texts) return sql_text(text);
    if (token.kind == Kind::text) return number_of(text) ? "quantity(" + token.text + ")" : token.text;
    // SQLite reads `true` as 1 and `0x10` as 16, but settings are what is written.
    const bool differs = token.kind == Kind::word || token.text.starts_with("0x") || token.text.starts_with("0X");
    return values == Values::settings && differs ? sql_text(text) : token.text;
}

/// Returns the column with the longest name that begins at `begin`, and the name's end: `ranks-1` is a difference,
/// `batch-size` may be a name. If there is none, returns the end of a text that contains no name.
const ColumnNames::Name* ColumnNames::column_at(const std::string& text, std::size_t begin, std::size_t& end) const {
    const std::vector<std::size_t> ends = ends_of_name(text, begin);
    for (auto known = ends.rbegin(); known != ends.rend(); ++known) {
        end = *known;
        if (end == ends.back() && text[end] == '(') continue;  // a function
        if (const Name* const column = named(text.substr(begin, end - begin))) return column;
    }
    end = *std::find_if(ends.begin(), ends.end() - 1, [&](std::size_t place) { return text[place] == '-'; });
    return nullptr;
}

std::vector<std::string> ColumnNames::all() const {
    std::vector<std::string> said;
    for (const Name& name : names_) said.push_back(name.said);
    return said;
}

std::string sql_name(const std::string& name) {
    std::string quoted = "\"";
    for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + '"';
}

}  // namespace syncline::batch
