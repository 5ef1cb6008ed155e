#include "experiments/settings_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "experiments/experiment.h"

namespace modlab::experiments {
namespace {

TEST(SettingsPage, IsTheOneInTheDocs) {
  std::ostringstream page;
  page << std::ifstream(MODLAB_TEST_DIR "/../docs/settings.md", std::ios::binary).rdbuf();
  const bool is_same = settings_markdown() == page.str();
  if (!is_same) {
    std::ofstream("settings.md") << settings_markdown();
  }
  EXPECT_TRUE(is_same)
      << "docs/settings.md is older than the lists of settings; settings.md in this folder is the new one";
}

TEST(Kinds, SayWhatTheyAreMadeOf) {
  std::set<std::string> names;
  for (const Experiment* kind : all()) {
    EXPECT_TRUE(names.insert(std::string(kind->name())).second);
    EXPECT_FALSE(kind->models().empty());
    std::set<std::string> settings;
    for (const Setting& setting : kind->settings()) {
      EXPECT_TRUE(settings.insert(setting.name).second) << setting.name;
      EXPECT_TRUE(kind->defaults().contains(setting.name)) << setting.name;
    }
    std::set<std::string> measures;
    for (const Measure& measure : kind->measures()) {
      EXPECT_TRUE(measures.insert(measure.name).second) << measure.name;
      // Names that kinds share mean the same.
      EXPECT_EQ(find_measure(measure.name)->unit, measure.unit) << measure.name;
      EXPECT_EQ(find_measure(measure.name)->higher_is_better, measure.higher_is_better) << measure.name;
    }
    for (const std::string& part : {kind->parts().headline, kind->parts().validation}) {
      EXPECT_TRUE(measures.contains(part)) << kind->name() << " " << part;
    }
    for (const Column& column : kind->columns()) {
      EXPECT_TRUE(measures.contains(column.measure)) << column.measure;
    }
  }
}

TEST(Kinds, ResolvedSettingsResolveToThemselvesAndKeepTheirNames) {
  for (const settings::Given& given :
       std::vector<settings::Given>{{},
                                    {{"model", "dense"}, {"task", "A+B"}, {"seed", "7"}},
                                    {{"model", "modular"}, {"known_inputs", "true"}, {"tau", "none"}},
                                    {{"model", "sculpted"}, {"task", "sculpt/4-2-4"}},
                                    {{"model", "sculpted"}, {"task", "depth1"}, {"epoch_search", "true"}},
                                    {{"task", "mnist-xor-and"}, {"model", "modular-shared"}, {"noise", "0.3"}}}) {
    const experiments::Run run = make_run(given);
    const experiments::Run again = run_from_json(std::string(run.kind->name()), run.values.to_json(), "test");
    EXPECT_EQ(again.id(), run.id());
    EXPECT_EQ(again.values.to_json(), run.values.to_json());
  }
}

}  // namespace
}  // namespace modlab::experiments
