#include "models/matrix_chain.h"

#include <gtest/gtest.h>

namespace modlab {
namespace {

using models::matrix_chain;
using models::NamedMatrix;
using Order = std::vector<std::size_t>;

TEST(MatrixChain, TheGivenOrderIsTakenWhereItFits) {
  EXPECT_EQ(matrix_chain({{"b", 4, 8}, {"a", 8, 8}, {"out", 8, 2}}), (Order{0, 1, 2}));
  EXPECT_EQ(matrix_chain({{"only", 4, 8}}), (Order{0}));
}

// As safetensors of PyTorch have them: sorted by letters.
TEST(MatrixChain, NumbersCountAsNumbers) {
  EXPECT_EQ(matrix_chain({{"layers.0.weight", 4, 8},
                          {"layers.10.weight", 8, 8},
                          {"layers.2.weight", 8, 8},
                          {"layers.4.weight", 8, 8}}),
            (Order{0, 2, 3, 1}));
  EXPECT_EQ(matrix_chain({{"w007", 8, 8}, {"w10", 8, 8}, {"w9", 8, 8}}), (Order{0, 2, 1}));
  EXPECT_EQ(matrix_chain({{"a1.b10", 8, 8}, {"a1.b9", 8, 8}, {"a0.b11", 8, 8}}), (Order{2, 1, 0}));
}

TEST(MatrixChain, SizesDecideWhereNamesDoNot) {
  EXPECT_EQ(matrix_chain({{"decoder", 8, 3}, {"encoder", 5, 8}}), (Order{1, 0}));
  EXPECT_EQ(matrix_chain({{"fc_out", 8, 2}, {"layers.0", 4, 8}, {"layers.1", 8, 8}}), (Order{1, 2, 0}));
  // Numbers keep their order also where another would fit as well.
  EXPECT_EQ(matrix_chain({{"head", 8, 2}, {"l.2", 8, 8}, {"l.1", 8, 8}, {"in", 3, 8}}), (Order{3, 2, 1, 0}));
}

TEST(MatrixChain, WhatIsNoOneOrderIsNone) {
  EXPECT_EQ(matrix_chain({{"a", 4, 8}, {"b", 5, 2}}), std::nullopt) << "nothing fits";
  EXPECT_EQ(matrix_chain({{"out", 8, 2}, {"a", 8, 8}, {"b", 8, 8}, {"in", 4, 8}}), std::nullopt) << "a, b or b, a";
  EXPECT_EQ(matrix_chain({{"a", 4, 8}, {"embedding", 100, 4}, {"b", 8, 2}, {"positions", 7, 9}}), std::nullopt);
}

TEST(MatrixChain, ManyThatFitEverywhereEndSoon) {
  std::vector<NamedMatrix> matrices = {{"out", 8, 2}};
  for (char name = 'a'; name <= 'z'; ++name) {
    matrices.push_back({std::string(1, name), 8, 8});
  }
  matrices.push_back({"in", 4, 8});
  EXPECT_EQ(matrix_chain(matrices), std::nullopt);
  matrices.push_back({"apart", 5, 5});
  EXPECT_EQ(matrix_chain(matrices), std::nullopt);
}

}  // namespace
}  // namespace modlab
