// What `modlab report` puts into the page. src/report/ writes it; everything in here only reads it.

export interface Report {
  study: string;
  title: string;
  about: string;
  preset: string;
  preset_about: string;
  paper: string; // whose findings the study looks into; empty for a study of one's own
  version: string;
  level: number; // of intervals: 0.9
  drawn?: string; // what a split is called: "split", "task seed"
  overview: Overview;
  tasks: Task[];
  claims: Claim[];
  figures: Figure[];
  gallery: Network[];
  sculpted?: SculptedCell[] | null; // of sculpted networks; null where a study has none
  mixtures?: MixtureCell[] | null; // of networks on rules; null where a study has none
  masks?: MaskedCell[] | null; // of masked networks; null where a study has none
  chosen: Chosen[];
}

export interface Overview {
  planned: number;
  done: number;
  diverged: number;
  core_seconds: number;
  trainings?: number | null; // in all trials of a study of sculpted networks, and
  carvings?: number | null; // how many trials that were: runs may share one
  threads: number | null;
  machine: string;
  given?: boolean; // networks that were trained elsewhere
  overrides: string[]; // "epochs=100", as given on the command line
  shard: string; // "shard 3 of 16" where this is a part of a study
  missing: { series: string; planned: number; done: number }[]; // empty when all is there
  series: { name: string; runs: number; settings: number }[]; // settings: how many configurations were tuned over
}

export interface Task {
  name: string;
  about: string;
  inputs: number;
  outputs: number;
  base_rate: number; // accuracy of always answering 0, in percent
  gates: string[];
  picture?: string | null; // its graph as SVG, with the true modules as coloured areas; for sculpted networks only
}

export type Verdict = "holds" | "fails" | "undecided" | "no data";

export interface Claim {
  id: string;
  figure: string;
  text: string;
  verdict: Verdict; // over splits, or trials
  here: Verdict | null; // on these very splits
  reason: string;
  checks: Check[];
}

// An estimate for one population.
export interface Judgement {
  verdict: Verdict;
  too_few: string; // "3 splits": why there is no verdict
  estimate: number | null;
  low: number | null; // null where nothing can be said
  high: number | null;
  p: number;
  population: string; // "over 30 splits"
  interval: string; // in words
}

export interface Check {
  text: string;
  expectation: string; // "at most 1 point below"
  expected_low: number | null; // where what is expected begins and
  expected_high: number | null; // ends; null where anything will do
  verdict: Verdict;
  general: Judgement | null; // over splits, or trials
  here: Judgement | null; // on these very splits
  difference: boolean; // shown with its sign
  unit: string;
  splits: number; // 0 where none were drawn
  seeds: number; // of all splits together
  covered: string; // "at 4 of 7 points"
  note: string;
}

export interface Figure {
  id: string; // "F3"
  paper: string; // "Figure 3"
  title: string;
  about: string;
  kind: "lines" | "bars" | "heatmap" | "votes" | "curves" | "table";
  by_measure?: boolean; // every measure has panels of its own, side by side
  drawn?: string; // as in Report
  x: Axis | null; // null for a table
  y: Axis | null; // the rows of a heat map
  panel: Axis | null;
  row: Axis | null; // a second facet: rows of panels
  series: Axis | null;
  measures: Measure[]; // the first one is shown first
  baseline: Baseline[];
  rows: Row[];
  table?: { columns: string[]; rows: (string | number | null)[][]; notes: string[] } | null;
}

// What networks are held against: what guessing reaches on the rows that an accuracy is about, or random gates.
export interface Baseline {
  measure: string;
  label?: string; // "guessing"
  panel: string | null;
  row: string | null;
  points: { x: number | string; value: number }[];
}

export interface Axis {
  name: string;
  label: string;
  ordinal: boolean;
  order?: (string | number)[] | null;
}

export interface Measure {
  name: string;
  label: string;
  unit: string;
  log: boolean;
  domain: [number, number] | null;
  higher_is_better: boolean;
  is_share?: boolean; // both ends of its domain are worth seeing; of an accuracy the lower one is not
}

export interface Row {
  x: number | string;
  y?: number | string | null;
  panel?: string | null;
  row?: string | null;
  series?: string | null;
  values: Record<string, Value | null>;
  chosen?: { split: number | null; settings: string }[] | null;
}

