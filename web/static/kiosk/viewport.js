/** The layout follows what is to be seen: a keyboard on the screen covers nothing that is needed. */

/** Height of a keyboard, in CSS pixels; less is a bar of the browser. */
const KEYBOARD_PX = 120;

export function followViewport() {
  const view = window.visualViewport;
  if (!view) return;
  /** Without a keyboard, for as long as the device is held this way. */
  let whole = { width: 0, height: 0 };
  const follow = () => {
    const { style } = document.documentElement;
    const zoomed = view.scale !== 1;
    const covered = zoomed ? 0 : Math.max(0, window.innerHeight - view.height - view.offsetTop);
    if (view.width !== whole.width || view.height > whole.height) whole = { width: view.width, height: view.height };
    const writing = document.activeElement?.matches("input, textarea") === true;
    style.setProperty("--view-height", `${Math.round(view.height)}px`);
    style.setProperty("--covered", `${Math.round(covered)}px`);
    document.body.dataset["keyboard"] = String(!zoomed && writing && whole.height - view.height > KEYBOARD_PX);
  };
  for (const name of ["resize", "scroll"]) view.addEventListener(name, follow);
  for (const name of ["focusin", "focusout"]) document.addEventListener(name, follow);
  follow();
}
