#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// The words of SQL expressions that users write, as far as it matters what a literal is compared with.
namespace syncline::batch {

/// How a column's values are compared.
enum class Values {
    numbers,   ///< as SQLite does
    settings,  ///< as they are written in scenarios: texts that are quantities as numbers, all others as texts
    texts      ///< as texts, also those that look like numbers
};

struct Token {
    enum class Kind { text, quoted_name, column, word, number, symbol };

    Kind kind;
    std::size_t begin, end;           ///< in the expression
    std::string text;                 ///< as written
    std::string column = {};          ///< the column that a name means
    Values values = Values::numbers;  ///< of that column, or of a function's result
};

/// Returns how the value of the literal `tokens[place]`, a text or number, is compared: `x = '5'`, `'5' = x`,
/// `x IN (1, '5')`, `x BETWEEN 1 AND 5`, `x LIKE '5'`, `instr(x, '5')`, where `x` may be in brackets and may be a
/// function of texts. A literal that is a part of a computation is a number.
Values compared_as(const std::vector<Token>& tokens, std::size_t place);

}  // namespace syncline::batch
