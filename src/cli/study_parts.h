#pragma once

#include "cli/arguments.h"
#include "studies/findings.h"
#include "studies/store.h"

// What `modlab study` does with a study on several machines.
namespace modlab::cli {

// `modlab study merge OUT DIR...`
int merge_studies(const Arguments& arguments);
// `modlab study status DIR DIR...`: one line for each, and what is left in all.
int show_status_of_parts(const std::vector<std::string>& folders);

// What a finished study has found: the page beside the store, tables and claims.
void show_findings(const studies::Findings& findings, studies::Store& store, const std::string& folder);

}  // namespace modlab::cli
