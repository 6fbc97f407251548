#pragma once

#include <string>

#include "sim/output/json_text.hpp"

namespace syncline {

/// The page around `data`, with style sheet and scripts in it. `title` is a text, not yet escaped.
std::string html_page(const std::string& title, const Json& data);

/// As it may stand in a <script>: a name that holds "</script" or "<!--" ends none and opens no comment.
std::string script_json(const Json& data);

}  // namespace syncline
