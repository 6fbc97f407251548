#include "sim/output/notes.hpp"

#include <algorithm>

namespace syncline::text {

std::string notes(const std::vector<std::string>& of_one) {
    std::string text;
    for (const std::string& note : of_one) text += fmt::format("note: {}\n", note);
    return text;
}

std::string notes(const std::vector<std::pair<std::string, std::vector<std::string>>>& by_name) {
    std::vector<std::pair<std::string, std::vector<std::string>>> names_by_note;
    for (const auto& [name, some] : by_name) {
        for (const std::string& note : some) {
            const auto known = std::find_if(names_by_note.begin(), names_by_note.end(),
                                            [&](const auto& entry) { return entry.first == note; });
            if (known == names_by_note.end())
                names_by_note.push_back({note, {name}});
            else
                known->second.push_back(name);
        }
    }
    std::string text;
    for (const auto& [note, names] : names_by_note) {
        text += names.size() == by_name.size() ? fmt::format("note: {}\n", note)
                                               : fmt::format("note ({}): {}\n", fmt::join(names, ", "), note);
    }
    return text;
}

}  // namespace syncline::text
