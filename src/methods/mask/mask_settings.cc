#include "methods/mask/mask_settings.h"

#include "core/errors.h"
#include "core/text.h"
#include "engine/solo/masked_kernels.h"
#include "models/training_settings-inl.h"

namespace modlab::methods {
namespace {

using engine::MaskDrawing;
using models::kFree;
using models::kList;
using models::kNamed;
using models::kPlain;
using models::row;
using nlohmann::json;
using settings::read_integer;
using settings::read_rate;
using settings::read_real;
using settings::read_word;
using settings::SpecSetting;
using settings::Word;
using settings::word_for;

constexpr Word<MaskDrawing> kSamplers[] = {{"gumbel", MaskDrawing::kGumbel},
                                           {"hard-concrete", MaskDrawing::kHardConcrete},
                                           {"deterministic", MaskDrawing::kDeterministic}};
constexpr Word<MaskPenaltyKind> kPenalties[] = {{"logits", MaskPenaltyKind::kLogits},
                                                {"count", MaskPenaltyKind::kCount}};
constexpr Word<MaskGrain> kGrains[] = {{"weight", MaskGrain::kWeight}, {"unit", MaskGrain::kUnit}};
constexpr Word<MaskClip> kClips[] = {{"logits", MaskClip::kLogits}, {"published", MaskClip::kPublished}};
constexpr Word<InverseEnds> kEnds[] = {
    {"none", InverseEnds::kNone}, {"fullmask", InverseEnds::kFullMask}, {"ones", InverseEnds::kOnes}};

// "no-bias,layers.0.*"; "none" is an empty list.
std::vector<std::string> read_patterns(const std::string& text) {
  return text == "none" || text == "all" ? std::vector<std::string>{} : split_text(text, ',');
}

std::vector<SpecSetting<MaskSpec>> training_rows() {
  return {
      row<MaskSpec>(
          "mask_steps", "N", "training steps of a mask", kNamed,
          [](MaskSpec& spec, const std::string& text) {
            spec.steps =
                static_cast<int>(read_integer("mask_steps", text, 1, 10'000'000, "a whole number from 1 to 10000000"));
          },
          [](const MaskSpec& spec) { return json(spec.steps); }),
      row<MaskSpec>(
          "beta", "B|auto",
          "weight of the penalty: B / batch times the sum of a mask's logits; auto: the largest that loses little",
          kFree | kNamed,
          [](MaskSpec& spec, const std::string& text) {
            if (text == "auto") {
              spec.beta.reset();
              return;
            }
            spec.beta = read_real("beta", text, 1e-12, 1e6, "a positive number or auto");
          },
          [](const MaskSpec& spec) { return spec.beta ? json(*spec.beta) : json("auto"); }),
      row<MaskSpec>(
          "mask_lr", "RATE", "learning rate of a mask's logits", kFree | kNamed,
          [](MaskSpec& spec, const std::string& text) { spec.lr = read_rate("mask_lr", text); },
          [](const MaskSpec& spec) { return json(spec.lr); }),
      row<MaskSpec>(
          "samples", "K", "masks drawn for a batch, each for an equal part of its rows", kPlain,
          [](MaskSpec& spec, const std::string& text) {
            spec.samples = static_cast<int>(read_integer("samples", text, 1, 64, "a whole number from 1 to 64"));
          },
          [](const MaskSpec& spec) { return json(spec.samples); }),
      row<MaskSpec>(
          "mask_batch", "N", "rows of a mask's training step, drawn with replacement", kPlain,
          [](MaskSpec& spec, const std::string& text) {
            spec.batch_size =
                static_cast<int>(read_integer("mask_batch", text, 1, 65'536, "a whole number from 1 to 65536"));
          },
          [](const MaskSpec& spec) { return json(spec.batch_size); }),
      row<MaskSpec>(
          "mask_init", "L", "logit of every weight at first", kFree,
          [](MaskSpec& spec, const std::string& text) {
            spec.init = read_real("mask_init", text, -50, 50, "a number from -50 to 50");
          },
          [](const MaskSpec& spec) { return json(spec.init); }),
      row<MaskSpec>(
          "mask_clip", "LENGTH", "length that a gradient of the logits is cut to", kFree,
          [](MaskSpec& spec, const std::string& text) {
            spec.clip = read_real("mask_clip", text, 1e-9, 1e9, "a positive number");
          },
          [](const MaskSpec& spec) { return json(spec.clip); }),
  };
}

std::vector<SpecSetting<MaskSpec>> variant_rows() {
  return {
      row<MaskSpec>(
          "clip_of", "logits|published",
          "what that length is of: what is trained, or, on arithmetic, also the published leftovers", kPlain,
          [](MaskSpec& spec, const std::string& text) { spec.clip_of = read_word("clip_of", text, kClips); },
          [](const MaskSpec& spec) { return json(word_for(spec.clip_of, kClips)); }),
      row<MaskSpec>(
          "active_set", "off|L",
          "on arithmetic: give a logit up for good once it is below -L (12 to 15), which is faster", kPlain,
          [](MaskSpec& spec, const std::string& text) {
            spec.active.reset();
            if (text != "off") {
              spec.active = read_real("active_set", text, 1e-3, 1e3, "off or a positive number");
            }
          },
          [](const MaskSpec& spec) { return spec.active ? json(*spec.active) : json("off"); }),
      row<MaskSpec>(
          "sampler", "NAME",
          "how masks are drawn: gumbel, deterministic (by the sign of the logit), or hard-concrete, whose numbers are "
          "no bits",
          kPlain, [](MaskSpec& spec, const std::string& text) { spec.sampler = read_word("sampler", text, kSamplers); },
          [](const MaskSpec& spec) { return json(word_for(spec.sampler, kSamplers)); }),
      row<MaskSpec>(
          "mask_tau", "T", "temperature of the drawing; hard-concrete is published with 0.667", kFree,
          [](MaskSpec& spec, const std::string& text) {
            spec.tau = read_real("mask_tau", text, 1e-3, 1e3, "a number from 0.001 to 1000");
          },
          [](const MaskSpec& spec) { return json(spec.tau); }),
      row<MaskSpec>(
          "penalty", "logits|count",
          "what is to be small: the sum of the logits, or the expected number of kept weights", kPlain,
          [](MaskSpec& spec, const std::string& text) { spec.penalty = read_word("penalty", text, kPenalties); },
          [](const MaskSpec& spec) { return json(word_for(spec.penalty, kPenalties)); }),
      row<MaskSpec>(
          "grain", "weight|unit", "what has a logit: each weight, or each unit with all weights into it", kPlain,
          [](MaskSpec& spec, const std::string& text) { spec.grain = read_word("grain", text, kGrains); },
          [](const MaskSpec& spec) { return json(word_for(spec.grain, kGrains)); }),
      row<MaskSpec>(
          "include", "PATTERNS", "tensors to mask, as layers.*.weight; default: all that are not excluded", kList,
          [](MaskSpec& spec, const std::string& text) { spec.include = read_patterns(text); },
          [](const MaskSpec& spec) { return json(spec.include.empty() ? "all" : join_text(spec.include, ",")); }),
      row<MaskSpec>(
          "exclude", "PATTERNS", "tensors that stay as they are: patterns, no-bias, no-norm, no-embedding, or none",
          kList, [](MaskSpec& spec, const std::string& text) { spec.exclude = read_patterns(text); },
          [](const MaskSpec& spec) { return json(spec.exclude.empty() ? "none" : join_text(spec.exclude, ",")); }),
      row<MaskSpec>(
          "inverse_io", "none|fullmask|ones",
          "what an inverted mask leaves of the first and last layer: the inverse too, what the control mask keeps, or "
          "all",
          kPlain,
          [](MaskSpec& spec, const std::string& text) { spec.inverse_io = read_word("inverse_io", text, kEnds); },
          [](const MaskSpec& spec) { return json(word_for(spec.inverse_io, kEnds)); }),
  };
}

}  // namespace

const settings::SpecTable<MaskSpec>& mask_settings() {
  static const settings::SpecTable<MaskSpec> kTable([] {
    std::vector<SpecSetting<MaskSpec>> rows = training_rows();
    std::ranges::move(variant_rows(), std::back_inserter(rows));
    for (SpecSetting<MaskSpec>& made : rows) {
      made.setting.of = kMaskedModel;
    }
    return rows;
  }());
  return kTable;
}

void check(const MaskSpec& spec) {
  if (spec.batch_size % spec.samples != 0) {
    throw ConfigError(fmt::format("mask_batch: {} rows are not divided by {} samples; {} or {} are", spec.batch_size,
                                  spec.samples, spec.batch_size / spec.samples * spec.samples,
                                  (spec.batch_size / spec.samples + 1) * spec.samples));
  }
}

void check_solo(const MaskSpec& spec) {
  check(spec);
  if (spec.samples > engine::solo::kMostSamples) {
    throw ConfigError(
        fmt::format("samples: a step draws {} masks at most, not {}", engine::solo::kMostSamples, spec.samples));
  }
}

}  // namespace modlab::methods