export interface Value {
  mean: number | null;
  within: number | null; // standard error over seeds within a split
  between: number | null; // standard error over splits
  n: number; // networks; of votes, contests
  runs?: (number | null)[] | null;
}

export type Rank = "best" | "median" | "worst";

export interface Network {
  id: string;
  cell: string; // "depth2, modular-shared, ratio 0.5"
  rank: Rank;
  series: string;
  task: string;
  settings: string;
  // Of networks on images, `test` is on digit combinations that were never trained on (unseen), and `seen` on those
  // that were, with other images.
  accuracy: { train: number | null; validation: number | null; test: number | null; seen?: number | null };
  best_epoch: number;
  edit_distance: number | null;
  graph: RoutingGraph | null; // null for a network without modules
  curve: Curve | null;
  images?: ImageDetails | null; // of networks on images only
}

// What a network makes of images. image_details.ts fills up what is missing.
export interface ImageDetails {
  digits: number; // 8: digits 0 to 7
  images: number; // in a sample, 2 to 4
  outputs: string[]; // names of the task's outputs
  rows: number; // of an image
  columns: number;
  modules: ImageModule[]; // what reads the images; empty for a network without modules
  combinations: Combination[]; // every digit combination
  examples: Example[]; // some real samples, mostly of unseen combinations
}

export interface ImageModule {
  name: string; // "image module 1", "shared image module"
  reads: string; // "image 1", "image 1 and image 2", "nothing"
  means: (number | null)[][]; // [output][digit]: mean output over test images of that digit
  specialisation: number | null; // 0 to 1
}

export type Part = "train" | "validation" | "unseen";

export interface Combination {
  digits: number[];
  part: Part;
  accuracy: number | null; // percent of right bits, with images that were not trained on
}

export interface Example {
  digits: number[];
  part: Part;
  pixels: string[]; // base64 of rows * columns bytes for each image; empty where the images are not at hand
  truth: (number | null)[]; // of each output, 0 or 1
  says: (number | null)[]; // of each output, the probability of 1
}

export interface RoutingGraph {
  nodes: RoutingNode[];
  edges: { from: string; to: string; state: "right" | "wrong" | "missing" | "free" }[]; // free: more than the gate needs
}

// Levels of a network on images: 0 the images of a sample, 1 the values that image slots give, 2 and up the modules.
// The label of a value is its slot's name and a number, "image slot 1, value 2": what stands before the last number
// tells which values belong together.
export interface RoutingNode {
  id: string;
  kind: "input" | "module" | "output" | "image" | "value";
  level: number;
  index: number;
  label: string;
  pool: number | null; // of a value, the shared image module
  gate: string | null; // "XOR(x0,x1)"; of a value "bit 2 of image 1"
  correlation: number | null; // signed
  surplus: boolean;
}

export interface Curve {
  epochs: number[];
  train: (number | null)[];
  validation: (number | null)[];
  test: (number | null)[];
  seen?: (number | null)[] | null; // of networks on images only
}

// Trials that differ in their seed alone, and some of their networks.
export interface SculptedCell {
  series: string;
  task: string;
  cell: string; // "2 hidden layers, sculpt/4-2-4, hidden 24,24"
  trials: number;
  learned: number; // trials whose dense network learned, and was pruned
  true_modules: number | null; // mean over these of the share of tied networks that have them, in percent
  networks: Sculpted[];
}

// The median number of edges; the fewest edges with the true modules; the first trial without them.
export type SculptedRank = "typical" | "best" | "failed";

// One of the networks of a trial that are tied for the fewest edges. Of a trial whose dense network did not learn, only
// that one's accuracy is known.
export interface Sculpted {
  id: string; // of its run
  ranks: SculptedRank[]; // why it is shown
  seed: number;
  epochs: number; // of every training
  accuracy: number;
  success: boolean | null; // has the true modules; null where the task does not say what they are
  edges: number | null; // that are left
  dense_edges: number;
  units: number | null; // hidden ones that are left
  dense_units: number;
  tied: number; // networks of the trial
  tied_true: number | null; // of these, with the true modules
  unit_step: number | null; // p_u, in percent
  edge_step: number | null; // p_e
  command: string | null; // carves it again
  history: PruneStep[];
  drawing: SculptedDrawing | null;
}

