#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.h"
#include "core/errors.h"
#include "io/file.h"
#include "io/npz.h"
#include "models/torch/torch_network.h"

// Networks of PyTorch's, whose losses and gradients PyTorch itself has written down: tests/torch/make_scripts.py.
namespace modlab {
namespace {

std::string torch_file(const std::string& name) { return std::string(MODLAB_TEST_DIR) + "/torch/files/" + name; }

#define NEEDS_LIBTORCH()                                                          \
  if (!MODLAB_HAS_TORCH) {                                                        \
    GTEST_SKIP() << "built without libtorch: cmake -DMODLAB_TORCH=ON finds none"; \
  }

struct Known {
  std::shared_ptr<models::GivenSamples> samples = std::make_shared<models::GivenSamples>();
  double loss = 0;
  std::map<std::string, std::vector<float>> gradients;
};

Known read_known(const std::string& name, models::LabelLoss loss) {
  Known known;
  const std::string path = torch_file(name + ".npz");
  *known.samples = models::read_samples(path, loss);
  for (const io::NamedTensor& array : io::read_npz(path)) {
    if (array.name == "loss") {
      known.loss = array.values[0];
    } else if (array.name.starts_with("gradient/")) {
      known.gradients[array.name.substr(std::string("gradient/").size())] = array.values;
    }
  }
  return known;
}

class ScriptGradients : public testing::TestWithParam<std::string> {};

TEST_P(ScriptGradients, AreThoseOfPyTorch) {
  NEEDS_LIBTORCH();
  const std::string name = GetParam();
  const Known known = read_known(name, name == "tied" ? models::LabelLoss::kMse : models::LabelLoss::kAuto);
  const auto network =
      models::torch_library().open_script(models::read_script_file(torch_file(name + ".pt")), known.samples, {});
  const std::vector<float> weights = network->initial();
  const std::vector<std::uint32_t> rows = known.samples->training_rows();
  std::vector<float> gradients(weights.size(), 77);
  EXPECT_NEAR(network->gradient(weights, {.rows = rows}, {}, gradients), known.loss, 1e-5);
  ASSERT_EQ(network->layout().tensors.size(), known.gradients.size());
  for (const engine::Tensor& tensor : network->layout().tensors) {
    const std::vector<float>& right = known.gradients.at(tensor.name);
    ASSERT_EQ(right.size(), tensor.count) << tensor.name;
    for (std::size_t at = 0; at < right.size(); ++at) {
      ASSERT_NEAR(gradients[tensor.offset + at], right[at], 1e-5) << tensor.name << " " << at;
    }
  }
}

// What libtorch sees are our numbers: with other weights it says other things, in every tensor.
TEST_P(ScriptGradients, EveryTensorCanBeReplaced) {
  NEEDS_LIBTORCH();
  const std::string name = GetParam();
  const Known known = read_known(name, name == "tied" ? models::LabelLoss::kMse : models::LabelLoss::kAuto);
  const auto network =
      models::torch_library().open_script(models::read_script_file(torch_file(name + ".pt")), known.samples, {});
  const std::vector<std::uint32_t> rows = known.samples->training_rows();
  std::vector<float> gradients(network->layout().count);
  network->gradient(network->initial(), {.rows = rows}, {}, gradients);
  for (const engine::Tensor& tensor : network->layout().tensors) {
    // A small step along the tensor's gradient changes the loss by its squared length.
    std::vector<float> other = network->initial();
    double squares = 0;
    for (std::size_t place = tensor.offset; place < tensor.offset + tensor.count; ++place) {
      squares += static_cast<double>(gradients[place]) * gradients[place];
    }
    if (squares < 1e-12) {
      continue;  // the bias of keys changes nothing
    }
    const double step = 1e-2 / std::sqrt(squares);
    for (std::size_t place = tensor.offset; place < tensor.offset + tensor.count; ++place) {
      other[place] += static_cast<float>(step * gradients[place]);
    }
    std::vector<float> unused(gradients.size());
    const double moved = network->gradient(other, {.rows = rows}, {}, unused) - known.loss;
    EXPECT_NEAR(moved, step * squares, 0.25 * step * squares + 2e-6) << tensor.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, ScriptGradients,
                         testing::Values("plain", "lstm", "gru", "attention", "conv", "tied"));

TEST(Script, UnwantedTensorsAndOutputsAreLeftOut) {
  NEEDS_LIBTORCH();
  const Known known = read_known("plain", models::LabelLoss::kAuto);
  const auto network =
      models::torch_library().open_script(models::read_script_file(torch_file("plain.pt")), known.samples, {});
  const std::vector<std::uint32_t> rows = known.samples->training_rows();
  std::vector<float> gradients(network->layout().count, 77);
  const std::vector<std::uint8_t> wanted = {0, 0, 0, 0, 1, 1};
  const std::vector<std::uint8_t> outputs = {0, 1, 0};
  network->gradient(network->initial(), {.rows = rows, .outputs = outputs}, wanted, gradients);
  EXPECT_EQ(gradients.front(), 77);
  const engine::Tensor& bias = network->layout().tensors.back();
  EXPECT_EQ(gradients[bias.offset], 0);
  EXPECT_NE(gradients[bias.offset + 1], 0);
  EXPECT_EQ(gradients[bias.offset + 2], 0);
}

// Classes that do not count cannot be answered: the softmax is over the others.
TEST(Script, ClassesThatDoNotCountAreNotInTheSoftmax) {
  NEEDS_LIBTORCH();
  Known known = read_known("conv", models::LabelLoss::kAuto);
  const auto network =
      models::torch_library().open_script(models::read_script_file(torch_file("conv.pt")), known.samples, {});
  std::vector<std::uint32_t> rows;
  for (const std::uint32_t row : known.samples->training_rows()) {
    if (known.samples->labels[row] != 2) {
      rows.push_back(row);
    }
  }
  const std::vector<float> said = network->say(network->initial(), rows);
  double expected = 0;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const double zero = said[3 * at];
    const double one = said[3 * at + 1];
    const double right = known.samples->labels[rows[at]] == 0 ? zero : one;
    expected += (std::log(std::exp(zero) + std::exp(one)) - right) / static_cast<double>(rows.size());
  }
  std::vector<float> gradients(network->layout().count);
  const std::vector<std::uint8_t> outputs = {1, 1, 0};
  EXPECT_NEAR(network->gradient(network->initial(), {.rows = rows, .outputs = outputs}, {}, gradients), expected, 1e-5);
}

class ScriptVerb : public test::ProgramTest {
 protected:
  void expect_refused(const std::string& line, const std::string& part) {
    const test::Outcome outcome = run(test::words_of(line));
    EXPECT_EQ(outcome.exit_code, 2) << line;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
    EXPECT_TRUE(folder_.names().empty()) << line;
  }
  std::string on(const std::string& network, const std::string& samples) {
    return "mask --model " + torch_file(network) + " --data " + torch_file(samples) +
           " --mask-steps 20 --mask-batch 16 --threads 1 ";
  }
};

TEST_F(ScriptVerb, MasksSomeonesNetwork) {
  NEEDS_LIBTORCH();
  const nlohmann::json run = json_output(on("plain.pt", "plain.npz") + "--targets outputs --json")["runs"][0];
  ASSERT_EQ(run["stages"].size(), 4U);
  EXPECT_EQ(run["unmasked"]["y1"], 100);
  EXPECT_EQ(run["stages"][2]["name"], "y2");
  EXPECT_TRUE(run["stages"][2].contains("again"));
  EXPECT_TRUE(run["stages"][2]["live"].contains("0.weight"));
  EXPECT_EQ(run["stages"][1]["weights"]["2.weight"], 256);
  EXPECT_TRUE(run["sharing"].contains("4.weight"));
  EXPECT_EQ(json_output(on("plain.pt", "plain.npz") + "--targets outputs --json")["runs"][0]["stages"], run["stages"]);
}

TEST_F(ScriptVerb, MasksEveryKindOfLayer) {
  NEEDS_LIBTORCH();
  for (const char* name : {"lstm", "gru", "attention", "conv"}) {
    const nlohmann::json run =
        json_output(on(std::string(name) + ".pt", std::string(name) + ".npz") +
                    "--targets classes --controls false --exclude none --samples 2 --json")["runs"][0];
    ASSERT_EQ(run["stages"].size(), 4U);
    EXPECT_EQ(run["stages"][1]["name"], "without 0");
    EXPECT_EQ(run["stages"][1]["class_confusion"].size(), 3U);
    for (const auto& [tensor, kept] : run["stages"][0]["kept"].items()) {
      // Biases that begin as zeros are nothing to keep.
      EXPECT_TRUE(kept > 0 || tensor.find("bias") != std::string::npos) << name << " " << tensor;
    }
  }
}

TEST_F(ScriptVerb, SavesMasksAndGoesOn) {
  NEEDS_LIBTORCH();
  const std::string line = on("plain.pt", "plain.npz") + "--targets outputs --controls false --save masks --json";
  const nlohmann::json first = json_output(line)["runs"][0];
  EXPECT_TRUE(
      std::filesystem::exists(folder_.path() / "masks" / (first["id"].get<std::string>() + ".mask-y1.safetensors")));
  EXPECT_EQ(json_output(line)["runs"][0], first);
}

TEST_F(ScriptVerb, ReadsItsLayers) {
  NEEDS_LIBTORCH();
  const test::Outcome outcome = run({"structure", torch_file("plain.pt")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("6-16-16-3"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.err.find("to load it is to run its code"), std::string::npos) << outcome.err;
  EXPECT_EQ(run({"detect", torch_file("plain.pt"), "--json"}).exit_code, 0);
}

TEST_F(ScriptVerb, RefusesWhatIsNoNetwork) {
  NEEDS_LIBTORCH();
  expect_refused(on("pickle.pt", "plain.npz"), "holds Python objects (a pickle)");
  expect_refused(on("no_parameters.pt", "plain.npz"), "has no parameters");
  expect_refused(on("no_tensor.pt", "plain.npz"), "gives back no tensor");
  expect_refused(on("unknown_operator.pt", "plain.npz"), "aten::tan9");
  expect_refused(on("wrong_record.pt", "plain.npz"), "does not say here what was recorded");
  expect_refused(on("missing.pt", "plain.npz"), "cannot be read");
  expect_refused(on("plain.npz", "plain.npz"), "holds Python objects");
  expect_refused("mask --model " + torch_file("plain.pt"), "--data FILE");
  expect_refused("mask --data " + torch_file("plain.npz"), "--model FILE");
}

TEST_F(ScriptVerb, RefusesSamplesThatDoNotFit) {
  NEEDS_LIBTORCH();
  expect_refused(on("plain.pt", "lstm.npz") + "--targets classes", "shapes cannot be multiplied");
  expect_refused(on("plain.pt", "plain.npz") + "--targets classes", "these are columns");
  expect_refused(on("plain.pt", "plain.npz") + "--device cuda", "cuda");
  expect_refused(on("plain.pt", "plain.npz") + "--include zzz", "no tensor is named like 'zzz'");
  expect_refused(on("plain.pt", "plain.npz") + "--samples 3", "not divided by 3");
}

TEST(ScriptFile, ThatIsCutOffIsCalledSo) {
  const std::string bytes = io::read_file(torch_file("plain.pt"), 1 << 20);
  for (const std::size_t length : {bytes.size() / 4, bytes.size() / 2, bytes.size() * 3 / 4}) {
    EXPECT_THROW(models::script_from(bytes.substr(0, length), "cut.pt"), FormatError) << length;
  }
  EXPECT_THROW(models::script_from("", "empty.pt"), FormatError);
  EXPECT_THROW(models::script_from("hello", "text.pt"), FormatError);
}

}  // namespace
}  // namespace modlab
