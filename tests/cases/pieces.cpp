#include "tests/cases/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace syncline::test {

namespace {

/// Takes a text in double quotes, with the escapes of C, from the beginning of `rest`.
std::string take_quoted(std::string& rest) {
    std::string text;
    for (std::size_t i = 1; i < rest.size(); ++i) {
        if (rest[i] == '"') {
            rest = rest.substr(i + 1);
            return text;
        }
        if (rest[i] != '\\') {
            text += rest[i];
            continue;
        }
        if (++i == rest.size()) break;
        switch (rest[i]) {
            case 'n':
                text += '\n';
                break;
            case 'r':
                text += '\r';
                break;
            case 't':
                text += '\t';
                break;
            case '"':
            case '\\':
                text += rest[i];
                break;
            case 'x': {
                int byte = 0;
                const char* const begin = rest.data() + i + 1;
                const char* const end = std::min(begin + 2, static_cast<const char*>(rest.data() + rest.size()));
                if (std::from_chars(begin, end, byte, 16).ptr != begin + 2)
                    throw Wrong("\\x needs two hexadecimal digits");
                text += static_cast<char>(byte);
                i += 2;
                break;
            }
            default:
                throw Wrong(fmt::format("unknown escape '\\{}'", rest[i]));
        }
    }
    throw Wrong("a quote is not closed");
}

}  // namespace

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

std::string unquoted(const std::string& written) {
    std::string rest = trimmed(written);
    if (rest.size() < 2 || rest.front() != '"' || rest.back() != '"') return rest;
    const std::string text = take_quoted(rest);
    if (!rest.empty()) throw Wrong("text follows the closing quote");
    return text;
}

std::vector<std::string> split(const std::string& command) {
    std::vector<std::string> words;
    std::string rest = command;
    bool open = false;  // the last word goes on
    while (!rest.empty()) {
        if (rest.front() == ' ') {
            open = false;
            rest.erase(0, 1);
            continue;
        }
        if (!open) words.emplace_back();
        open = true;
        if (rest.front() == '"') {
            words.back() += take_quoted(rest);
        } else if (rest.front() == '\'') {
            const std::size_t end = rest.find('\'', 1);
            if (end == std::string::npos) throw Wrong("a quote is not closed");
            words.back() += rest.substr(1, end - 1);
            rest = rest.substr(end + 1);
        } else {
            words.back() += rest.front();
            rest.erase(0, 1);
        }
    }
    return words;
}

bool Pieces::take(const std::string& word) {
    if (!at(word) || (rest_.size() > word.size() && rest_[word.size()] != ' ')) return false;
    rest_ = trimmed(rest_.substr(word.size()));
    return true;
}

std::string Pieces::word() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    std::string result = rest_.substr(0, end);
    rest_ = trimmed(rest_.substr(end));
    if (result.empty()) throw Wrong("something is missing at the end of the line");
    return result;
}

std::string Pieces::quoted() {
    if (!at("\"")) throw Wrong(fmt::format("a text in quotes is missing at '{}'", rest_));
    std::string text = take_quoted(rest_);
    rest_ = trimmed(rest_);
    return text;
}

std::string Pieces::all() {
    return std::exchange(rest_, "");
}

void Pieces::finish() const {
    if (!empty()) throw Wrong(fmt::format("unexpected '{}'", rest_));
}

}  // namespace syncline::test
