/** The small grid in which a respondent rates elements on constructs: five steps and "no rating" for each. */

import { countRated, fitting } from "../core/ratings.js";
import { asksForRatings, canAnswer } from "../core/state.js";
import { enable, isEnabled, make, show, write } from "./dom.js";

/** @typedef {import("../core/state.js").State} State */
/** @typedef {import("../core/ratings.js").RatingForm} RatingForm */
/** @typedef {import("../texts/index.js").Texts} Texts */
/** @typedef {import("./conversation.js").Dispatch} Dispatch */

export class RatingsView {
  /** @param {HTMLElement} box @param {Texts} t @param {Dispatch} dispatch @param {() => string} freshKey */
  constructor(box, t, dispatch, freshKey) {
    this.box = box;
    this.t = t;
    this.dispatch = dispatch;
    this.freshKey = freshKey;
    this.drawn = "";
    this.count = make("p", "fine rating-count");
    this.send = this.#button("primary", "ratings-send", t("ratings.send"), () => dispatch({ type: "rate", turnKey: freshKey() }));
    this.skip = this.#button("quiet", "ratings-skip", t("answer.skip"), () => dispatch({ type: "skip", turnKey: freshKey() }));
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", t("ratings.label"));
    box.tabIndex = -1;
  }

  /** @param {string} className @param {string} id @param {string} text @param {() => void} act */
  #button(className, id, text, act) {
    const button = /** @type {HTMLButtonElement} */ (make("button", className, text));
    button.type = "button";
    button.id = id;
    button.dataset["testid"] = id;
    button.addEventListener("click", () => {
      if (isEnabled(button)) act();
    });
    return button;
  }

  /** @param {State} state */
  render(state) {
    const form = state.rating;
    const shown = asksForRatings(state) && !state.pending;
    show(this.box, shown);
    if (!form || !shown) return;
    const print = JSON.stringify(form);
    if (print !== this.drawn) {
      this.drawn = print;
      this.#draw(form, state.detail?.language ?? "");
    }
    const rated = fitting(state.rated, form);
    const free = canAnswer(state);
    for (const input of this.box.querySelectorAll("input")) {
      const { construct, element } = input.dataset;
      const value = rated[construct ?? ""]?.[element ?? ""];
      input.checked = input.value === String(value ?? "");
      input.disabled = !free;
    }
    const have = countRated(rated);
    write(this.count, this.t("ratings.count", { have, all: form.elements.length * form.constructs.length }));
    enable(this.send, free && have > 0);
    enable(this.skip, free);
  }

  /** @param {RatingForm} form @param {string} language */
  #draw(form, language) {
    const actions = make("div", "actions");
    actions.append(this.send, this.skip);
    this.box.replaceChildren(...form.constructs.map((construct) => this.#construct(construct, form, language)), this.count, actions);
  }

  /** @param {RatingForm["constructs"][number]} construct @param {RatingForm} form @param {string} language */
  #construct(construct, form, language) {
    const { emergent } = construct;
    const contrast = construct.contrast || this.t("ratings.not", { pole: emergent });
    const set = make("fieldset", "construct");
    set.dataset["testid"] = `construct-${construct.id}`;
    const legend = make("legend");
    for (const [index, pole] of [emergent, contrast].entries()) {
      const said = make("span", "pole", pole);
      said.dir = "auto";
      said.lang = language;
      const end = make("span", "pole-end", String(index === 0 ? form.lowest : form.highest));
      end.setAttribute("aria-hidden", "true");
      legend.append(...(index === 0 ? [end, said] : [make("span", "visually-hidden", " – "), said, end]));
    }
    set.append(legend, ...form.elements.map((element) => this.#row(construct.id, element, form, [emergent, contrast])));
    return set;
  }

  /** @param {string} construct @param {{id: string, label: string}} element @param {RatingForm} form @param {[string, string]} poles */
  #row(construct, element, form, [emergent, contrast]) {
    const row = make("div", "rating-row");
    const name = make("span", "rating-name", element.label);
    name.id = `rating-${construct}-${element.id}`;
    name.dir = "auto";
    row.setAttribute("role", "radiogroup");
    row.setAttribute("aria-labelledby", name.id);
    const scale = make("div", "rating-scale");
    for (let value = form.lowest; value <= form.highest; value += 1) {
      const pole = value === form.lowest ? emergent : value === form.highest ? contrast : "";
      scale.append(this.#choice(construct, element.id, value, pole ? `${value}: ${pole}` : String(value)));
    }
    scale.append(this.#choice(construct, element.id, null, this.t("ratings.none")));
    row.append(name, scale);
    return row;
  }

  /** @param {string} construct @param {string} element @param {number | null} value @param {string} label */
  #choice(construct, element, value, label) {
    const choice = make("label", value === null ? "rating-choice rating-none" : "rating-choice");
    const input = /** @type {HTMLInputElement} */ (make("input"));
    input.type = "radio";
    input.name = `rating-${construct}-${element}`;
    input.value = String(value ?? "");
    input.dataset["construct"] = construct;
    input.dataset["element"] = element;
    input.setAttribute("aria-label", label);
    input.addEventListener("change", () => this.dispatch({ type: "rated", construct, element, value }));
    const sign = make("span", "", value === null ? "–" : String(value));
    sign.setAttribute("aria-hidden", "true");
    choice.append(input, sign);
    return choice;
  }
}
