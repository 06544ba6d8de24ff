// Packed weights from where they are: read from a file, or made of a
// checkpoint and saved.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/Weights.h"

#include "runtime/src/files/quantized/Quantized.h"
#include "runtime/src/load/PackedFile.h"

#include <sys/stat.h>

namespace tfc::rt {

namespace {

/// The tensors that are stored for one: itself, or what it is made of.
std::vector<const Tensor *> partsOf(const Tensor *tensor) {
  return tensor->quantized ? tensor->quantized->parts : std::vector{tensor};
}

/// Of which files they are, their names, sizes and times of change. Names,
/// sizes and times alone are equal for two files written in one tick of the
/// clock.
uint64_t stampOf(const TensorFiles &files) {
  std::string text;
  std::string_view last;
  std::vector<const Tensor *> stored;
  for (const Tensor *tensor : files.tensors()) {
    for (const Tensor *part : partsOf(tensor)) {
      stored.push_back(part);
    }
  }
  for (const Tensor *tensor : stored) {
    struct stat state{};
    if (tensor->file == last ||
        stat(std::string(tensor->file).c_str(), &state) != 0) {
      continue;
    }
    last = tensor->file;
    text += concat(last.substr(last.rfind('/') + 1), ' ', state.st_size, ' ',
                   state.st_mtim.tv_sec, ' ', state.st_mtim.tv_nsec, ' ',
                   state.st_dev, ' ', state.st_ino, '\n');
  }
  return checksum(text.data(), text.size(), Workers(1));
}

/// Calls function(weight, tensor) for each tensor of the model, null where it
/// is not packed.
template <typename F>
void forEachPacked(const tfc_module_v0 &module, const BoundWeights &bound,
                   const F &function) {
  for (uint32_t w = 0; w < module.n_weights; ++w) {
    bool isTied = module.weights[w].flags & TFC_WEIGHT_TIED;
    for (const Tensor *tensor : bound[w]) {
      function(module.weights[w], isTied ? nullptr : tensor);
    }
  }
}

/// Of a load: bytes that sumOf reads, and those that packWeights does.
struct ReadBytes {
  uint64_t sum = 0, pack = 0;
};

ReadBytes bytesToRead(const tfc_module_v0 &module, const BoundWeights &bound) {
  ReadBytes bytes;
  forEachPacked(module, bound, [&](const auto &weight, const Tensor *tensor) {
    if (tensor) {
      for (const Tensor *part : partsOf(tensor)) {
        bytes.sum += part->bytes;
      }
      bytes.pack += bytesToPack(weight, *tensor);
    }
  });
  return bytes;
}

/// Of the bytes that are packed: tensors that the model does not use may
/// change. Of no meaning once the load is cancelled.
uint64_t sumOf(const tfc_module_v0 &module, const BoundWeights &bound,
               Loading &loading) {
  std::vector<uint64_t> parts;
  forEachPacked(module, bound, [&](const auto &, const Tensor *tensor) {
    parts.push_back(tensor ? static_cast<uint64_t>(tensor->dtype) + 1 : 0);
    if (!tensor) {
      parts.push_back(0);
      return;
    }
    for (const Tensor *part : partsOf(tensor)) {
      parts.push_back(checksum(part->data, part->bytes, loading));
    }
    releasePages(*tensor);
  });
  return checksum(parts.data(), parts.size() * sizeof(parts[0]), Workers(1));
}

Result<BoundWeights> bind(const tfc_module_v0 &module,
                          const Result<TensorFiles> &files) {
  return files ? bindWeights(*files, weightTable(module))
               : Result<BoundWeights>(files.error());
}

/// Whether the packed weights are those of the checkpoint.
Status checkSource(const tfc_module_v0 &module, const WeightPaths &paths,
                   const SourceIdentity &source, Loading &loading) {
  Result<TensorFiles> files = TensorFiles::open(paths.checkpoint);
  if (files && stampOf(*files) == source.stamp) {
    return {};
  }
  Result<BoundWeights> bound = bind(module, files);
  if (!bound) {
    return std::move(bound.error());
  }
  loading.expect(bytesToRead(module, *bound).sum);
  uint64_t sum = sumOf(module, *bound, loading);
  if (Status status = loading.status(); !status) {
    return status;
  }
  if (sum != source.sum) {
    return makeError(Code::Incompatible, paths.packed, ": expected weights ",
                     "packed from ", files->path(),
                     ", got those of another checkpoint; delete the file to ",
                     "pack them again");
  }
  return {};
}

/// What openPacked finds at the place of packed weights.
Result<std::optional<PackedFile>> readPacked(const WeightPaths &paths,
                                             const PackedIdentity &identity,
                                             Loading &loading) {
  return openPacked(paths.packed, identity, loading,
                    paths.sharesPacked ? PackedMemory::Shared
                                       : PackedMemory::Own);
}

Result<LoadedWeights> packAndSave(const tfc_module_v0 &module,
                                  const tfc_program_v0 &program,
                                  const PackedIdentity &identity,
                                  const WeightPaths &paths, Loading &loading) {
  Result<TensorFiles> files = TensorFiles::open(paths.checkpoint);
  // Before the tensors are read: a file that changes meanwhile differs from
  // this stamp.
  SourceIdentity source;
  source.stamp = files ? stampOf(*files) : 0;
  Result<BoundWeights> bound = bind(module, files);
  if (!bound) {
    return std::move(bound.error());
  }
  ReadBytes bytes = bytesToRead(module, *bound);
  if (paths.packed.empty()) {
    loading.expect(bytes.pack);
  } else {
    loading.expect(bytes.sum + bytes.pack +
                   bytesOfWriting(program.packed_bytes));
    source.sum = sumOf(module, *bound, loading);
  }
  Result<Mapping> packed =
      packWeights(module, program, *bound, loading, paths.rank);
  if (!packed) {
    return std::move(packed.error());
  }
  LoadedWeights loaded{std::move(*packed), ""};
  if (!paths.packed.empty()) {
    Status status =
        writePacked(paths.packed, identity, source, loaded.packed, loading);
    if (!status && status.error().code != Code::Io) {
      return std::move(status.error());
    }
    loaded.fault = status ? "" : status.error().message;
    if (status && paths.sharesPacked) {
      // Else who packed them would have a second copy as long as it lives. If
      // another process put a file there meanwhile, of whatever, the weights
      // are those that were packed here.
      Result<std::optional<PackedFile>> written =
          readPacked(paths, identity, loading);
      if (Status status = loading.status(); !status) {
        return std::move(status.error());
      }
      if (written && *written && (*written)->source.sum == source.sum) {
        loaded.packed = std::move((*written)->weights);
      }
    }
  }
  return loaded;
}

} // namespace

Result<LoadedWeights> loadWeights(const tfc_module_v0 &module,
                                  const tfc_program_v0 &program,
                                  const WeightPaths &paths, Loading &loading) {
  PackedIdentity identity{module.spec_hash, program.packed_bytes,
                          program.layout_tag};
  if (module.ranks != 0) {
    identity.layoutTag += concat("-rank", paths.rank, "of", module.ranks);
  }
  if (!paths.packed.empty()) {
    Result<std::optional<PackedFile>> packed =
        readPacked(paths, identity, loading);
    if (!packed) {
      return std::move(packed.error());
    }
    if (*packed) {
      Status status =
          paths.checkpoint.empty()
              ? Status()
              : checkSource(module, paths, (*packed)->source, loading);
      if (!status) {
        return std::move(status.error());
      }
      return LoadedWeights{std::move((*packed)->weights), ""};
    }
    if (paths.checkpoint.empty()) {
      return makeError(Code::NotFound, paths.packed, ": expected packed ",
                       "weights, or a checkpoint to pack, got neither");
    }
  }
  return packAndSave(module, program, identity, paths, loading);
}

} // namespace tfc::rt