// One attempt.
export interface PruneStep {
  stage: "dense" | "units" | "retrain" | "edges";
  percent: number; // asked for, of what there was before pruning
  units: number; // that it left
  edges: number;
  accuracy: number;
  accepted: boolean;
}

// What is left of a network, inputs at the bottom, and how it came to be so. Lengths are in pixels.
export interface SculptedDrawing {
  width: number;
  height: number;
  unit_height: number;
  modules: DrawnModule[];
  layers: DrawnLayer[];
  // The edges after each accepted step: one letter for each edge that was there before it, first for all there can be,
  // by layer, then by the unit they lead to, then by the one they come from. sculpted_network.ts reads them.
  networks: string[];
  weights: number[]; // of the last network's edges, in the same order
  crossing: number[]; // places among these of edges that are no step from module to module
}

export interface DrawnModule {
  name: string; // in terms of true modules: "G", "F1 + F2"; "G*" has only a part of G
  truth: number | null; // the true module that it is or is a part of
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface DrawnLayer {
  name: string; // "inputs", "hidden 1", "outputs"
  y: number;
  unit_width: number;
  names: string[]; // of all units before pruning
  places: ([number, number] | null)[]; // of those that are left and lie on a way from inputs to outputs
}

// Networks that learned the same rules: a typical one of each model, and gates that know nothing.
export interface MixtureCell {
  task: string;
  series: string; // "8 rules, regression"
  cell: string; // "rules-mlp, 8 rules, regression, task seed 0"
  rules: number;
  networks: Mixture[];
}

// mixture_details.ts turns the lists around, into moments.
export interface Mixture {
  series: string; // empty for uniform gates
  name: string; // its series, and what else tells it apart: "modular, modules 4"
  gates: "oracle" | "learned" | "uniform" | "none"; // uniform: nothing was trained; none: it has no modules
  id: string | null; // of its run
  seed: number | null;
  runs: number; // of which it has the median loss
  modules: number; // 0 where there are none
  order: number[]; // modules, from 0, by the rules that they serve in the end; empty where nothing is drawn
  iterations: number[]; // before which the network was looked at; the lists below have an entry for each
  loss: (number | null)[];
  use: UseCurves | null; // null without modules
  activation: (number[] | null)[]; // [rule * modules + module], in thousandths; empty where nothing is drawn
}

// The five measures, all from 0, which is best, to 1.
export interface UseCurves {
  collapse_avg: (number | null)[];
  collapse_worst: (number | null)[];
  alignment: (number | null)[];
  adaptation: (number | null)[];
  imi: (number | null)[];
}

// Networks that are masked for each of their targets.
export interface MaskedCell {
  task: string;
  series: string;
  cell: string; // "dense, depth2"
  runs: number; // that were masked, of which the networks are some
  networks: MaskedNetwork[];
}

export type MaskedRank = "least" | "median" | "most"; // by what two masks share

// mask_details.ts fills up what is missing.
export interface MaskedNetwork {
  id: string; // of its run
  rank: MaskedRank;
  settings: string; // what was drawn: "split 40, seed 0"
  inputs: string[]; // names of the task's; empty where they have none
  outputs: string[];
  beta: number; // weight of the penalty
  targets: string[]; // what masks are for
  unmasked: number[]; // accuracy of each target without a mask, in percent
  classes: string[] | null; // names, where answers are classes that have any
  control: boolean; // whether the first mask is one on everything
  masks: TrainedMask[]; // the control, if there is one, and one for each target
  tensors: MaskedTensor[];
  sharing: Sharing | null; // of all tensors together, the mean over pairs of targets; null where there is one target
  exact: boolean; // cells of pictures are weights; otherwise they are blocks
  betas: BetaPoint[] | null; // masks on everything, where beta was looked for
  warnings: string[];
}

export interface TrainedMask {
  name: string; // "all", or its target's
  accuracy: (number | null)[]; // of each target under the mask, in percent; null where it was learned later
  inverse: (number | null)[]; // with everything but the mask
  confusion: number[][] | null; // [asked for][answered with, last: with none], in percent; null where nobody can tell
  inverse_confusion: number[][] | null;
  class_confusion: number[][] | null; // [right class][said class], in percent; null where answers are no classes
  ambiguous: number; // logits that are not decided, in percent
  again: number | null; // IoU with itself, trained again
  untrained: number | null; // accuracy that a mask alone gives an untrained network
  histogram: number[] | null; // logits by their chance to keep, in bins from 0 to 1; null where it was not stored
}

export interface Sharing {
  iou: number;
  iomin: number;
  iou_chance: number; // of random masks that keep as much
  iomin_chance: number;
}

export interface MaskedTensor {
  name: string;
  weights: number;
  kept: number[]; // by each mask
  sharing: Sharing | null; // null where there is one target, or each has such a tensor for itself
  earlier: (TakenOver | null)[] | null; // by each mask, where targets follow each other; null where there is nothing to take
  picture: TensorPicture | null; // null where it was not stored
}

// Of what a mask keeps, the share that masks of earlier targets keep too, and that of a random one.
export interface TakenOver {
  shared: number;
  by_chance: number;
}

// The letters of a cell, row after row: of a weight which targets keep it, six to a letter, the first as the lowest
// bit; of a block the share that each target alone keeps, and the share that several keep, in 63rds. A stands for 0.
export interface TensorPicture {
  rows: number; // units that weights lead to
  columns: number;
  down: number; // cells
  across: number;
  letters: string;
}

export interface BetaPoint {
  beta: number;
  kept: number; // weights, in percent
  accuracy: number; // in percent
  ambiguous: number; // in percent
}

export interface Chosen {
  series: string;
  cell: string; // "depth2, ratio 0.5"
  split: number | null; // null where nothing was split
  settings: string;
  validation: number | null;
  tied: number; // how many configurations shared the best validation accuracy
}

// A report with every list in place, however little of the study is there.
export function completeReport(given: Partial<Report>): Report {
  const overview: Partial<Overview> = given.overview ?? {};
  return {
    study: given.study ?? "",
    title: given.title ?? given.study ?? "Study",
    about: given.about ?? "",
    preset: given.preset ?? "",
    preset_about: given.preset_about ?? "",
    paper: given.paper ?? "",
    version: given.version ?? "",
    level: given.level ?? 0.9,
    drawn: given.drawn ?? "split",
    overview: {
      planned: overview.planned ?? 0,
      done: overview.done ?? 0,
      diverged: overview.diverged ?? 0,
      core_seconds: overview.core_seconds ?? 0,
      trainings: overview.trainings ?? null,
      carvings: overview.carvings ?? null,
      threads: overview.threads ?? null,
      machine: overview.machine ?? "",
      given: overview.given ?? false,
      overrides: overview.overrides ?? [],
      shard: overview.shard ?? "",
      missing: overview.missing ?? [],
      series: overview.series ?? [],
    },
    tasks: given.tasks ?? [],
    claims: given.claims ?? [],
    figures: (given.figures ?? []).map((figure) => ({ ...figure, drawn: given.drawn ?? "split" })),
    gallery: given.gallery ?? [],
    sculpted: given.sculpted ?? null,
    mixtures: given.mixtures ?? null,
    masks: given.masks ?? null,
    chosen: given.chosen ?? [],
  };
}

// A study may have sculpted networks, networks on rules, masked ones, others that were trained once, or several of these.
export function hasSculpted(report: Report): boolean {
  return Boolean(report.sculpted);
}
export function hasMixtures(report: Report): boolean {
  return Boolean(report.mixtures);
}
export function hasMasks(report: Report): boolean {
  return Boolean(report.masks);
}
export function hasTrained(report: Report): boolean {
  return !(hasSculpted(report) || hasMixtures(report) || hasMasks(report)) || report.gallery.length > 0;
}
// Trials differ in their seed alone; all other runs are repeated over splits, or over tasks that are drawn.
export function hasSplits(report: Report): boolean {
  return hasTrained(report) || hasMixtures(report) || hasMasks(report);
}

// "splits": what was drawn, as many.
export function drawnWords(of: { drawn?: string }): string {
  return `${of.drawn ?? "split"}s`;
}

// Figures that are not in the paper go by their title.
export function figureName(figure: Figure): string {
  return figure.paper || figure.title || figure.id;
}

export function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
