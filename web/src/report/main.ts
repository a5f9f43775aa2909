/** The script of the report: puts a picture to zoom into in the place of the fixed one, and leads findings to it. */
import { element } from "../element.js";
import { readStep } from "./step.js";
import { Timeline } from "./timeline.js";

const data = document.getElementById("timeline-data");
const picture = document.getElementById("strip-picture");
if (data && picture) {
  const step = readStep(data.textContent);
  const timeline = new Timeline(step);
  picture.classList.add("replaced");
  picture.after(timeline.root);
  for (const finding of step.findings) {
    const show = (): void => {
      timeline.show(finding);
      timeline.root.scrollIntoView({ block: "center" });
    };
    const button = element("button", { type: "button", class: "show", on: { click: show } }, "Show in the step");
    document.querySelector(`#finding-${String(finding.number)} .about`)?.append(button);
  }
}
