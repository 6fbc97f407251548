#include "sim/topology/vertex_name.hpp"

#include "sim/base/utf8.hpp"

namespace syncline {

const char* problem_of_name(std::string_view name) {
    constexpr std::size_t longest = 1000;
    if (name.empty()) return "is empty";
    if (name.size() > longest) return "is longer than 1000 bytes";
    if (name.front() == ' ' || name.back() == ' ') return "begins or ends with a space";
    while (!name.empty()) {
        const auto character = take_character(name);
        if (!character) return "is not UTF-8";
        if (is_control(*character)) return "contains a control character";
        if (is_noncharacter(*character)) return "contains a character that XML cannot hold";
    }
    return nullptr;
}

}  // namespace syncline
