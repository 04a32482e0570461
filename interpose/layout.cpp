#include "interpose/layout.hpp"

#include <cfloat>
#include <memory>
#include <mutex>

#include "interpose/array_types.hpp"
#include "interpose/below.hpp"
#include "interpose/contents.hpp"
#include "interpose/handle_map.hpp"
#include "interpose/job.hpp"
#include "interpose/layout_builder.hpp"
#include "interpose/recent_targets.hpp"

namespace shmemx::interpose {
namespace {

std::ptrdiff_t extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  below().Type_get_extent(type, &lower, &extent);
  return extent;
}

Layout layout_of_element(const Element& element) {
  Layout made;
  made.data.pieces.push_back({0, element.first_bytes});
  if (element.second_bytes != 0 && element.second_offset == element.first_bytes)
    made.data.pieces[0].bytes += element.second_bytes;
  else if (element.second_bytes != 0)
    made.data.pieces.push_back({static_cast<std::ptrdiff_t>(element.second_offset), element.second_bytes});
  if (element.has_padding()) made.padded.pieces.push_back({0, element.bytes});
  made.bytes = element.first_bytes + element.second_bytes;
  made.elements = 1;
  made.element = &element;
  made.extent = static_cast<std::ptrdiff_t>(element.bytes);
  made.bounds.high = static_cast<std::ptrdiff_t>(
      element.second_bytes == 0 ? element.first_bytes : element.second_offset + element.second_bytes);
  made.dense = made.padded.pieces.empty();
  made.dense_elements = true;
  return made;
}

Layout flatten(MPI_Datatype type);

void add_indexed(const Contents& contents, const Layout& item, LayoutBuilder& builder) {
  const std::int64_t count = contents.integer(0);
  const bool in_bytes =
      contents.combiner() == MPI_COMBINER_HINDEXED || contents.combiner() == MPI_COMBINER_HINDEXED_BLOCK;
  const bool one_length =
      contents.combiner() == MPI_COMBINER_INDEXED_BLOCK || contents.combiner() == MPI_COMBINER_HINDEXED_BLOCK;
  for (std::int64_t i = 0; i < count && !builder.has_failed(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t length = contents.integer(one_length ? 1 : 1 + at);
    const std::size_t first = one_length ? 2 : 1 + static_cast<std::size_t>(count);
    const std::ptrdiff_t offset = in_bytes ? contents.address(at) : contents.integer(first + at) * item.extent;
    builder.add(item, offset, length);
  }
}

void add_struct(const Contents& contents, LayoutBuilder& builder) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(contents.integer(0)); ++i) {
    if (contents.integer(1 + i) != 0)
      builder.add(flatten(contents.type(i)), contents.address(i), contents.integer(1 + i));
  }
}

void add_distributed(const Contents& contents, const Layout& item, LayoutBuilder& builder) {
  const bool found = for_each_part(contents, [&](std::int64_t first, std::int64_t count) {
    builder.add(item, first * item.extent, count);
    return !builder.has_failed();
  });
  if (!found) builder.fail(MPI_ERR_NO_MEM, "the datatype consists of too many pieces");
}

void add_of_one_type(const Contents& contents, const Layout& item, LayoutBuilder& builder) {
  switch (contents.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return builder.add(item, 0, 1);
    case MPI_COMBINER_CONTIGUOUS:
      return builder.add(item, 0, contents.integer(0));
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: {
      const bool in_bytes = contents.combiner() == MPI_COMBINER_HVECTOR;
      const std::ptrdiff_t stride = in_bytes ? contents.address(0) : contents.integer(2) * item.extent;
      return builder.add(item, 0, {{contents.integer(1), item.extent}, {contents.integer(0), stride}});
    }
    case MPI_COMBINER_SUBARRAY: {
      const Subarray part = subarray_of(contents, item.extent);
      return builder.add(item, part.first, part.loops);
    }
    case MPI_COMBINER_DARRAY:
      return add_distributed(contents, item, builder);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return add_indexed(contents, item, builder);
    default:  // one of a later MPI
      return builder.fail(MPI_ERR_TYPE, "the datatype is of a kind that this library does not know");
  }
}

