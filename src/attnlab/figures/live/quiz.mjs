// Draws Quiz: questions, a button for each choice, and the answer once one is pressed.

import { element, mount, setText } from "./figure.mjs";

const LETTERS = "ABCDE";
const OTHERS = "The other answers";

function line(text) {
  const node = element("p");
  node.innerHTML = text;
  return node;
}

function draw(body, model) {
  const questions = model.get("state").questions.map((asked, number) => {
    const head = element("div", { class: "asked", id: `asked-${crypto.randomUUID()}` });
    head.innerHTML = asked.asked;
    const rows = asked.choices.map((choice, at) => {
      const mark = element("span", { class: "mark" });
      const words = element("span");
      words.innerHTML = `${LETTERS[at]}. ${choice}`;
      const button = element("button", { type: "button" }, words, mark);
      button.addEventListener("click", () => {
        if (button.getAttribute("aria-disabled") !== "true") model.send({ choose: [number, at] });
      });
      return { mark, button, node: element("li", {}, button) };
    });
    const said = element("p", { class: "unseen", "aria-live": "polite" });
    const told = element("div", { "aria-hidden": "true" });
    const others = element("details", {}, element("summary", {}, OTHERS));
    const room = asked.room.map((blank) => element("p", {}, blank));
    const answers = element("div", { class: "answers" },
      element("div", { class: "room", "aria-hidden": "true" }, ...room), element("div", {}, told, others));
    const again = asked.from ? [element("p", { class: "again" }, asked.from)] : [];
    body.append(element("div", { class: "question", role: "group", "aria-labelledby": head.id },
      ...again, head, element("ul", {}, ...rows.map(({ node }) => node)), answers, said));
    return { rows, told, others, said };
  });

  return () => {
    model.get("state").questions.forEach(({ chosen, right, marks, told: answers, others: more, said: read }, number) => {
      const { rows, told, others, said } = questions[number];
      rows.forEach(({ mark, button }, at) => {
        if (chosen !== null) button.setAttribute("aria-disabled", "true");
        button.classList.toggle("chosen", at === chosen);
        button.classList.toggle("right", at === right);
        setText(mark, marks[at]);
      });
      told.replaceChildren(...answers.map(line));
      others.hidden = !more.length;
      others.replaceChildren(others.firstChild, ...more.map(line));
      setText(said, read);
    });
  };
}

export default { render: (context) => mount(context, draw) };
