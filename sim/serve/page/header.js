// The header: the list of lessons, and the three steps of a lesson.

const short_name = ({name}) => capital(name.replaceAll("-", " "));

function header() {
    const here = lesson?.id ?? null;
    const entry = (number, text, label, open_it) => make(
        "button", {
            type: "button",
            title: label,
            "aria-label": label,
            onclick: open_it,
            "data-lesson": number,
            "aria-current": number === here ? "page" : null
        },
        ...text);
    const entries = [
        ...(about.start.scenario ? [entry(
                                       null, [about.start.scenario.split("/").pop()],
                                       `Scenario ${about.start.scenario}`, () => open(null))] :
                                   []),
        ...about.lessons.map(
            (one) => entry(
                one.id, [make("b", {}, one.id), ...(one.id === here ? [" ", make("span", {}, short_name(one))] : [])],
                `Lesson ${one.id}: ${one.title}`, () => open(one.id)))
    ];
    if (subject && here === null) entries[0].setAttribute("aria-current", "page");
    const nav = make("nav", {id: "lessons", "aria-label": "Lessons"}, ...entries);
    document.getElementById("bar").replaceChildren(
        make(
            "button", {class: "brand", type: "button", title: "All lessons", onclick: home}, "Syncline",
            make("span", {}, subject && here === null ? " control room" : " classroom")),
        nav);
    const current = nav.querySelector("[aria-current]");
    if (current) nav.scrollLeft = current.offsetLeft - Math.max(8, (nav.clientWidth - current.offsetWidth) / 2);
}

function steps(done) {
    const names = ["Predict", "See", "Explore"];
    return make("ol", {class: "steps", "aria-label": "Progress"}, ...names.map((name, i) => {
        const past = done ? i < 2 : false, now = done ? i === 2 : i === 0;
        return make(
            "li",
            {class: past ? "past" :
                 now     ? "now" :
                           null,
             "aria-current": now ? "step" : null},
            make("i", {}, past ? "✓" : i + 1), make("span", {}, name));
    }));
}
