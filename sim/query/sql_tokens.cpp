#include "sim/query/sql_tokens.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

namespace syncline::batch {

namespace {

using Kind = Token::Kind;

/// Functions that return texts, and others with arguments that are texts.
constexpr std::string_view text_functions[] = {"lower",     "ltrim", "rtrim",  "substr",
                                               "substring", "trim",  "typeof", "upper"};
constexpr std::string_view readers_of_texts[] = {"glob", "instr", "length", "like", "unicode"};

std::string lower(std::string text) {
    for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return text;
}

class Around {
public:
    Around(const std::vector<Token>& tokens, std::size_t place) : tokens_(tokens), place_(place) {}

    Values values() const {
        if (is(place_ + 1, {"+", "-", "*", "/", "%", "||", "&", "|", "<<", ">>"})) return Values::numbers;
        if (const auto before = compared_before(place_)) return *before;
        if (is_comparison(place_ + 1)) return operand_from(place_ + 2).value_or(Values::numbers);
        return tokens_[place_].kind == Kind::text && in_text_function() ? Values::texts : Values::numbers;
    }

private:
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    bool is(std::size_t at, std::initializer_list<std::string_view> words) const {
        if (at >= tokens_.size()) return false;
        const Token& token = tokens_[at];
        if (token.kind != Kind::word && token.kind != Kind::symbol) return false;
        return std::find(words.begin(), words.end(), lower(token.text)) != words.end();
    }
    bool is_literal(std::size_t at) const {
        return at < tokens_.size() && (tokens_[at].kind == Kind::text || tokens_[at].kind == Kind::number ||
                                       tokens_[at].kind == Kind::quoted_name || is(at, {"true", "false", "null"}));
    }
    bool is_comparison(std::size_t at) const { return is(at, {"=", "==", "!=", "<>", "<", "<=", ">", ">="}); }
    bool is_function(std::size_t at) const {
        return at < tokens_.size() && tokens_[at].kind == Kind::word && is(at + 1, {"("}) &&
               !is(at, {"and", "or", "not", "in", "between", "like", "glob", "is", "when", "then", "else"});
    }
    bool is_one_of(std::size_t at, std::span<const std::string_view> functions) const {
        return at < tokens_.size() && is(at + 1, {"("}) &&
               std::find(functions.begin(), functions.end(), lower(tokens_[at].text)) != functions.end();
    }

    /// Returns the place of the bracket that `at`, which is behind it, closes; `nowhere` if there is none.
    std::size_t opening(std::size_t at) const {
        int depth = 0;
        while (at-- > 0) {
            if (is(at, {")"})) ++depth;
            if (is(at, {"("}) && depth-- == 0) return at;
        }
        return nowhere;
    }

    /// Returns how the operand is compared that ends before `end`; nothing if it is neither a column nor a text.
    std::optional<Values> operand_to(std::size_t end) const {
        if (end == 0) return {};
        const Token& last = tokens_[end - 1];
        if (last.kind == Kind::column) return last.values;
        if (!is(end - 1, {")"})) return {};
        const std::size_t open = opening(end - 1);
        if (open == nowhere) return {};
        if (open > 0 && is_function(open - 1))
            return is_one_of(open - 1, text_functions) ? Values::texts : Values::numbers;
        return open + 3 == end ? operand_to(end - 1) : std::nullopt;
    }

    /// Returns how the operand is compared that begins at `at`.
    std::optional<Values> operand_from(std::size_t at) const {
        if (at >= tokens_.size()) return {};
        if (tokens_[at].kind == Kind::column) return tokens_[at].values;
        if (is_one_of(at, text_functions)) return Values::texts;
        return is(at, {"("}) && is(at + 2, {")"}) ? operand_from(at + 1) : std::nullopt;
    }

    /// Returns how the literal at `at` is compared with what is before it; nothing if it is not.
    std::optional<Values> compared_before(std::size_t at) const {
        if (at == 0) return {};
        std::size_t end = at - 1;                   // of the operand, with the operator behind it
        if (is(end, {"+", "-"}) && end > 0) --end;  // a sign, if there is an operator before it
        if (is_comparison(end)) return operand_to(end);
        if (is(end, {"like", "glob"})) return Values::texts;
        const auto before = [&](std::size_t word) {
            return operand_to(word > 0 && is(word - 1, {"not"}) ? word - 1 : word);
        };
        if (is(end, {"between"})) return before(end);
        if (is(end, {"and"}) && end >= 2 && is_literal(end - 1) && is(end - 2, {"between"})) return before(end - 2);
        if (tokens_[at].kind != Kind::word) {  // IS NULL, IS TRUE
            if (is(end, {"is"})) return operand_to(end);
            if (is(end, {"not"}) && end > 0 && is(end - 1, {"is"})) return operand_to(end - 1);
        }
        while (end > 0 && (is(end, {","}) || is_literal(end))) --end;
        if (is(end, {"("}) && end > 0 && is(end - 1, {"in"})) return before(end - 1);
        return {};
    }

    bool in_text_function() const {
        const bool whole = is(place_ - 1, {"(", ","}) && is(place_ + 1, {",", ")"});
        const std::size_t open = whole ? opening(place_) : nowhere;
        return open != nowhere && open > 0 &&
               (is_one_of(open - 1, text_functions) || is_one_of(open - 1, readers_of_texts));
    }

    const std::vector<Token>& tokens_;
    std::size_t place_;
};

}  // namespace

Values compared_as(const std::vector<Token>& tokens, std::size_t place) {
    return Around(tokens, place).values();
}

}  // namespace syncline::batch
