// The programs of a library, as a table and as what its objects show.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/WritePrograms.h"

#include "compiler/emit/Record.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tfc/abi.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc;

std::string Program::symbol(StringRef what) const {
  std::string symbol =
      (query.empty() ? "" : query + "_") + name + "_" + what.str();
  for (char &c : symbol) {
    c = llvm::isAlnum(c) ? c : '_';
  }
  return symbol;
}

SmallVector<Program> tfc::listPrograms(ModuleOp module, const Program &self) {
  auto listed =
      module->getAttrOfType<ArrayAttr>(transformer::kProgramsAttrName);
  if (!listed) {
    return {self};
  }
  SmallVector<Program> all;
  for (auto record : listed.getAsRange<transformer::ProgramAttr>()) {
    all.push_back({record.getName().str(), record.getLayout().str(),
                   static_cast<uint64_t>(record.getFeatures()),
                   static_cast<uint64_t>(record.getPackedBytes()),
                   record.getIsa(), static_cast<size_t>(record.getEntries()),
                   static_cast<size_t>(record.getKernels()),
                   static_cast<size_t>(record.getImages()), self.query});
  }
  return all;
}

/// The tables of another program, by the names that its object shows.
static ProgramTables findOthers(const Program &other, ModuleOp module,
                                Tables &tables) {
  ProgramTables found;
  found.numEntries = static_cast<unsigned>(other.numEntries);
  if (found.numEntries != 0) {
    found.entries = tables.otherTable(other.symbol("entries"));
  }
  if (other.isDevice()) {
    DeviceTables &device = found.device;
    device.kernels = tables.otherTable(other.symbol("kernels"));
    device.images = tables.otherTable(other.symbol("images"));
    device.places = tables.otherTable(other.symbol("places"));
    device.numKernels = other.numKernels;
    device.numImages = other.numImages;
    device.numPlaces = transformer::listStored(module).size();
  }
  return found;
}

/// The caller has seen to it that there is one.
static LLVM::LLVMFuncOp findPack(ModuleOp module) {
  return cast<LLVM::LLVMFuncOp>(
      transformer::findRole(module, transformer::RoleKind::Pack)
          .getOperation());
}

static_assert(static_cast<int>(transformer::Isa::X86_64) == TFC_ISA_X86_64 &&
              static_cast<int>(transformer::Isa::Cuda) == TFC_ISA_CUDA &&
              static_cast<int>(transformer::Isa::Aarch64) == TFC_ISA_AARCH64 &&
              static_cast<int>(transformer::Isa::Riscv64) == TFC_ISA_RISCV64);

Field tfc::writePrograms(ArrayRef<Program> all, const Program &self,
                         const ProgramTables &own, ModuleOp module,
                         Tables &tables) {
  using Table = tfc_program_v0;
  std::vector<Field> items;
  for (auto [number, each] : llvm::enumerate(all)) {
    bool isSelf = each.name == self.name;
    Field pack = isSelf ? Field::symbol(findPack(module).getSymName())
                        : tables.otherFunction(each.symbol("pack"));
    ProgramTables program = isSelf ? own : findOthers(each, module, tables);
    const DeviceTables &device = program.device;
    items.push_back(Record<Table>("tfc_program_v0")
                        .set(&Table::name, tables.string(each.name))
                        .set(&Table::isa, each.isa)
                        .set(&Table::memory, each.isDevice() ? TFC_MEMORY_DEVICE
                                                             : TFC_MEMORY_HOST)
                        .set(&Table::features, each.features)
                        .set(&Table::priority, number)
                        .set(&Table::dtype, TFC_DTYPE_F32)
                        .set(&Table::n_entries, program.numEntries)
                        .set(&Table::reserved, 0)
                        .set(&Table::layout_tag, tables.string(each.layout))
                        .set(&Table::packed_bytes, each.packedBytes)
                        .set(&Table::pack, pack)
                        .set(&Table::entries, program.entries)
                        .set(&Table::n_kernels, device.numKernels)
                        .set(&Table::n_images, device.numImages)
                        .set(&Table::n_places, device.numPlaces)
                        .set(&Table::reserved_count, 0)
                        .set(&Table::kernels, device.kernels)
                        .set(&Table::images, device.images)
                        .set(&Table::places, device.places)
                        .set(&Table::adapter_bytes, 0)
                        .set(&Table::pack_adapter, Field::symbol(""))
                        .finish());
  }
  return tables.array(items);
}

void tfc::exportProgram(const Program &self, const ProgramTables &own,
                        ModuleOp module, Tables &tables) {
  LLVM::LLVMFuncOp pack = findPack(module);
  pack.setSymName(self.symbol("pack"));
  pack.setVisibility_(LLVM::Visibility::Hidden);
  for (auto [table, name] : {std::pair(&own.entries, "entries"),
                             std::pair(&own.device.kernels, "kernels"),
                             std::pair(&own.device.images, "images"),
                             std::pair(&own.device.places, "places")}) {
    if (!table->name.empty()) {
      tables.show(*table, self.symbol(name));
    }
  }
}
