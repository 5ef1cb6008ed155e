// Menus for the cell of which single networks are shown: its task, its series, and what else tells it apart.
import { clear, el } from "./dom";

export interface InCell {
  task: string;
  series: string;
  cell: string; // begins with task and series
}

// What is left of a cell's name when its task and series are named already.
function rest(item: InCell): string {
  let left = item.cell;
  for (const known of [item.task, item.series, item.task]) {
    left = left.startsWith(`${known}, `) ? left.slice(known.length + 2) : left;
  }
  return left;
}

function fill(select: HTMLSelectElement, values: { value: string; label: string }[], chosen: string): string {
  clear(
    select,
    values.map(({ value, label }) => el("option", { value }, label)),
  );
  const value = values.some((one) => one.value === chosen) ? chosen : (values[0]?.value ?? "");
  select.value = value;
  select.disabled = values.length < 2;
  return value;
}

const unique = (list: string[]): string[] => [...new Set(list)];

// Calls `show` at once for the cell of `start`, and whenever another one is chosen.
export function cellChooser<Item extends InCell>(
  items: Item[],
  seriesName: string,
  start: Item | undefined,
  show: (items: Item[]) => void,
): HTMLElement {
  const selects = { task: el("select"), series: el("select"), cell: el("select") };
  const wanted = { task: start?.task ?? "", series: start?.series ?? "", cell: start?.cell ?? "" };
  const update = (): void => {
    const same = (text: string) => ({ value: text, label: text });
    wanted.task = fill(selects.task, unique(items.map((one) => one.task)).map(same), wanted.task);
    const ofTask = items.filter((one) => one.task === wanted.task);
    wanted.series = fill(selects.series, unique(ofTask.map((one) => one.series)).map(same), wanted.series);
    const ofSeries = ofTask.filter((one) => one.series === wanted.series);
    const labels = new Map(ofSeries.map((one) => [one.cell, rest(one)]));
    const before = items.find((one) => one.cell === wanted.cell);
    const alike = [...labels].find(([, label]) => before && label === rest(before));
    wanted.cell = fill(
      selects.cell,
      [...labels].map(([value, label]) => ({ value, label })),
      labels.has(wanted.cell) ? wanted.cell : (alike?.[0] ?? ""),
    );
    show(ofSeries.filter((one) => one.cell === wanted.cell));
  };
  for (const name of ["task", "series", "cell"] as const) {
    selects[name].addEventListener("change", () => {
      wanted[name] = selects[name].value;
      update();
    });
  }
  const step = (by: number): void => {
    const order = unique(items.map((one) => one.cell));
    const next = items.find(
      (one) => one.cell === order[(order.indexOf(wanted.cell) + by + order.length) % order.length],
    );
    if (next) {
      Object.assign(wanted, { task: next.task, series: next.series, cell: next.cell });
      update();
    }
  };
  const label = (text: string, select: HTMLElement): HTMLElement => el("label", {}, el("span", {}, text), select);
  update();
  return el(
    "div",
    { class: "tools gallery-tools" },
    label("Task", selects.task),
    label(seriesName, selects.series),
    label("Cell", selects.cell),
    el(
      "span",
      { class: "stepper" },
      el("button", { type: "button", "aria-label": "Previous cell", click: () => step(-1) }, "‹"),
      el("button", { type: "button", "aria-label": "Next cell", click: () => step(1) }, "›"),
    ),
  );
}
