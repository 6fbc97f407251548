// Below: the lesson's answer and exercises, and the details of a run.

/// Returns a block of code of a lesson, with a button that turns the knobs as it says.
function lesson_code(text) {
    const wanted = settings_in(text, subject.knobs);
    return make(
        "div", {class: "code"}, make("pre", {tabindex: "0"}, make("code", {}, text)),
        ...(wanted ?
                [make(
                    "button", {
                        type: "button",
                        class: "small",
                        onclick: () => {
                            change({
                                variant: subject.variants.includes(wanted.variant) ? wanted.variant : setting.variant,
                                set: wanted.set
                            });
                            view.explore.scrollIntoView();
                        }
                    },
                    "Turn the knobs so")] :
                []));
}

/// Returns the sections of a Markdown text, [heading, text].
const sections_of = (text) =>
    (text ?? "").split(/^(?=## )/m).filter((one) => one.startsWith("## ")).map((one) => [/^## (.*)/.exec(one)[1], one]);

function show_solution() {
    const part = (title, text, open_it) =>
        (without_heading(text).trim() === "" ? [] : [make(
                                                        "details", {class: "figure text", open: open_it ? "" : null},
                                                        make("summary", {}, make("h2", {}, title)),
                                                        ...markdown(without_heading(text), lesson_code))]);
    view.solution.replaceChildren(
        ...part("Answer", lesson.answer, true), ...part("Exercises", lesson.exercises, true),
        ...part("Answers to the exercises", lesson.solutions, false),
        ...sections_of(lesson.further)
            .filter(([title]) => title !== "Picture")
            .flatMap(([title, text]) => part(title, text, false)));
}

/// Draws the report's details of the run, when they are open.
function show_details() {
    const {details, details_place} = view;
    details.parentElement.hidden = shown?.kind !== "training";
    if (!details.open || view.detailed === shown || shown?.kind !== "training") return;
    view.detailed = shown;
    const {variant, result, picture} = shown;
    data.pictures = [picture];
    show_variant(details_place, result, {...variant, picture: picture ? 0 : null});
}
