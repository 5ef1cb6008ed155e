#include "bench/ours.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "bench/stopwatch.h"
#include "models/images/image_samples.h"
#include "models/population.h"

namespace modlab::bench {
namespace {

template <typename Spec>
std::vector<Spec> with_seeds(const Spec& given, int seeds) {
  std::vector<Spec> runs;
  for (int seed = 0; seed < seeds; ++seed) {
    runs.push_back(given);
    runs.back().seed = static_cast<std::uint64_t>(seed);
  }
  return runs;
}

}  // namespace

template <typename Spec>
Timing time_loop(const WorkOf<Spec>& work, int networks, int epochs, int threads, int repeats,
                 const engine::Kernels<float>& kernels) {
  Spec given = work.spec;
  given.epochs = epochs;
  const std::vector<Spec> runs = with_seeds(given, networks);
  Timing best{.seconds = 1e30, .networks = networks, .epochs = epochs, .test_accuracy = 0};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    engine::Progress progress;
    double right = 0;
    const models::PlanOf<Spec> plan = models::make_plan(runs);
    const models::PartRows rows = models::part_rows(plan.runs.front(), plan.suite_of(plan.runs.front()));
    const Stopwatch watch;
    models::train_population(plan, threads, kernels, progress,
                             [&](std::size_t /*run*/, const auto& /*blueprint*/, engine::LaneResult&& result) {
                               right += 100.0 * result.best.scores[engine::Part::kTest].right_bits /
                                        (rows.test * rows.outputs);
                             });
    best.seconds = std::min(best.seconds, watch.spent().wall);
    best.test_accuracy = right / networks;
  }
  return best;
}

template Timing time_loop(const Work&, int, int, int, int, const engine::Kernels<float>&);
template Timing time_loop(const ImageWork&, int, int, int, int, const engine::Kernels<float>&);

Timing time_steps(const Work& work, int steps, int repeats, const engine::Kernels<float>& kernels) {
  models::RunSpec spec = work.spec;
  spec.epochs = steps;
  const models::Plan plan = models::make_plan(std::vector{spec});
  models::Blueprint blueprint = plan.groups.front().blueprint;
  // An epoch is one step on the first rows of the table, and nothing is evaluated before the end.
  blueprint.block.evaluate_every = steps;
  blueprint.block.batch_size = work.rows;
  std::vector<engine::LaneSettings> lanes;
  for (int lane = 0; lane < kernels.lanes; ++lane) {
    models::RunSpec lane_spec = plan.runs.front();
    lane_spec.seed = static_cast<std::uint64_t>(lane);
    lanes.push_back(models::make_lane(lane_spec, blueprint, plan.suite_of(lane_spec)));
    lanes.back().train.clear();
    for (int row = 0; row < work.rows; ++row) {
      lanes.back().train.push_back(static_cast<std::uint32_t>(row));
    }
  }
  Timing best{.seconds = 1e30, .networks = kernels.lanes, .epochs = steps, .test_accuracy = 0};
  for (int repeat = 0; repeat < repeats; ++repeat) {
    engine::Progress progress;
    const auto network = models::make_network<float>(blueprint, kernels);
    const Stopwatch watch;
    engine::train_block(kernels, *network, blueprint.data, blueprint.block, lanes, progress);
    best.seconds = std::min(best.seconds, watch.spent().wall);
  }
  return best;
}

SpentTime time_image_steps(const ImageWork& work, int repeats, const engine::Kernels<float>& kernels) {
  models::ImageSpec given = work.spec;
  given.epochs = 1;
  const models::ImagePlan plan = models::make_plan(std::vector{given});
  const models::ImageSpec& spec = plan.runs.front();
  const models::ImageBlueprint& blueprint = plan.groups.front().blueprint;
  const auto pixels = models::load_pixels(spec);
  engine::solo::Data data = models::make_image_samples(spec, plan.suite_of(spec), *pixels);
  // Parts without samples cost nothing to evaluate.
  std::fill(data.parts.begin() + 1, data.parts.end(), engine::solo::SampleList{});
  const int samples = data[engine::Part::kTrain].count();
  const int steps = (samples + spec.batch_size - 1) / spec.batch_size;
  const engine::LaneSettings lane = models::make_lane(spec, blueprint);
  SpentTime best;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    engine::Progress progress;
    const auto network = models::make_network<float>(blueprint, engine::solo::kernels_for(kernels.target));
    const Stopwatch watch;
    engine::solo::train_solo(kernels, *network, data, blueprint.block, lane, progress);
    best.improve(watch.spent().per(steps));
  }
  return best;
}

PixelShare pixel_share(const ImageWork& work) {
  const models::ImagePlan plan = models::make_plan(std::vector{work.spec});
  const models::ImageSpec& spec = plan.runs.front();
  const auto pixels = models::load_pixels(spec);
  const engine::solo::Data data = models::make_image_samples(spec, plan.suite_of(spec), *pixels);
  const engine::solo::PixelImages& images = pixels->train;
  const std::vector<std::uint32_t>& numbers = data[engine::Part::kTrain].numbers;
  double alone = 0;
  double in_pairs = 0;
  for (const std::uint32_t image : numbers) {
    alone += images.begin[(image + 1) * images.bands()] - images.begin[image * images.bands()];
    in_pairs += 2.0 * (images.pairs_begin[image + 1] - images.pairs_begin[image]);
  }
  const double all = static_cast<double>(numbers.size()) * images.pixels;
  return {alone / all, in_pairs / all};
}

std::vector<Curve> train_curves(const ImageWork& work, int seeds, int threads, const engine::Kernels<float>& kernels) {
  using engine::Part;
  const models::ImagePlan plan = models::make_plan(with_seeds(work.spec, seeds));
  const models::ImageSpec& first = plan.runs.front();
  const models::PartRows rows = models::part_rows(first, plan.suite_of(first));
  std::vector<Curve> curves(plan.runs.size());
  engine::Progress progress;
  models::train_population(
      plan, threads, kernels, progress,
      [&](std::size_t run, const models::ImageBlueprint& /*blueprint*/, engine::LaneResult&& result) {
        for (const engine::Scores& scores : result.curve) {
          const auto percent = [&](Part part, int samples) {
            return 100.0 * scores[part].right_bits / (samples * rows.outputs);
          };
          curves[run].training_loss.push_back(scores[Part::kTrain].loss);
          curves[run].seen_accuracy.push_back(percent(Part::kSeen, rows.seen));
          curves[run].unseen_accuracy.push_back(percent(Part::kTest, rows.test));
        }
      });
  return curves;
}

// Not what getrusage() says, which begins with the memory of the program that started this one.
double peak_memory_mb() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:") {
      status >> kilobytes;
      break;
    }
  }
  return kilobytes / 1024.0;
}

}  // namespace modlab::bench
