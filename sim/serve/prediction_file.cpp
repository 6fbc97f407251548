#include "sim/serve/prediction_file.hpp"

#include <fmt/format.h>

#include <string_view>

#include "sim/base/diagnostics.hpp"
#include "sim/base/regular_file.hpp"
#include "sim/document/read_text.hpp"
#include "sim/output/cells.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::serve {

void require_prediction_file(const std::string& path) {
    const FileContent file = read_regular(path, config::largest_yaml);
    if (file.problem == FileContent::Problem::missing) return;
    const bool empty = file.problem == FileContent::Problem::none && file.text.empty();
    if (empty || file.text.starts_with(prediction_header)) return;
    const std::string_view header = prediction_header;
    throw ConfigError(
        {{{path, 1, 1, ""},
          "this is not a file of predictions",
          fmt::format("name a new file, or one that begins with {}", header.substr(0, header.size() - 1))}});
}

void append_predictions(const std::string& path, const std::string& lines) {
    require_prediction_file(path);
    append_file(path, prediction_header, lines);
}

std::string prediction_lines(const lesson::Lesson& lesson, const lesson::Questionnaire& questionnaire,
                             const lesson::Prediction& prediction) {
    std::string lines;
    for (std::size_t i = 0; i < prediction.size(); ++i) {
        if (!prediction[i]) continue;
        const double answer = questionnaire.seconds.at(i);
        lines +=
            text::line({text::quoted(lesson.name), text::quoted(questionnaire.rows.at(i)), text::field(*prediction[i]),
                        text::field(answer), fmt::format("{:.4f}", *prediction[i] / answer - 1)});
    }
    return lines;
}

}  // namespace syncline::serve
