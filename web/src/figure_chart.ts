// A chart that is drawn when it comes into view, and drawn again when its size, theme or measure changes.
import type { ChartFigure, ErrorKind } from "./chart_points";
import { firstError, isBars, isLines } from "./chart_points";
import type { ChartOptions } from "./chart_options";
import { chartSpec, expectedHeight } from "./chart_spec";
import { el } from "./dom";
import { tooltipWords } from "./figure_words";
import type { Palette } from "./palette";
import { kFileLook } from "./palette";
import type { Measure } from "./report";
import { fontsReady, look, onThemeChange } from "./theme";
import { hideTooltip, showTooltip } from "./tooltip";
import type { ChartView } from "./vega_view";
import { makeView } from "./vega_view";

// A drawn point, relative to the chart's upper left corner.
interface Spot {
  key: number;
  measure: string;
  x: number;
  y: number;
  width: number;
  height: number;
}

interface DrawnElement extends Element {
  __data__?: { datum?: { key?: number; measure?: string }; mark?: { marktype?: string } };
}

const kReach = 32; // how far from a point the pointer may be to mean it
const kFileWidth = 760;

export interface Chart {
  element: HTMLElement;
  setMeasure(measure: Measure): void;
  setError(error: ErrorKind): void;
  setHidden(hidden: string[]): void;
  emphasise(series: string | null): void;
  svg(): Promise<string>;
}

