// Keys that act wherever the focus is.

document.addEventListener("keydown", (event) => {
    const {target, key} = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !view?.film) return;
    if (/^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY|A)$/.test(target.tagName) || target.closest?.("[role=group][tabindex]"))
        return;
    const {film} = view;
    const action = {
        " ": () => view.player.querySelector("button.play")?.click(),
        ArrowLeft: () => film.step(-1),
        ArrowRight: () => film.step(1),
        Home: () => {
            film.seconds = 0;
        }
    }[key];
    if (!action) return;
    event.preventDefault();
    action();
});
