#include "studies/batch.h"

#include <algorithm>

#include "core/text.h"

namespace modlab::studies {

using experiments::Run;

template <typename PrepareKind>
void Batch::prepare(std::vector<Run> runs, const PrepareKind& prepare_kind) {
  const auto place = [](const Run& run) {
    return std::ranges::find(experiments::all(), run.kind) - experiments::all().begin();
  };
  std::ranges::stable_sort(runs, {}, place);
  runs_ = std::make_unique<std::vector<Run>>(std::move(runs));
  for (std::size_t first = 0; first < runs_->size();) {
    std::size_t last = first;
    while (last < runs_->size() && (*runs_)[last].kind == (*runs_)[first].kind) {
      ++last;
    }
    const std::span<const Run> own = std::span<const Run>(*runs_).subspan(first, last - first);
    pieces_.push_back({own.size(), prepare_kind(*own.front().kind, own)});
    first = last;
  }
}

Batch::Batch(std::vector<Run> runs, const experiments::Resources& resources, const experiments::Wanted& wanted) {
  prepare(std::move(runs), [&](const experiments::Experiment& kind, std::span<const Run> own) {
    return kind.prepare(own, resources, wanted);
  });
}

Batch Batch::of_networks(std::vector<Run> runs, const std::vector<std::string>& files) {
  Batch batch;
  batch.prepare(std::move(runs),
                [&](const experiments::Experiment& kind, std::span<const Run> own) { return kind.judge(own, files); });
  return batch;
}

double Batch::estimate_seconds() {
  double seconds = 0;
  for (Piece& piece : pieces_) {
    seconds += piece.work->estimate_seconds();
  }
  return seconds;
}

void Batch::execute(const experiments::Sink& sink) {
  for (std::size_t at = 0; at < pieces_.size() && !state_->stopped; ++at) {
    state_->piece = at;
    pieces_[at].work->execute(sink);
  }
}

experiments::Status Batch::status(double seconds) const {
  if (pieces_.empty()) {
    return {1, ""};
  }
  const std::size_t at = state_->piece;
  experiments::Status status = pieces_[at].work->status(seconds);
  double before = 0;
  double all = 0;
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
    all += static_cast<double>(pieces_[piece].runs);
    before += piece < at ? static_cast<double>(pieces_[piece].runs) : 0;
  }
  status.share = (before + status.share * static_cast<double>(pieces_[at].runs)) / all;
  return status;
}

void Batch::stop() {
  state_->stopped = true;
  for (Piece& piece : pieces_) {
    piece.work->stop();
  }
}

std::string Batch::remark() const {
  std::vector<std::string> remarks;
  for (const Piece& piece : pieces_) {
    if (std::string remark = piece.work->remark(); !remark.empty()) {
      remarks.push_back(std::move(remark));
    }
  }
  return join_text(remarks, " ");
}

experiments::Wanted wanted_for(Keep keep) {
  return {.structure = true,
          .curve = keep != Keep::kResults,
          .best_weights = keep == Keep::kBest || keep == Keep::kAll,
          .last_weights = keep == Keep::kAll};
}

}  // namespace modlab::studies
