// A slider over the iterations, and a button that moves it.
import { el } from "./dom";
import { count } from "./format";

const kStepMs = 160;

export interface TimeControl {
  element: HTMLElement;
  setTimes: (times: number[]) => void; // of another cell; as near as can be to where the slider was
  choose: (iteration: number) => void; // the nearest time
}

// `look` is told the chosen iteration.
export function timeControl(look: (iteration: number) => void): TimeControl {
  let times: number[] = [0];
  let wanted = Infinity; // an iteration; the end, as long as nobody has chosen another one
  let timer: ReturnType<typeof setInterval> | undefined;
  const slider = el("input", { type: "range", min: 0, step: 1, "aria-label": "Iteration" });
  const words = el("output", { class: "time-words" });
  const button = el("button", { type: "button", class: "time-play", click: () => (timer ? stop() : play()) }, "Play");
  const element = el("div", { class: "mixture-time" }, button, slider, words);

  function show(at: number): void {
    const iteration = times[at] ?? 0;
    const end = times[times.length - 1] ?? 0;
    slider.value = String(at);
    words.textContent = `iteration ${count(iteration)} of ${count(end)}`;
    slider.setAttribute("aria-valuetext", words.textContent);
    look(iteration);
  }

  function go(at: number): void {
    wanted = at < times.length - 1 ? (times[at] ?? 0) : Infinity;
    show(at);
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    button.textContent = "Play";
  }

  function play(): void {
    if (Number(slider.value) >= times.length - 1) {
      go(0);
    }
    button.textContent = "Pause";
    timer = setInterval(() => {
      const next = Number(slider.value) + 1;
      if (next < times.length && element.isConnected) {
        go(next);
      }
      if (next >= times.length - 1) {
        stop();
      }
    }, kStepMs);
  }

  const lastUntil = (iteration: number): number => Math.max(times.filter((time) => time <= iteration).length - 1, 0);
  const nearest = (iteration: number): number =>
    times.reduce((best, time, at) => (Math.abs(time - iteration) < Math.abs((times[best] ?? 0) - iteration) ? at : best), 0);
  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value));
  });
  return {
    element,
    setTimes: (given) => {
      stop();
      times = given.length ? given : [0];
      slider.max = String(times.length - 1);
      element.hidden = times.length < 2;
      show(lastUntil(wanted));
    },
    choose: (iteration) => {
      stop();
      go(nearest(iteration));
    },
  };
}
