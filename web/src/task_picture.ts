// The graph of a task as the program draws it. It is an image, so that nothing in it can run.
import { el } from "./dom";
import type { Task } from "./report";

// The page has a background of its own.
const kBackground = '<rect width="100%" height="100%" fill="#ffffff"/>';

export function taskPicture(task: Task): HTMLElement | null {
  return task.picture
    ? el(
        "div",
        { class: "task-picture drawn" },
        el("img", {
          src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(task.picture.replace(kBackground, ""))}`,
          alt: `Graph of ${task.name}: ${task.gates.join(", ")}`,
          loading: "lazy",
        }),
      )
    : null;
}