// Fortran's types of a given precision are predefined ones of C; null if there is none that computes alike.
const Element* element_of_precision(MPI_Datatype type, int combiner) {
  int bytes = 0;
  below().Type_size(type, &bytes);
  if (combiner == MPI_COMBINER_F90_INTEGER)
    return bytes > 8 ? nullptr
                     : find_element(bytes == 1   ? MPI_INT8_T
                                    : bytes == 2 ? MPI_INT16_T
                                    : bytes == 4 ? MPI_INT32_T
                                                 : MPI_INT64_T);
  const bool is_real = combiner == MPI_COMBINER_F90_REAL;
  const int real_bytes = is_real ? bytes : bytes / 2;
  if (real_bytes == 4) return find_element(is_real ? MPI_FLOAT : MPI_C_FLOAT_COMPLEX);
  if (real_bytes == 8) return find_element(is_real ? MPI_DOUBLE : MPI_C_DOUBLE_COMPLEX);
  const Contents contents(type);  // the digits and the exponent that the program requires
  if (contents.integer(0) > LDBL_DIG || contents.integer(1) > LDBL_MAX_10_EXP) return nullptr;
  return find_element(is_real ? MPI_LONG_DOUBLE : MPI_C_LONG_DOUBLE_COMPLEX);
}

// Any type that has not been derived from others.
Layout layout_of_predefined(MPI_Datatype type, int combiner) {
  const Element* element = combiner == MPI_COMBINER_NAMED ? nullptr : element_of_precision(type, combiner);
  if (element == nullptr) element = opaque_element(type);
  if (element == nullptr) return {};  // it has no data
  Layout made = layout_of_element(*element);
  made.extent = extent_of(type);
  made.dense_elements = made.extent == static_cast<std::ptrdiff_t>(element->bytes);
  made.dense = made.dense && made.dense_elements;
  return made;
}

Layout flatten(MPI_Datatype type) {
  if (const Element* const element = find_element(type); element != nullptr) return layout_of_element(*element);
  const int combiner = combiner_of(type);
  if (is_predefined(combiner)) return layout_of_predefined(type, combiner);
  Layout made;
  LayoutBuilder builder(made);
  if (const Contents contents(type); combiner == MPI_COMBINER_STRUCT) {
    add_struct(contents, builder);
  } else {
    add_of_one_type(contents, flatten(contents.type(0)), builder);
  }
  builder.finish(extent_of(type));
  return made;
}

// Types that have not been committed may be changed until they are, so nothing is known about them. MPI says it by an
// error only.
bool is_committed(MPI_Datatype type) {
  char unused = 0;
  int position = 0;
  return below().Pack(&unused, 0, type, &unused, 0, &position, this_process()) == MPI_SUCCESS;
}

Layout make_uncommitted() {
  Layout made;
  made.refusal = {MPI_ERR_TYPE, "a datatype has not been committed"};
  return made;
}

// Makes layouts. A derived type has an attribute that removes its layout with it.
class Layouts {
 public:
  Layouts() { below().Type_create_keyval(MPI_TYPE_NULL_COPY_FN, &Layouts::forget, &keyval_, nullptr); }

  const Layout* find(MPI_Datatype type) {
    const Layout* const known = known_layouts.map.find(type);
    return known != nullptr ? known : add(type);
  }

 private:
  const Layout* add(MPI_Datatype type) {
    const std::lock_guard guard(mutex_);
    if (const Layout* const known = known_layouts.map.find(type); known != nullptr) return known;
    static const Layout& uncommitted = *new Layout(make_uncommitted());
    if (!is_committed(type)) return &uncommitted;
    auto made = std::make_unique<Layout>(flatten(type));
    if (made->dense && made->bounds.low == 0) made->plain_bytes = made->bytes;
    if (combiner_of(type) != MPI_COMBINER_NAMED) below().Type_set_attr(type, keyval_, made.get());
    known_layouts.map.insert(type, made.get());
    return made.release();
  }
  static int forget(MPI_Datatype type, int, void* layout, void*) {
    known_layouts.map.remove(type);
    forget_recent_targets();
    delete static_cast<Layout*>(layout);
    return MPI_SUCCESS;
  }

  std::mutex mutex_;
  int keyval_ = MPI_KEYVAL_INVALID;
};

}  // namespace

const Layout* layout_of_slow(MPI_Datatype type) {
  static Layouts& layouts = *new Layouts;  // types may be freed while the process ends
  return type == MPI_DATATYPE_NULL ? nullptr : layouts.find(type);
}

}  // namespace shmemx::interpose
