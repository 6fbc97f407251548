#include "tests/cases/case_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <utility>

#include "tests/cases/pieces.hpp"

namespace syncline::test {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

void set(Pairs& pairs, const std::string& name, std::string value) {
    const auto at = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == name; });
    if (at != pairs.end())
        at->second = std::move(value);
    else
        pairs.emplace_back(name, std::move(value));
}

bool is_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Returns whether an expected text is next.
bool at_text(const Pieces& pieces) {
    return pieces.at("\"") || pieces.at("= ") || pieces.at("~ ");
}

ExpectedText text_of(Pieces& pieces) {
    using enum ExpectedText::Match;
    const auto match = pieces.take("=") ? whole : pieces.take("~") ? pattern : part;
    return {pieces.quoted(), match};
}

/// Reads `3:5`, `platform.yaml:3:5` or `"text"`.
ExpectedPlace place_of(Pieces& pieces) {
    if (pieces.at("\"")) return {"", 0, 0, pieces.quoted()};
    const std::string word = pieces.word();
    const std::size_t second = word.rfind(':');
    if (second == std::string::npos) throw Wrong(fmt::format("'{}' is not LINE:COLUMN", word));
    const std::size_t first = word.rfind(':', second - 1);
    const bool with_file = first != std::string::npos && second > 0;
    const std::string line = with_file ? word.substr(first + 1, second - first - 1) : word.substr(0, second);
    return {with_file ? word.substr(0, first) : "", Pieces::number_of<int>(line),
            Pieces::number_of<int>(word.substr(second + 1)), ""};
}

void read_field(Pieces& pieces, int line, Case& one) {
    ExpectedField field{line, pieces.word(), "", {}, {}};
    if (!pieces.take("=")) throw Wrong(fmt::format("unknown expectation '{}'", field.path));
    field.value = pieces.all();
    if (const std::size_t at = field.value.find(" +- "); at != std::string::npos) {
        Pieces tolerance(field.value.substr(at + 4));
        const auto number = tolerance.number<double>();
        (tolerance.take("%") ? field.percent : field.within) = number;
        tolerance.finish();
        field.value = field.value.substr(0, at);
    }
    one.fields.push_back(field);
}

void read_expectation(Pieces pieces, int line, Case& one) {
    const bool absent = pieces.take("no");
    const bool output = pieces.take("output");
    if (output || pieces.take("message")) {
        // `expect no output` by itself: there is none at all.
        if (absent && pieces.empty())
            one.streams.push_back({line, !output, false, {"", ExpectedText::Match::whole}});
        else {
            do {
                one.streams.push_back({line, !output, absent, text_of(pieces)});
            } while (!pieces.empty());
        }
    } else if (absent && pieces.take("errors")) {
        one.error_count = 0;
    } else if (!absent && pieces.take("error")) {
        ExpectedError error{line, {}, {}, {}, true};
        if (pieces.take("at")) error.place = place_of(pieces);
        if (at_text(pieces)) error.message = text_of(pieces);
        if (pieces.take("hint")) error.hint = text_of(pieces);
        error.excerpt = !pieces.take("without excerpt");
        if (!error.place && error.message.text.empty() && error.hint.text.empty())
            throw Wrong("neither a place nor a message is expected");
        one.errors.push_back(error);
    } else if (pieces.at_number()) {
        one.error_count = pieces.number<std::size_t>();
        if (!pieces.take("errors")) throw Wrong("'errors' is missing after the number");
    } else if (!absent && pieces.take("exit")) {
        one.exit_code = pieces.number<int>();
    } else if (pieces.take("file")) {
        one.written.push_back({line, absent, pieces.word()});
    } else if (!absent) {
        read_field(pieces, line, one);
    } else {
        throw Wrong("unknown expectation");
    }
    pieces.finish();
}

bool expects_something(const Case& one) {
    return !one.errors.empty() || one.error_count || one.exit_code || !one.streams.empty() || !one.fields.empty() ||
           !one.written.empty();
}

class Reader {
public:
    explicit Reader(const std::filesystem::path& path) {
        std::ifstream file(path, std::ios::binary);
        if (!file) throw Wrong("it cannot be read");
        for (std::string line; std::getline(file, line);) lines_.push_back(line);
        top_.source = path;
    }

    std::vector<Case> read() {
        while (next_ < lines_.size()) {
            const std::string line = trimmed(lines_[next_++]);
            if (!line.empty() && line.front() != '#') directive(line);
        }
        finish_case();
        if (cases_.empty()) throw Wrong("there are no cases");
        return std::move(cases_);
    }

    std::size_t line() const { return next_; }

private:
    Case& scope() { return in_row_ ? row_ : in_case_ ? case_ : top_; }

