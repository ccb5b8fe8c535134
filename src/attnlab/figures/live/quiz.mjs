// Draws Quiz: questions, a button for each choice, and the answer once one is pressed.

import { element, mount, setText } from "./figure.mjs";

const LETTERS = "ABCDE";

function draw(body, model) {
  const questions = model.get("state").questions.map((asked, number) => {
    const head = element("div", { class: "asked", id: `asked-${crypto.randomUUID()}` });
    head.innerHTML = asked.asked;
    const rows = asked.choices.map((choice, at) => {
      const mark = element("span", { class: "mark" });
      const words = element("span");
      words.innerHTML = choice;
      const button = element("button", { type: "button" }, `${LETTERS[at]}. `, words, mark);
      const answer = element("p", { class: "answer" });
      button.addEventListener("click", () => {
        if (button.getAttribute("aria-disabled") !== "true") model.send({ choose: [number, at] });
      });
      return { mark, button, answer, node: element("li", {}, button, answer) };
    });
    const said = element("p", { class: "unseen", "aria-live": "polite" });
    const held = element("p", { class: "answer" });
    const again = asked.from ? [element("p", { class: "again" }, asked.from)] : [];
    body.append(element("div", { class: "question", role: "group", "aria-labelledby": head.id },
      ...again, head, element("ul", {}, ...rows.map(({ node }) => node)), held, said));
    return { rows, said, held };
  });

  return () => {
    model.get("state").questions.forEach(({ answers, chosen, right, said }, number) => {
      const { rows, said: live, held } = questions[number];
      rows.forEach(({ mark, button, answer }, at) => {
        if (chosen !== null) button.setAttribute("aria-disabled", "true");
        button.classList.toggle("chosen", at === chosen);
        button.classList.toggle("right", at === right);
        const marks = [at === right && "✓", at === chosen && "your choice"].filter(Boolean);
        setText(mark, marks.length ? ` ${marks.join(" ")}` : "");
        answer.innerHTML = answers[at];
      });
      setText(held, chosen !== null && right === null ? said : "");
      setText(live, said);
    });
  };
}

export default { render: (context) => mount(context, draw) };
