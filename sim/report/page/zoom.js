// Buttons and keys that zoom and move the visible range of a timeline.

/// Adds them to `tools`, and the keys to `box`. `view` is the range {from, to} of 0 … `window_s`; `show(from, to)`
/// changes it.
function zoom_tools(tools, box, view, window_s, show) {
    const zoom = (factor) => {
        const middle = (view.from + view.to) / 2, half = (view.to - view.from) * factor / 2;
        show(middle - half, middle + half);
    };
    const move = (share) => {
        const step = share * (view.to - view.from);
        show(view.from + step, view.to + step);
    };
    const whole = () => show(0, window_s);
    const button = (text, label, action) =>
        make("button", {type: "button", "aria-label": label, onclick: action}, text);
    tools.append(
        button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)),
        button("←", "Earlier", () => move(-0.5)), button("→", "Later", () => move(0.5)),
        button("all", "The whole window", whole));
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Timeline: plus and minus zoom, arrows move, 0 shows the whole window");
    box.addEventListener("keydown", (event) => {
        const action = {
            "+": () => zoom(0.5),
            "-": () => zoom(2),
            ArrowLeft: () => move(-0.25),
            ArrowRight: () => move(0.25),
            0: whole
        }[event.key];
        if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        action();
    });
}