    void directive(const std::string& line) {
        const auto after = [&](const std::string& word) { return trimmed(line.substr(word.size())); };
        const auto begins = [&](const std::string& word) { return line.rfind(word, 0) == 0; };
        const int number = static_cast<int>(next_);
        if (begins("case: ")) {
            finish_case();
            case_ = top_;
            case_.title = after("case:");
            case_.line = number;
            in_case_ = true;
        } else if (begins("- ")) {
            begin_row(number);
            const std::string text = after("-");
            const auto is = [&](const char* word) { return text.rfind(word, 0) == 0; };
            if (is("change ") || is("run: ") || is("read: "))
                directive(text);
            else
                set(row_.texts, "row", unquoted(text));
        } else if (begins("change ")) {
            change(Pieces(after("change")));
        } else if (begins("file ")) {
            named(after("file"), scope().files);
        } else if (begins("let ")) {
            named(after("let"), scope().texts);
        } else if (begins("folder: ")) {
            scope().folders.push_back(after("folder:"));
        } else if (begins("run:")) {
            add({number, false, split(after("run:"))});
        } else if (begins("read:")) {
            add({number, true, split(after("read:"))});
        } else if (begins("expect ")) {
            read_expectation(Pieces(after("expect")), number, scope());
        } else {
            throw Wrong(fmt::format("unknown directive '{}'", line));
        }
    }

    /// Reads `NAME = text`, or `NAME:` with an indented block below.
    void named(const std::string& rest, Pairs& into) {
        const std::size_t equals = rest.find(" = ");
        if (equals != std::string::npos) return set(into, rest.substr(0, equals), unquoted(rest.substr(equals + 3)));
        if (rest.empty() || rest.back() != ':') throw Wrong("neither ':' nor ' = ' follows the name");
        set(into, rest.substr(0, rest.size() - 1), block());
    }

    /// Takes the lines that are indented more than the line above; blank lines at the end are no part of it.
    std::string block() {
        const auto indent = [](const std::string& line) { return line.find_first_not_of(' '); };
        const std::size_t outer = indent(lines_[next_ - 1]);
        std::string text, blank;
        std::size_t inner = 0;
        for (; next_ < lines_.size(); ++next_) {
            const std::string& line = lines_[next_];
            if (indent(line) == std::string::npos) {
                blank += '\n';
                continue;
            }
            if (indent(line) <= outer) break;
            if (text.empty()) inner = indent(line);
            if (indent(line) < inner) throw Wrong("this line is indented less than the block's first line");
            text += std::exchange(blank, "") + line.substr(inner) + '\n';
        }
        if (text.empty()) throw Wrong("an indented block is missing");
        return text;
    }

    /// The first command of a case replaces those of the file.
    void add(Command command) {
        Case& into = scope();
        if (&into != &top_ && !own_commands_) into.commands.clear();
        own_commands_ = true;
        into.commands.push_back(std::move(command));
    }

    /// Reads `"text" to "new text"`.
    void change(Pieces pieces) {
        const std::string from = pieces.quoted();
        if (from.empty() || !pieces.take("to")) throw Wrong("write: change \"text\" to \"new text\"");
        scope().changes.emplace_back(from, pieces.quoted());
        pieces.finish();
    }

    void begin_row(int number) {
        if (!in_case_) throw Wrong("a row is before the first case");
        finish_row();
        row_ = case_;
        row_.line = number;
        in_row_ = true;
        own_commands_ = false;
    }

    void finish_row() {
        if (in_row_) keep(row_);
        rows_ = rows_ || in_row_;
        in_row_ = false;
    }

    void finish_case() {
        finish_row();
        if (in_case_ && !rows_) keep(case_);
        in_case_ = rows_ = own_commands_ = false;
    }

    void keep(Case one) {
        if (!expects_something(one)) {
            next_ = static_cast<std::size_t>(one.line);
            throw Wrong("this case expects nothing");
        }
        if (one.commands.empty()) one.commands.push_back({one.line, true, {"scenario.yaml"}});
        cases_.push_back(std::move(one));
    }

    std::vector<std::string> lines_;
    std::size_t next_ = 0;
    Case top_, case_, row_;
    bool in_case_ = false, in_row_ = false, rows_ = false, own_commands_ = false;
    std::vector<Case> cases_;
};

std::string expanded(const Case& one, const std::string& text, std::optional<std::size_t>& row_at, int depth) {
    if (depth == 0) throw std::runtime_error("a name's text contains the name");
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$') {
            result += text[i];
            continue;
        }
        if (i + 1 < text.size() && text[i + 1] == '$') {
            result += text[++i];
            continue;
        }
        std::string name;
        while (i + 1 < text.size() && is_name(text[i + 1])) name += text[++i];
        const std::string* const value = find(one.texts, name);
        if (value == nullptr) throw std::runtime_error(fmt::format("'${}' has no text", name));
        std::optional<std::size_t> inside;
        const std::string part = name == "row" ? *value : expanded(one, *value, inside, depth - 1);
        if (name == "row") inside = 0;
        if (inside) row_at = result.size() + *inside;
        result += part;
    }
    return result;
}

}  // namespace

bool ExpectedText::matches(const std::string& found) const {
    if (match == Match::pattern) return std::regex_match(found, std::regex(text));
    return match == Match::whole ? found == text : found.find(text) != std::string::npos;
}

const std::string* find(const Pairs& pairs, const std::string& name) {
    const auto at = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == name; });
    return at == pairs.end() ? nullptr : &at->second;
}

std::string expand(const Case& one, const std::string& text, std::optional<std::size_t>& row_at) {
    return expanded(one, text, row_at, 10);
}

std::vector<Case> read_cases(const std::filesystem::path& file) {
    std::optional<Reader> reader;
    try {
        return reader.emplace(file).read();
    } catch (const Wrong& wrong) {
        throw std::runtime_error(fmt::format("{}:{}: {}", file.string(), reader ? reader->line() : 1, wrong.what()));
    }
}

}  // namespace syncline::test
