// Where a command may write: not over its inputs, nor over a stranger's file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/OutputFile.h"

#include "compiler/driver/Options.h"
#include "compiler/emit/WriteArchive.h"
#include "compiler/spec/SpecFiles.h"
#include "tfc/abi.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tfc;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

/// Whether `file` is an ELF file that exports what a library of tfc does.
static bool isLibrary(llvm::MemoryBufferRef file) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(file);
  if (!object) {
    llvm::consumeError(object.takeError());
    return false;
  }
  auto *elf = llvm::cast<llvm::object::ELFObjectFileBase>(object->get());
  return llvm::any_of(elf->getDynamicSymbolIterators(),
                      [](llvm::object::ELFSymbolRef symbol) {
                        llvm::Expected<StringRef> name = symbol.getName();
                        if (!name) {
                          llvm::consumeError(name.takeError());
                          return false;
                        }
                        return *name == TFC_MODULE_QUERY_SYMBOL;
                      });
}

/// Whether `file` is an archive of members with names that tfc gives.
static bool isArchive(llvm::MemoryBufferRef file) {
  auto archive = llvm::object::Archive::create(file);
  if (!archive) {
    llvm::consumeError(archive.takeError());
    return false;
  }
  llvm::Error error = llvm::Error::success();
  bool isOwn = !(*archive)->isEmpty();
  for (const llvm::object::Archive::Child &child :
       (*archive)->children(error)) {
    llvm::Expected<StringRef> name = child.getName();
    isOwn &= name && name->starts_with(kMemberPrefix);
    llvm::consumeError(name ? llvm::Error::success() : name.takeError());
  }
  bool isWhole = !error;
  llvm::consumeError(std::move(error));
  return isOwn && isWhole;
}

bool tfc::isMadeByTfc(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file) {
    return false;
  }
  StringRef text = (*file)->getBuffer();
  return text.empty() || text.starts_with(kIrMark) ||
         spec::isOwnText({text.data(), text.size()}) ||
         isLibrary((*file)->getMemBufferRef()) ||
         isArchive((*file)->getMemBufferRef());
}

static int fail(const std::string &path, const llvm::Twine &message,
                llvm::raw_ostream &errors) {
  errors << "tfc: error: " << path << ": " << message << '\n';
  return kBadInput;
}

/// A file is made there and removed again: permissions alone do not say what a
/// file system allows.
static int checkFolder(const std::string &path, llvm::raw_ostream &errors) {
  llvm::Expected<fs::TempFile> file = fs::TempFile::create(path + ".%%%%%%");
  llvm::Error error = file ? file->discard() : file.takeError();
  return error ? fail(path,
                      "expected a writable folder, got: " +
                          llvm::toString(std::move(error)),
                      errors)
               : kOk;
}

int tfc::checkOutput(const std::string &path,
                     llvm::ArrayRef<std::string> inputs, bool force,
                     llvm::raw_ostream &errors) {
  fs::file_status status;
  if (fs::status(path, status)) {
    return checkFolder(path, errors);
  }
  if (!fs::is_regular_file(status)) {
    return fail(path,
                "expected the name of a file to write, got a folder, device or "
                "pipe",
                errors);
  }
  for (const std::string &input : inputs) {
    fs::file_status read;
    if (!fs::status(input, read) && fs::equivalent(status, read)) {
      return fail(path,
                  "expected another file than the input " + input +
                      " to write, got the same",
                  errors);
    }
  }
  if (!force && !isMadeByTfc(path)) {
    return fail(path,
                "expected a new file, or one that tfc wrote, to replace "
                "(--force replaces any), got another",
                errors);
  }
  return checkFolder(path, errors);
}

int tfc::checkTextOutput(const std::string &path,
                         llvm::ArrayRef<std::string> inputs, bool force,
                         llvm::raw_ostream &errors) {
  return path == "-" || path == "/dev/null"
             ? kOk
             : checkOutput(path, inputs, force, errors);
}
