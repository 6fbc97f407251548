#include <memory>

#include "sim/check/check.hpp"
#include "sim/cli/verbs.hpp"

namespace syncline::cli {

namespace {

class Formatter : public CLI::Formatter {
    std::string make_option_desc(const CLI::Option* option) const override {
        std::string text = option->get_description();
        const std::size_t start = text.find("{key "), end = text.find('}', start);
        if (start == text.npos) return text;
        const std::size_t space = text.find(' ', start), kind = space + 1, dot = text.find('.', kind);
        text.replace(start, end + 1 - start,
                     config::description_of(text.substr(kind, dot - kind), text.substr(dot + 1, end - dot - 1)));
        return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
    }
};

}  // namespace

void describe_keys(CLI::App& program) {
    program.formatter(std::make_shared<Formatter>());
}

}  // namespace syncline::cli