export function makeChart(figure: ChartFigure, palette: Palette, first: Measure, pick: (key: number, measure: Measure) => void): Chart {
  let measure = first;
  let error = firstError(figure);
  let hidden: string[] = [];
  let view: ChartView | null = null;
  let spots: Spot[] = [];
  let drawnWidth = 0;
  let wanted = false; // it has been in view, or is about to be printed
  let current: Spot | null = null;
  let turn = 0;

  const canvas = el("div", { class: "canvas", "aria-hidden": "true" });
  const ring = el("div", { class: "ring", hidden: true });
  const element = el(
    "div",
    {
      class: `chart chart-${figure.kind}`,
      tabindex: 0,
      role: "group",
      "aria-label": `${figure.paper} ${figure.title}. Arrow keys go from point to point, Enter lists the settings behind one; all values are in the table below.`,
    },
    canvas,
    ring,
  );

  function options(width: number, file: boolean): ChartOptions {
    return { measure, error, look: file ? kFileLook : look(), palette, width, file, title: file, hidden };
  }

  async function draw(): Promise<void> {
    const width = Math.floor(element.clientWidth);
    if (!wanted || width < 50) {
      return;
    }
    const mine = ++turn;
    drawnWidth = width;
    await fontsReady();
    leave();
    const holder = el("div");
    const next = makeView(chartSpec(figure, options(width, false)), holder);
    await next.runAsync();
    if (mine !== turn) {
      next.finalize();
      return;
    }
    view?.finalize();
    view = next;
    canvas.replaceChildren(holder);
    element.style.minHeight = "";
    element.dataset.drawn = measure.name;
    spots = [];
  }

  function findSpots(): Spot[] {
    if (!spots.length) {
      const origin = element.getBoundingClientRect();
      const kind = isLines(figure) ? "symbol" : "rect";
      for (const mark of canvas.querySelectorAll<DrawnElement>("path")) {
        const { key, measure: of = "" } = mark.__data__?.datum ?? {};
        if (key === undefined || mark.__data__?.mark?.marktype !== kind) {
          continue;
        }
        const box = mark.getBoundingClientRect();
        spots.push({
          key,
          measure: of,
          x: box.x + box.width / 2 - origin.x,
          y: box.y + box.height / 2 - origin.y,
          width: box.width,
          height: box.height,
        });
      }
    }
    return spots;
  }

  function nearest(event: PointerEvent | MouseEvent): Spot | null {
    const origin = element.getBoundingClientRect();
    const x = event.clientX - origin.x;
    const y = event.clientY - origin.y;
    let best: Spot | null = null;
    let least = isLines(figure) ? kReach : isBars(figure) ? 12 : 1;
    for (const spot of findSpots()) {
      const distance =
        isLines(figure)
          ? Math.hypot(spot.x - x, spot.y - y)
          : Math.hypot(
              Math.max(Math.abs(spot.x - x) - spot.width / 2, 0),
              Math.max(Math.abs(spot.y - y) - spot.height / 2, 0),
            );
      if (distance < least) {
        least = distance;
        best = spot;
      }
    }
    return best;
  }

  function emphasise(series: string | null): void {
    void view?.signal("emphasis", series).runAsync();
  }

  // In figures with a panel for each measure it is the panel that says which.
  function measureOf(spot: Spot): Measure {
    return (figure.by_measure && figure.measures.find((one) => one.name === spot.measure)) || measure;
  }

  const isAt = (spot: Spot): boolean => spot.key === current?.key && spot.measure === current.measure;

  function leave(): void {
    if (current !== null) {
      current = null;
      ring.hidden = true;
      hideTooltip();
      emphasise(null);
    }
  }

  function enter(spot: Spot): void {
    const row = figure.rows[spot.key];
    if (!row) {
      return;
    }
    const origin = element.getBoundingClientRect();
    const top = isLines(figure) ? spot.y : spot.y - spot.height / 2;
    showTooltip(origin.x + spot.x, origin.y + top, ...tooltipWords(figure, row, measureOf(spot), palette));
    if (isAt(spot)) {
      return;
    }
    current = spot;
    const size =
      isLines(figure) ? { width: 16, height: 16 } : { width: spot.width + 2, height: spot.height + 2 };
    ring.style.cssText = `left:${spot.x - size.width / 2}px;top:${spot.y - size.height / 2}px;width:${size.width}px;height:${size.height}px`;
    ring.hidden = false;
    emphasise(row.series ?? null);
  }

  // Left and right go along a series, up and down from series to series at one place.
  function walk(key: string): Spot | null {
    const all = findSpots();
    const here = all.find(isAt);
    if (!here) {
      return all[0] ?? null;
    }
    const rowOf = (spot: Spot) => figure.rows[spot.key];
    const from = rowOf(here);
    const sideways = key === "ArrowLeft" || key === "ArrowRight";
    const forward = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
    const same = all.filter((spot) => {
      const row = rowOf(spot);
      return sideways
        ? row?.series === from?.series && row?.y === from?.y && row?.row === from?.row
        : row?.x === from?.x &&
            row?.panel === from?.panel &&
            row?.row === from?.row &&
            spot.measure === here.measure;
    });
    same.sort((one, other) => (sideways ? one.x - other.x : one.y - other.y));
    return same[same.indexOf(here) + forward] ?? here;
  }

  element.addEventListener("pointermove", (event) => {
    const spot = nearest(event);
    if (spot) {
      enter(spot);
    } else {
      leave();
    }
  });
  element.addEventListener("pointerleave", leave);
  element.addEventListener("blur", leave);
  element.addEventListener("click", (event) => {
    const spot = nearest(event);
    if (spot) {
      enter(spot);
      pick(spot.key, measureOf(spot));
    }
  });
  element.addEventListener("keydown", (event) => {
    if (event.key.startsWith("Arrow")) {
      const spot = walk(event.key);
      if (spot) {
        event.preventDefault();
        enter(spot);
      }
    } else if (event.key === "Enter" && current !== null) {
      pick(current.key, measureOf(current));
    } else if (event.key === "Escape") {
      leave();
    }
  });

  element.style.minHeight = `${expectedHeight(figure, options(Math.min(window.innerWidth - 40, 1140), false))}px`;
  new IntersectionObserver(
    (entries, observer) => {
      if (entries.some((entry) => entry.isIntersecting)) {
        observer.disconnect();
        wanted = true;
        void draw();
      }
    },
    { rootMargin: "800px" },
  ).observe(element);
  new ResizeObserver(() => {
    spots = [];
    if (Math.abs(element.clientWidth - drawnWidth) > 4) {
      void draw();
    }
  }).observe(element);
  window.addEventListener("beforeprint", () => {
    wanted = true;
    void draw();
  });
  onThemeChange(() => void draw());

  return {
    element,
    setMeasure(next) {
      measure = next;
      void draw();
    },
    setError(next) {
      error = next;
      void draw();
    },
    setHidden(next) {
      hidden = next;
      spots = [];
      leave();
      void view?.signal("hidden", hidden).runAsync();
    },
    emphasise,
    async svg() {
      const single = !figure.panel && !figure.row && !figure.by_measure;
      const paper = makeView(chartSpec(figure, options(single ? 520 : kFileWidth, true)));
      const text = await paper.toSVG();
      paper.finalize();
      return text;
    },
  };
}
