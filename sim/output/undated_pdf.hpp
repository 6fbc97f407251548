#pragma once

#include <string>
#include <string_view>

namespace syncline {

/// Returns a PDF without the times at which it was made, which have as many letters: the same content is the same file.
inline std::string undated_pdf(std::string text) {
    constexpr std::string_view never = "19700101000000";
    for (const std::string_view date : {"/CreationDate (D:", "/ModDate (D:"})
        if (const std::size_t at = text.rfind(date); at != text.npos)
            text.replace(at + date.size(), never.size(), never);
    return text;
}

}  // namespace syncline
