/** The layout follows what is to be seen: a keyboard on the screen covers nothing that is needed. */

/** Height of a keyboard, in CSS pixels; less is a bar of the browser. */
const KEYBOARD_PX = 120;

export function followViewport() {
  const view = window.visualViewport;
  if (!view) return;
  const follow = () => {
    const style = document.documentElement.style;
    const covered = Math.max(0, window.innerHeight - view.height - view.offsetTop);
    style.setProperty("--view-height", `${Math.round(view.height)}px`);
    style.setProperty("--covered", view.scale === 1 ? `${Math.round(covered)}px` : "0px");
    document.body.dataset["keyboard"] = String(covered > KEYBOARD_PX || view.height < screen.height * 0.6 && document.activeElement?.matches("input, textarea") === true);
  };
  view.addEventListener("resize", follow);
  view.addEventListener("scroll", follow);
  follow();
}
