// Opening a lesson or the scenario: the list of lessons, the question, the prediction, what stays locked before it.

/// The lessons that this tab has seen the answers of.
const done_lessons = () => JSON.parse(sessionStorage.getItem("syncline-done") ?? "[]");

/// Shows the list of lessons.
function home() {
    lesson = subject = shown = view = null;
    for (const name of [...address.keys()]) address.delete(name);
    remember("lesson", null);
    document.title = "Syncline classroom";
    header();
    document.getElementById("main").replaceChildren(
        make("h1", {}, "How long does one training iteration take, and why?"),
        make(
            "p", {},
            "Each lesson asks a question that pencil and paper can answer. You predict, the simulator shows what ",
            "happens, message by message, and then you turn the knobs."),
        make(
            "ol", {class: "index"},
            ...about.lessons.map(
                (one) => make(
                    "li", {},
                    make(
                        "button", {type: "button", onclick: () => open(one.id)}, make("b", {}, one.id),
                        make(
                            "span", {}, one.title,
                            ...(done_lessons().includes(one.id) ? [make("em", {}, "✓ done")] : [])))))));
    state("ready");
}

/// Opens a lesson, or the scenario (null). `keep` keeps the settings that the address names.
async function open(number, keep = false) {
    state("busy");
    if (!keep)
        for (const name of [...address.keys()]) address.delete(name);
    try {
        const got = number === null ? null : await api(`lessons/${number}?student=${student}`);
        subject = got?.subject ?? await api("subject");
        lesson = got && merged(got, null);
    } catch (refused) {
        return fatal(refused);
    }
    remember("lesson", number === first ? null : String(number ?? 0));
    const set = {};
    if (keep)
        for (const [name, value] of address)
            if (!own_names.has(name) && subject.knobs.some(({key}) => key === name)) set[name] = value;
    const named = address.get("variant");
    setting = {variant: subject.variants.includes(named) ? named : subject.variant, set};
    shown = kept = null;
    document.title = `${lesson ? `${lesson.id}. ${lesson.title}` : subject.title ?? subject.name} – Syncline`;
    header();
    build();
    if (!keep) window.scrollTo(0, 0);
}

/// Returns the lesson with the questions as text and the guess as numbers, whichever field they came in.
function merged(got, before) {
    const numbers = Array.isArray(got.given) ? got.given :
        Array.isArray(got.prediction)        ? got.prediction :
                                               got.guess.given;
    return {
        ...got,
        given: Array.isArray(numbers) && numbers.length > 0 ? numbers : null,
        prediction: typeof got.prediction === "string" ? got.prediction : before?.prediction ?? ""
    };
}

function fatal(refused) {
    state("problem");
    const box = trouble(refused);
    box.id = "problem";
    document.getElementById("main").replaceChildren(make("h1", {}, "Syncline"), box);
}

/// Returns a card with the elements that are filled in later.
const card = (name, ...children) => make("section", {class: `figure ${name}`}, ...children);

function build() {
    const main = document.getElementById("main"), done = !lesson || lesson.done;
    view = {};
    if (lesson?.done)
        sessionStorage.setItem("syncline-done", JSON.stringify([...new Set([...done_lessons(), lesson.id])]));
    main.replaceChildren(
        ...(lesson ? [steps(done)] : []), make("h1", {}, lesson ? lesson.title : subject.title ?? subject.name),
        ...(lesson ? [
            make("div", {id: "question"}, ...markdown(without_heading(lesson.question))),
            view.predict_place = make("div")
        ] :
                     [view.answer = make(
                          "section", {id: "answer", "aria-label": "Answer"},
                          make("p", {class: "note", role: "status"}, "The scenario is being simulated …"))]),
        view.explore = make("div", {id: "explore"}));
    if (lesson) view.guess = predict(view.predict_place, lesson, {commit, again});
    if (done)
        explore();
    else
        locked();
}

/// A blurred promise: nothing of the answer is in the page.
function locked() {
    const bar_at = (i) => shape("rect", {
        x: 20 + 62 * i,
        y: 40 + (i * 53) % 90,
        width: 44,
        height: 150 - (i * 53) % 90,
        rx: 5,
        fill: i % 2 ? "var(--gradients)" : "var(--computation)"
    });
    view.explore.replaceChildren(make(
        "div", {class: "veil"},
        make(
            "div", {class: "blurred", "aria-hidden": "true"},
            shape(
                "svg", {viewBox: "0 0 760 210", class: "drawing"}, ...Array.from({length: 7}, (_, i) => bar_at(i)),
                ...Array.from({length: 8}, (_, i) => shape("circle", {
                                               cx: 600 + 80 * Math.cos(i * Math.PI / 4),
                                               cy: 105 + 80 * Math.sin(i * Math.PI / 4),
                                               r: 13,
                                               fill: "var(--card)",
                                               stroke: "var(--ink)",
                                               "stroke-width": 2
                                           })))),
        make("p", {}, "The simulation, the knobs and the reason open when you have committed a guess.")));
    state("predict");
}

async function commit(seconds) {
    state("busy");
    try {
        lesson = merged(await api("predictions", {lesson: lesson.id, student, seconds}), lesson);
        lesson.given ??= seconds.some((value) => value !== null) ? seconds : null;
    } catch (refused) {
        state("problem");
        view.predict_place.querySelector(".trouble")?.remove();
        view.predict_place.append(Object.assign(trouble(refused), {id: "problem"}));
        return;
    }
    build();
    document.getElementById("judgement")?.focus({preventScroll: true});
}

/// Locks the lesson again, in the page only.
function again() {
    lesson = {...lesson, done: false, given: null};
    build();
    window.scrollTo(0, 0);
}
