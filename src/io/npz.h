#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors.h"

namespace modlab::io {

// The arrays of a file that numpy.savez or numpy.savez_compressed wrote, in its order, named without ".npy": floats of
// 16, 32 and 64 bits, whole numbers and truth values, all rounded to float, the last dimension running fastest
// whichever way they lay in the file.
//
// Reads a file from anyone: every length is checked against the file's before memory is taken, and checksums are
// verified. Throws FormatError; so it does for files of 4 GB and more (zip64), big-endian numbers, text and Python
// objects.
std::vector<NamedTensor> read_npz(const std::string& path);
std::vector<NamedTensor> decode_npz(std::string_view bytes, const std::string& path);

// Such a file, as numpy.savez writes it, of arrays of 32-bit floats: less than 4 GB, and equal bytes for equal arrays.
std::string encode_npz(const std::vector<NamedTensor>& tensors);

bool is_zip(std::string_view bytes);

// One such array by itself, as numpy.save writes it.
bool is_npy(std::string_view bytes);
NamedTensor decode_npy(std::string_view bytes, const std::string& path);

// Python objects, as torch.save and pickle write them, in a zip or bare: reading them may run anything, so they are not
// read. Throws FormatError that says what to do instead.
void refuse_pickle(std::string_view bytes, const std::string& path);

}  // namespace modlab::io
