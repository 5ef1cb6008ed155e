#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "models/layered_network.h"

namespace modlab::test {

// A pruned network as published, and what the published detector says of it.
struct PublishedNetwork {
  nlohmann::json record;
  models::LayeredNetwork network;

  std::string id() const { return record["id"]; }
};

inline std::vector<PublishedNetwork> published_networks() {
  const gzFile file = gzopen(MODLAB_TEST_DIR "/data/sculpt/nets.jsonl.gz", "rb");
  std::string text;
  char part[1 << 16];
  for (int bytes = 0; file != nullptr && (bytes = gzread(file, part, sizeof(part))) > 0;) {
    text.append(part, bytes);
  }
  gzclose(file);
  std::vector<PublishedNetwork> networks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    PublishedNetwork& published = networks.emplace_back();
    published.record = nlohmann::json::parse(line);
    published.network.widths = published.record["arch"].get<std::vector<int>>();
    for (const nlohmann::json& layer : published.record["layers"]) {
      models::Connections& connections = published.network.connections.emplace_back();
      for (const nlohmann::json& edge : layer["edges"]) {
        connections.edges.push_back({edge[0], edge[1], edge[2]});
      }
    }
  }
  EXPECT_EQ(networks.size(), 300);
  return networks;
}

}  // namespace modlab::test
