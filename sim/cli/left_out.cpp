#include "sim/cli/left_out.hpp"

#include "sim/output/reasons.hpp"
#include "sim/output/written_files.hpp"

namespace syncline::cli {

void say_left_out(const std::vector<std::string>& left_out) {
    constexpr std::size_t most = 5;
    Reasons reasons;
    for (const std::string& why : left_out) {
        reasons.add(why);
        if (left_out.size() <= most) say("note: skipped {}\n", why);
    }
    if (left_out.size() <= most) return;
    for (const Reasons::Reason& reason : reasons.all())
        if (reason.count == 1)
            say("note: skipped {}\n", reason.example);
        else
            say("note: skipped {} choices, for example {}\n", reason.count, reason.example);
}

}  // namespace syncline::cli
