#include "sim/lesson/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>

#include "sim/base/diagnostics.hpp"
#include "sim/base/did_you_mean.hpp"
#include "sim/base/number.hpp"
#include "sim/base/regular_file.hpp"
#include "sim/document/read_text.hpp"

namespace syncline::lesson {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& where, std::string message, std::string hint) {
    throw ConfigError({{{where, 1, 1, ""}, std::move(message), std::move(hint)}});
}

/// Returns lesson 1, "ring", for "01-ring"; nothing for names of other forms.
std::optional<Lesson> named(const std::string& stem) {
    const std::size_t dash = stem.find('-');
    if (dash == std::string::npos) return {};
    const auto number = number_in<int>(std::string_view(stem).substr(0, dash));
    if (!number) return {};
    Lesson lesson;
    lesson.number = *number;
    lesson.name = stem.substr(dash + 1);
    return lesson;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

void take_apart(const fs::path& file, Lesson& lesson) {
    for (const std::string& line : lines_of(lesson.handout)) {
        if (line.rfind("## ", 0) == 0)
            lesson.sections.push_back({line.substr(3), ""});
        else if (line.rfind("# ", 0) == 0 && lesson.title.empty())
            lesson.title = line.substr(2);
        if (!lesson.sections.empty()) lesson.sections.back().text += line + "\n";
    }
    if (lesson.title.empty()) refuse(file.string(), "the handout has no title", "begin it with a heading, `# …`");
    std::vector<std::string> headings;
    for (const Section& section : lesson.sections) headings.push_back(section.heading);
    std::vector<std::string> wanted = section_names;
    for (const std::string& further : further_sections)
        if (std::ranges::find(headings, further) != headings.end()) wanted.push_back(further);
    if (headings != wanted)
        refuse(file.string(), fmt::format("the handout's sections are '{}'", fmt::join(headings, "', '")),
               fmt::format("they must be '{}', and may go on with '{}'", fmt::join(section_names, "', '"),
                           fmt::join(further_sections, "', '")));
}

Lesson load(const fs::path& file, Lesson lesson) {
    config::Text read = config::read_text(file);
    if (!read.text) refuse(file.string(), read.error, read.hint);
    lesson.handout = std::move(*read.text);
    take_apart(file, lesson);
    lesson.scenario = fs::path(file).replace_extension(".yaml");
    if (!is_regular(lesson.scenario))
        refuse(file.string(), "the lesson has no scenario", fmt::format("there is no {}", lesson.scenario.string()));
    return lesson;
}

}  // namespace

std::string without_answers(const Lesson& lesson) {
    std::string text = fmt::format("# {}\n\n", lesson.title);
    for (const Part part : {question, prediction, run, exercises}) text += lesson.sections.at(part).text;
    return text;
}

std::vector<Lesson> load_lessons(const fs::path& folder) {
    std::vector<Lesson> lessons;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() != ".md" || !is_regular(entry.path())) continue;
        if (std::optional<Lesson> lesson = named(entry.path().stem().string()))
            lessons.push_back(load(entry.path(), std::move(*lesson)));
    }
    if (lessons.empty())
        refuse(folder.string(), "there are no lessons here", "change to the folder into which Syncline was cloned");
    std::sort(lessons.begin(), lessons.end(), [](const Lesson& a, const Lesson& b) {
        return a.number != b.number ? a.number < b.number : a.name < b.name;
    });
    const auto same = std::adjacent_find(lessons.begin(), lessons.end(),
                                         [](const Lesson& a, const Lesson& b) { return a.number == b.number; });
    if (same != lessons.end())
        refuse(folder.string(), fmt::format("there are two lessons with the number {}", same->number), "");
    return lessons;
}

const Lesson& find_lesson(const std::vector<Lesson>& lessons, const std::string& word) {
    std::vector<std::string> names;
    for (const Lesson& lesson : lessons) {
        if (number_in<int>(word) == lesson.number || word == lesson.name || word == lesson.scenario.stem())
            return lesson;
        names.push_back(lesson.name);
    }
    const auto begins = [&](const Lesson& lesson) { return !word.empty() && lesson.name.starts_with(word); };
    if (std::ranges::count_if(lessons, begins) == 1) return *std::ranges::find_if(lessons, begins);
    refuse(word, fmt::format("there is no lesson '{}'", word),
           did_you_mean(word, names,
                        fmt::format("there are {}, or 1 to {}", fmt::join(names, ", "), lessons.back().number)));
}

}  // namespace syncline::lesson
