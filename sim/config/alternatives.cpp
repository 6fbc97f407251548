#include "sim/config/alternatives.hpp"

#include <algorithm>

namespace syncline::config {

bool Alternative::applies_to(std::size_t number) const {
    return series.empty() || std::find(series.begin(), series.end(), number) != series.end();
}

void describe(Fields& fields, Alternative& alternative) {
    fields.text({"name", "Name in the output.", true}, alternative.name);
    fields.text({"why", "Reason, in words: what the source leaves open, or what is switched off.", true},
                alternative.why);
    fields.section({"set", "Changes to every row: keys, or paths of keys, with their values; `~` removes one.", true},
                   [](Fields&) {});
}

void describe(Fields& fields, AblationFile& file) {
    fields.each({"mechanisms",
                 "Mechanisms of the simulation, and what switches each of them off; `syncline validate --ablate` shows "
                 "what each does to the errors.",
                 true},
                [&](Fields& item) {
                    Alternative& mechanism = file.mechanisms.emplace_back();
                    mechanism.over_rows = true;
                    describe(item, mechanism);
                });
}

}  // namespace syncline::config
